import type { NetworkForms, OfflineScheme } from '../../../schemes/offlineScheme.js'
import { decodeBase58, encodeBase58 } from '../../common/base58.js'
import { createOfflineScheme, listOffline } from '../../common/settling/exactScheme.js'
import { readAddress } from '../encoding/keys.js'
import { createAssociatedAccounts } from '../encoding/tokenAccounts.js'
import { decodeTransaction, type Transaction } from '../exact/decode.js'
import {
  createPrepare,
  describeTransfer,
  findPayer,
  formatAuthorizationId,
  listOffered,
} from '../exact/prepare.js'
import { findKnownNetwork, type KnownNetwork } from '../networks.js'

/** No key of it is known: payments of the sandbox are never co-signed. */
const feePayer = 'SandboxFeePayer1111111111111111111111111111'

// These are the defaults of SOLANA_MAX_COMPUTE_UNITS and SOLANA_MAX_PRIORITY_FEE_LAMPORTS.
const limits = { maxComputeUnits: 400_000n, maxPriorityFeeLamports: 100_000n }

const createOfflineExact = (network: string, { tokens }: KnownNetwork): OfflineScheme => {
  const policy = { network, tokens, knownTokens: tokens, acceptsAnyToken: false }
  const prepare = createPrepare(policy, {
    ...limits,
    feePayers: [feePayer],
    findAssociatedAccount: createAssociatedAccounts(),
  })
  return createOfflineScheme({
    network,
    signer: feePayer,
    forms,
    knownTokens: tokens,
    offered: listOffered(policy),
    assetExtra: { feePayer },
    extra: { feePayer },
    identify: ({ proof }) => {
      const transaction = decode(proof.transaction)
      return transaction === null ? null : formatAuthorizationId(network, transaction)
    },
    findPayer: ({ proof }) => {
      const transaction = decode(proof.transaction)
      return transaction === null ? null : findPayer(transaction)
    },
    read: async (payment, { trace }) => {
      const preparation = prepare(payment, trace)
      if ('refused' in preparation) return preparation.refused
      return { ...describeTransfer(preparation.prepared), holds: false }
    },
  })
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

export const listOfflineSchemes = listOffline('solana', findKnownNetwork, createOfflineExact)
