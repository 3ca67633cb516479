import type { BlockReference } from '../ports/settlementJournal.js'
import type { JsonObject } from '../protocol/fields.js'

/**
 * What one network is, whatever scheme pays on it. Its family makes one, which the network's schemes share. Texts are
 * untrusted; amounts are in smallest units.
 */
export interface Network {
  /** CAIP-2 identifier. */
  readonly id: string
  readonly isTestnet: boolean
  /** Our addresses that may send or co-sign. */
  readonly signers: readonly string[]
  /** Usual time from settle until the outcome is known. Null: unknown. */
  readonly secondsToSettle: number | null
  /** How many promised settlements it takes in a second, each in a transaction of its own. Null: it is no limit. */
  settlementsPerSecond(): number | null
  /** Whether a text has the form of an address; `payTo` must. */
  isAddress(text: string): boolean
  /**
   * The one spelling of an address by which wallets are compared: that of payers in the journal, with hex in lower case.
   * Null if the text is no address.
   */
  normalizeAddress(text: string): string | null
  /** How assets are named, for messages. */
  readonly assetForm: 'an address' | 'an asset'
  /** Whether a text has the form of an asset. */
  isAsset(text: string): boolean
  /** Tokens with a known symbol, the preferred one first. */
  listTokens(): readonly Token[]
  /** Lowest payments by asset; they may follow the price of gas. */
  listMinimums(): Readonly<Record<string, string>>
  /** Null: unknown. */
  readonly balances: Balances | null
  /** Null: its nodes name no price, or its coin is unknown. */
  readonly fees: Fees | null
  /**
   * Whether payments of the amount are refused as `cross_check_unavailable`; decimals of the asset, null if unknown. Who
   * sends the transfer itself must know it before.
   */
  isTooLarge(amount: bigint, decimals: number | null): boolean
  /** Null: payers cannot sign what they owe in a stream. */
  readonly vouchers: Vouchers | null
  /** Null: no contract executes payments. */
  readonly routers: RecipientRouters | null
  /** Status of the block of an `Outcome`. Networks without reorgs return `final`. */
  getBlockStatus(block: BlockReference, signal: AbortSignal): Promise<BlockStatus>
}

interface Balances {
  /**
   * Of any address of the network. Throws only if the chain is unavailable: ends with the timeouts of its nodes, and has no
   * deadline of its own.
   */
  read(asset: string, owner: string): Promise<bigint>
}

export interface Fees {
  /** Throws and ends as `Balances.read`. */
  estimate(): Promise<SettlementFee>
}

/**
 * `canonical`: on the chain, not final. `orphaned`: another block has its height. `unknown`: nodes fail or
 * disagree.
 */
export type BlockStatus = 'final' | 'canonical' | 'orphaned' | 'unknown'

/** A token that a network settles. */
export interface Token {
  readonly asset: string
  /** As its issuer writes it, such as `USDC`; tokens with one symbol are one currency. */
  readonly symbol: string
  readonly decimals: number
  /** Whether one unit is meant to be worth one US dollar. */
  readonly isDollar: boolean
}

/** What one settlement costs at the network's current price, in the smallest unit of its native coin. */
export interface SettlementFee {
  readonly amount: bigint
  readonly symbol: string
  readonly decimals: number
  readonly paidBy: 'facilitator' | 'payer'
}

/** What a payer agrees to owe in a stream so far. */
export interface Voucher {
  readonly streamId: string
  /** Cumulative, in smallest units. */
  readonly amount: bigint
  readonly sequence: bigint
}

/** Vouchers of payers on one network. */
export interface Vouchers {
  /** EIP-712 typed data for a wallet, with numbers as decimal texts. */
  describe(voucher: Voucher): JsonObject
  /** Whether the payer signed it. Throws only if the chain is needed and unavailable. */
  isSigned(voucher: Voucher, payer: string, signature: string, signal: AbortSignal): Promise<boolean>
}

export interface RecipientRouters {
  /** Null if the network has no router for the recipient. Throws only if the chain is unavailable. */
  find(payTo: string): Promise<RecipientRouter | null>
}

/** The contract that executes payments to one recipient. */
interface RecipientRouter {
  readonly address: string
  /** False: it is deployed by the first settlement, and its address is already final. */
  readonly isDeployed: boolean
  /** Router for any recipient: the facilitator chooses the recipient at settlement. Null if there is none. */
  readonly shared: string | null
}
