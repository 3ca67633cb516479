import type { Hex } from 'viem'
import type { NetworkForms, OfflineAuthorization, OfflineNetwork } from '../../../schemes/offlineScheme.js'
import type { Refusal } from '../../../schemes/scheme.js'
import { readAddress } from '../abi/address.js'
import { findRecipientRouter, locateUptoRouter } from '../contracts/routers.js'
import { toRefusal } from '../paymentMethod.js'
import type { PayerSignature } from '../signatures/signature.js'
import { createVouchers } from '../upto/vouchers.js'
import { createOfflineTokens, type OfflineTokens } from './tokens.js'

export interface EvmOfflineNetwork extends OfflineNetwork {
  readonly chainId: number
  readonly tokens: OfflineTokens
}

/** Null for a network without known tokens. */
export const readOfflineNetwork = (network: string): EvmOfflineNetwork | null => {
  const [, digits] = /^eip155:([0-9]{1,12})$/.exec(network) ?? []
  if (digits === undefined) return null
  const chainId = Number(digits)
  const tokens = createOfflineTokens(chainId)
  if (tokens === null) return null
  return {
    id: network,
    signers: [offlineSigner],
    forms: evmForms,
    listTokens: tokens.list,
    vouchers: createVouchers({ chainId, contracts: null }),
    routers: {
      find: async (payTo) => {
        const recipient = readAddress(payTo)
        if (recipient === null) return null
        return { address: offlineRouters.findFor(recipient), isDeployed: true, shared: null }
      },
    },
    chainId,
    tokens,
  }
}

/** The account of the sandbox; no key of it is known. */
export const offlineSigner: Hex = '0x00000000000000000000000000000000005A4db0'

const { address: shared } = locateUptoRouter([offlineSigner])

/** As if the router of the sandbox's account were deployed. */
export const offlineRouters = {
  shared,
  findFor: (payTo: Hex) => findRecipientRouter(shared, payTo),
  presence: { ask: async () => true },
}

/** As `EVM_EXPIRY_MARGIN_SECONDS` by default. */
const expiryMarginSeconds = 6

export const phaseOf = (isForSettle: boolean) => ({
  isForSettle,
  marginSeconds: isForSettle ? expiryMarginSeconds : 0,
})

/**
 * Null for the payer's own key. Of other signatures a chain would ask the payer's wallet contract; here, payers have
 * none, as an account without code has none.
 */
export const refuseSignature = (
  signature: PayerSignature,
  payer: Hex,
  invalid: 'invalid_exact_evm_payload_signature' | 'invalid_permit_signature' | 'invalid_permit2_signature',
): Refusal | null => {
  switch (signature.kind) {
    case 'ecdsa':
      return null
    case 'contract':
      return toRefusal(payer, { reason: invalid })
    case 'counterfactual':
      return toRefusal(payer, { reason: 'invalid_exact_evm_payload_undeployed_smart_wallet' })
  }
}

export type OfflineReading = OfflineAuthorization | Refusal

const toHex = (bytes: Uint8Array): Hex => `0x${Buffer.from(bytes).toString('hex')}`

const blockHash = /^0x[0-9a-f]{64}$/

const evmForms: NetworkForms = {
  readAddress,
  formatAddress: (bytes) => readAddress(toHex(bytes.subarray(0, 20))) ?? toHex(bytes.subarray(0, 20)),
  formatTransaction: (bytes) => toHex(bytes.subarray(0, 32)),
  blocks: {
    format: toHex,
    read: (hash) => (blockHash.test(hash) ? Buffer.from(hash.slice(2), 'hex') : null),
  },
}
