import type { Hex } from 'viem'
import type { Trace } from '../../../protocol/rules/rules.js'
import type { Token as ListedToken } from '../../../schemes/network.js'
import type { NetworkForms, OfflineAuthorization, OfflineNetwork } from '../../../schemes/offlineScheme.js'
import type { AssetTerms, Refusal } from '../../../schemes/scheme.js'
import { listKnownTokens } from '../../common/tokens.js'
import { isSameAddress, readAddress } from '../abi/address.js'
import { findRecipientRouter, locateUptoRouter } from '../contracts/routers.js'
import { findKnownNetwork } from '../networks.js'
import { toRefusal } from '../paymentMethod.js'
import type { PayerSignature } from '../signatures/signature.js'
import type { FindToken, Token } from '../tokens/tokenRegistry.js'
import { createVouchers } from '../upto/vouchers.js'

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
    vouchers: createVouchers({ chainId, contractReader: null }),
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

/** The sandbox behaves as if the router of its account were deployed. */
export const offlineRouters = {
  shared,
  findFor: (payTo: Hex) => findRecipientRouter(shared, payTo),
  presence: { ask: async () => true },
}

/** The default of `EVM_EXPIRY_MARGIN_SECONDS`. */
const expiryMarginSeconds = 6

export const phaseOf = (isForSettle: boolean) => ({
  isForSettle,
  marginSeconds: isForSettle ? expiryMarginSeconds : 0,
  // Accounts without code run none.
  requester: { name: 'sandbox', site: null },
  caller: null,
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

/** Without a chain, a signature that is not of the payer's key is wrong, unless it names a wallet that is not deployed. */
export const noteSignature = (refused: Refusal | null, trace: Trace): void => {
  const isWallet = refused?.reason === 'invalid_exact_evm_payload_undeployed_smart_wallet'
  if (refused !== null && !isWallet) trace.note('signature', refused)
  else trace.note('wallet', refused)
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

interface OfflineTokens {
  readonly find: FindToken
  /** Null asset: the network's first token. */
  describe(asset: string | null): AssetTerms | null
  list(): readonly ListedToken[]
}

/**
 * Names of the EIP-712 domain of USDC, of version 2. Published lists disagree on two networks: there, either name is
 * taken from the requirements, and the first is the default.
 */
const names: Readonly<Record<number, readonly [string, ...string[]]>> = {
  84532: ['USDC'],
  11155111: ['USDC'],
  421614: ['USD Coin', 'USDC'],
  11155420: ['USDC', 'USD Coin'],
}
const version = '2'

/** The built-in tokens of a network with a known domain; null for another network. */
const createOfflineTokens = (chainId: number): OfflineTokens | null => {
  const domainNames = names[chainId]
  const tokens = findKnownNetwork(chainId)?.tokens ?? []
  if (domainNames === undefined || tokens.length === 0) return null
  const findKnown = (address: Hex) => tokens.find((token) => isSameAddress(token.address, address))
  return {
    find: async (address, { requirements }) => {
      const known = findKnown(address)
      if (known === undefined) return { refusedAs: 'unsupported_asset' }
      const name = domainNames.find((each) => each === requirements.extra.name) ?? domainNames[0]
      const domain = { name, version, isProven: true }
      const token: Token = { ...known, address, domain, isListed: true }
      return { token }
    },
    list: () => listKnownTokens(tokens.map(({ address, ...facts }) => ({ ...facts, asset: address }))),
    describe: (asset) => {
      const address = readAddress(asset ?? tokens[0]?.address)
      const known = address === null ? undefined : findKnown(address)
      if (known === undefined || address === null) return null
      return { asset: asset ?? address, decimals: known.decimals, extra: { name: domainNames[0], version } }
    },
  }
}
