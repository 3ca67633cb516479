import { canonicalAsset } from '../../protocol/assetId.js'
import type { Fields } from '../../protocol/fields.js'
import type { Network, SettlementFee, Token } from '../network.js'
import type { AssetTerms } from '../scheme.js'

/**
 * What one network contributes to `exact-direct`. Normal forms: one text for all spellings of an address, an asset or a
 * transaction hash; what is compared and stored.
 */
export interface DirectChain {
  /** CAIP-2 identifier. */
  readonly network: string
  /** What resource servers copy into requirements, such as the symbol and decimals of the token. */
  readonly extra: Fields
  /** Addresses that the operator announces; they sign nothing. */
  readonly signers: readonly string[]
  /** False: transfers carry no memo, so that `extra.memo` cannot be required. */
  readonly carriesMemo: boolean
  /** Youngest age bound that the network's blocks allow; a shorter `maxTimeoutSeconds` is raised to it. */
  readonly minAgeSeconds: number
  readonly isTestnet: boolean
  /** Usual time from sending a transfer until it is final. */
  readonly secondsToFinality: number
  /** Pause between look-ups while a transaction is not final. */
  readonly pollIntervalMs: number
  /** Normal form; null if the text is no address of the network. Synchronous: bounds the length before it decodes. */
  readAddress(text: string): string | null
  /** Normal form of an asset in its bare form; null if the text names none. Bounds the length. */
  readAsset(text: string): string | null
  /** Normal form; null if the text is no transaction hash of the network. Bounds the length. */
  readTransaction(text: string): string | null
  /** Those that are settled, the default first; in normal form. */
  readonly assets: readonly string[]
  /** Whether the asset is settled, in normal form. */
  isOffered(asset: string): boolean
  /** Whether the network has the asset, in normal form. Throws only if the chain is unavailable. */
  hasAsset(asset: string): Promise<boolean>
  /** Null asset: the network's first token. Null if the asset is not settled. */
  describeAsset(asset: string | null): AssetTerms | null
  /** Those with a known symbol, the default first; assets in normal form. */
  listTokens(): readonly Token[]
  /**
   * Reads an account's balance in smallest units; 0 without an account. All in normal form. Throws only if the chain
   * is unavailable.
   */
  readBalance(asset: string, owner: string): Promise<bigint>
  /** What the payer's transfer costs. Null: nodes name no price. Throws only if the chain is unavailable. */
  readonly estimateFee: (() => Promise<Omit<SettlementFee, 'paidBy'>>) | null
  /** Asset that the payload itself names, in normal form; `invalid` if it is malformed. Null if it names none. */
  readClaimedAsset(proof: Fields): string | 'invalid' | null
  /** A sentence if `extra` makes clients pay another asset than `asset` (normal form); null if they agree. */
  findContradiction(asset: string, extra: Fields): string | null
  /** Throws only if the chain is unavailable. */
  lookUp(query: LookUpQuery): Promise<LookUp>
  /**
   * Whether the account's own key signed the text, in the form in which the chain's wallets sign messages. Null: the
   * network has no such form. Throws only if the chain is unavailable.
   */
  readonly isSignedBy: ((claim: SignedClaim) => Promise<boolean>) | null
}

export interface LookUpQuery {
  /** Normal form, as are `asset`, `from` and `to`. */
  readonly transaction: string
  readonly asset: string
  readonly from: string
  readonly to: string
  /** Required, in smallest units; from the cross-check amount on, several endpoints must agree. */
  readonly amount: bigint
  /** Older transactions are refused: bounds the search on networks that cannot look up a hash. */
  readonly notBefore: Date
  /** The whole payload, untrusted. May shorten a search, such as by a block number; never decides. */
  readonly hints: Fields
}

/**
 * `missing`: the chain does not know it. `pending`: it can still become final. `failed`: final, and it moved nothing.
 * Only a final block makes a transaction `failed` or `successful`.
 */
export type LookUp =
  | { readonly state: 'missing' | 'pending' | 'failed' }
  | {
      readonly state: 'successful'
      /** Time of its block. */
      readonly includedAt: Date
      /** All token transfers that the chain's own evidence proves, of every asset and party, in normal form. */
      readonly transfers: readonly DirectTransfer[]
      /**
       * Nothing that the payer signed shows the transfers, and no second host confirmed them: one node's word. Never with two
       * hosts, which must agree then.
       */
      readonly isUnverified?: boolean
    }

export interface DirectTransfer {
  readonly asset: string
  /** Who authorized the transfer and whose funds it moved. */
  readonly from: string
  readonly to: string
  readonly amount: bigint
  /** Null without one, and on chains that carry none. */
  readonly memo: string | null
}

export interface SignedClaim {
  /** Normal form. */
  readonly account: string
  readonly text: string
  /** Untrusted; bounded in length. */
  readonly signature: string
  /** Null where the account names its key, or if the payload has none. Untrusted; bounded in length. */
  readonly publicKey: string | null
}

/** The network of a chain on which payers pay themselves. */
export const createDirectNetwork = (
  chain: DirectChain,
  isTooLarge: Network['isTooLarge'] = () => false,
): Network => {
  const { network: id, signers, isTestnet, secondsToFinality, readAddress, readAsset, estimateFee } = chain
  return {
    id,
    isTestnet,
    signers,
    // Settle waits until the transfer is final.
    secondsToSettle: secondsToFinality,
    // We send none.
    settlementsPerSecond: () => null,
    isAddress: (text) => readAddress(text) !== null,
    normalizeAddress: readAddress,
    assetForm: 'an asset',
    isAsset: (text) => readAsset(text) !== null,
    listTokens: chain.listTokens,
    listMinimums: () => ({}),
    balances: {
      read: async (named, holder) => {
        const asset = readAsset(canonicalAsset(id, named))
        const owner = readAddress(holder)
        // Contracts that the operator does not list are not called.
        if (asset === null || owner === null || !chain.isOffered(asset)) return 0n
        return await chain.readBalance(asset, owner)
      },
    },
    fees:
      estimateFee === null ? null : { estimate: async () => ({ ...(await estimateFee()), paidBy: 'payer' }) },
    isTooLarge,
    vouchers: null,
    routers: null,
    // Only final transactions are confirmed.
    getBlockStatus: async () => 'final',
  }
}
