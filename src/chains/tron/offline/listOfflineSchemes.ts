import type { NetworkForms, OfflineScheme } from '../../../schemes/offlineScheme.js'
import { createOfflineScheme, listOffline } from '../../common/settling/exactScheme.js'
import { formatAddress, readAddress, type TronAddress } from '../encoding/address.js'
import type { SignedTransfer } from '../exact/decode.js'
import { readClaimedPayer, readExactProof } from '../exact/payload.js'
import { createPrepare, describeTransfer, listOffered } from '../exact/prepare.js'
import { findKnownNetwork, type KnownNetwork } from '../networks.js'

/** Delegates energy in the sandbox; no key of it is known. */
const sponsor = formatAddress(`41${'5a4db0'.padStart(40, '0')}`)

// These are the defaults of TRON_MAX_FEE_LIMIT and TRON_EXPIRY_MARGIN_SECONDS.
const maxFeeLimit = 1_000_000_000n
const marginMs = 6_000

const createOfflineExact = (network: string, { tokens }: KnownNetwork): OfflineScheme => {
  const policy = { tokens, knownTokens: tokens, acceptsAnyToken: false, maxFeeLimit }
  const [first] = tokens
  const identifyTransfer = ({ transaction }: SignedTransfer): string => `${network}/${transaction}`
  return createOfflineScheme({
    network,
    signer: sponsor,
    forms,
    knownTokens: tokens,
    offered: listOffered(policy),
    assetExtra: {},
    extra:
      first === undefined
        ? {}
        : {
            defaultAsset: first.asset,
            symbol: first.symbol,
            decimals: first.decimals,
            gasSponsor: sponsor,
          },
    identify: ({ proof }) => {
      const reading = readExactProof(proof)
      return 'reason' in reading ? null : identifyTransfer(reading.proof.transfer)
    },
    findPayer: ({ proof }) => {
      const reading = readExactProof(proof)
      const payer = 'reason' in reading ? readClaimedPayer(proof) : reading.proof.transfer.owner
      return payer === null ? null : formatAddress(payer)
    },
    read: async (payment, { now, isForSettle, trace }) => {
      const prepare = createPrepare(policy, { now: () => now })
      const preparation = prepare(payment, isForSettle ? marginMs : 0, trace)
      if ('refused' in preparation) return preparation.refused
      const { transfer } = preparation
      return { ...describeTransfer(transfer, identifyTransfer(transfer)), holds: false }
    },
  })
}

const toHex = (bytes: Uint8Array): string => Buffer.from(bytes).toString('hex')

const blockHash = /^[0-9a-f]{64}$/

const forms: NetworkForms = {
  readAddress: (text) => {
    const address = readAddress(text)
    return address === null ? null : formatAddress(address)
  },
  formatAddress: (bytes) => {
    const address: TronAddress = `41${toHex(bytes.subarray(0, 20))}`
    return formatAddress(address)
  },
  formatTransaction: (bytes) => toHex(bytes.subarray(0, 32)),
  blocks: {
    format: toHex,
    read: (hash) => (blockHash.test(hash) ? Buffer.from(hash, 'hex') : null),
  },
}

export const listOfflineSchemes = listOffline('tron', findKnownNetwork, createOfflineExact)
