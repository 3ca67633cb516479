import type { NetworkForms, OfflineScheme } from '../../../schemes/offlineScheme.js'
import type { AssetTerms } from '../../../schemes/scheme.js'
import type { OfflineModule } from '../../chain.js'
import { listKnownTokens } from '../../common/tokens.js'
import { decodeBase58, encodeBase58, readAddress } from '../encoding/base58.js'
import { createAssociatedAccounts } from '../encoding/tokenAccounts.js'
import { decodeTransaction, type Transaction } from '../exact/decode.js'
import {
  createPrepare,
  describeTransfer,
  findPayer,
  formatAuthorizationId,
  isOffered,
} from '../exact/prepare.js'
import { findKnownNetwork, isKnownMint, type KnownNetwork } from '../networks.js'

export const listOfflineSchemes: OfflineModule['listOfflineSchemes'] = (networks) =>
  networks.flatMap((network) => {
    const known = network.startsWith(prefix) ? findKnownNetwork(network.slice(prefix.length)) : null
    return known === null ? [] : [createOfflineExact(network, known)]
  })

const prefix = 'solana:'

/** No key of it is known: payments of the sandbox are never co-signed. */
const feePayer = 'SandboxFeePayer1111111111111111111111111111'

// As SOLANA_MAX_COMPUTE_UNITS and SOLANA_MAX_PRIORITY_FEE_LAMPORTS by default.
const limits = { maxComputeUnits: 400_000n, maxPriorityFeeLamports: 100_000n }

const createOfflineExact = (network: string, { reference, tokens }: KnownNetwork): OfflineScheme => {
  const offered = { network, tokens, acceptsAnyToken: false }
  const prepare = createPrepare(offered, {
    ...limits,
    feePayers: [feePayer],
    findAssociatedAccount: createAssociatedAccounts(),
  })
  const describe = (asset: string | null): AssetTerms | null => {
    const named = asset ?? tokens[0]?.asset
    if (named === undefined || !isOffered(offered, named)) return null
    return { asset: named, decimals: isKnownMint(reference, named) ? 6 : null, extra: { feePayer } }
  }
  return {
    kind: { scheme: 'exact', network },
    extra: { feePayer },
    network: {
      id: network,
      signers: [feePayer],
      forms,
      vouchers: null,
      routers: null,
      listTokens: () => listKnownTokens(tokens),
    },
    describeAsset: async (asset) => describe(asset),
    identify: ({ proof }) => {
      const transaction = decode(proof.transaction)
      return transaction === null ? null : formatAuthorizationId(network, transaction)
    },
    findPayer: ({ proof }) => {
      const transaction = decode(proof.transaction)
      return transaction === null ? null : findPayer(transaction)
    },
    read: async (payment) => {
      const preparation = prepare(payment)
      if ('refused' in preparation) return preparation.refused
      return { ...describeTransfer(preparation.prepared), holds: false }
    },
  }
}

const decode = (text: unknown): Transaction | null =>
  typeof text === 'string' ? decodeTransaction(text) : null

const forms: NetworkForms = {
  readAddress,
  formatAddress: (bytes) => encodeBase58(bytes.subarray(0, 32)),
  formatTransaction: encodeBase58,
  blocks: {
    format: encodeBase58,
    read: (hash) => {
      const bytes = decodeBase58(hash)
      return bytes?.length === 32 ? bytes : null
    },
  },
}
