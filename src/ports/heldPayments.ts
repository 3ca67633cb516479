import type { JsonObject } from '../protocol/fields.js'
import type { AtDeadline, HeldStatus, MoveType } from '../protocol/heldPayments.js'
import type { SettlementState } from './settlementJournal.js'

/** A payment that a contract holds, and that a key of ours moves for the account that had it held. */
export interface AgentHold {
  /** CAIP-2 identifier. */
  readonly network: string
  /** Identifies the payment on its network; hex in lower case. */
  readonly hash: string
  /** Of the settlement that holds it. */
  readonly authorizationId: string
  readonly payer: string
  readonly payTo: string
  readonly asset: string
  /** All that is held at first, in smallest units. */
  readonly amount: bigint
  /** From then on nothing is captured, and the payer can take back what is left. */
  readonly captureDeadline: Date
  readonly refundDeadline: Date
  /** What the scheme needs to sign for it later; opaque to others. */
  readonly terms: JsonObject
}

/** What the contract has of a hold, in smallest units. */
export interface HeldState {
  readonly isCollected: boolean
  readonly capturable: bigint
  readonly refundable: bigint
}

type Before = Pick<HeldState, 'capturable' | 'refundable'>

/** What becomes of a hold. `capturable` and `refundable` are those that it is asked for from: they never recur. */
export type HoldMove =
  | { readonly type: 'void' }
  | (Before & { readonly type: 'refund'; readonly amount: bigint })
  | (Before & {
      readonly type: 'capture'
      readonly amount: bigint
      /** Null: the lowest that the payer's terms allow, and the recipient that they name. */
      readonly fee: bigint | null
      readonly feeReceiver: string | null
      /** True: the rest is returned to the payer once the capture is confirmed. */
      readonly voidsRemainder: boolean
    })

/** What became of a hold, as of the last look at the chain; in smallest units. */
export interface HeldBalances {
  readonly status: HeldStatus
  readonly capturable: bigint
  readonly refundable: bigint
  readonly captured: bigint
  readonly refunded: bigint
}

/** A hold that is bound to an account. */
export interface HeldPayment extends AgentHold, HeldBalances {
  readonly id: string
  readonly accountId: string
  readonly createdAt: Date
  readonly atDeadline: AtDeadline
  /** Whether its account was told that the capture deadline is near. */
  readonly isWarned: boolean
}

export interface StoredMove {
  /** SHA-256 of the canonical request. */
  readonly fingerprint: string
  readonly move: HoldMove
}

export interface UnfinishedCapture {
  readonly key: string
  readonly move: Extract<HoldMove, { type: 'capture' }>
}

export interface NewMove extends StoredMove {
  readonly accountId: string
  readonly key: string
  /** `remainder`: the void that follows a capture. */
  readonly part: 'request' | 'remainder'
  readonly heldPaymentId: string
  /** Of the settlement that makes it. */
  readonly authorizationId: string
}

/** `hold`: the one that had it held. */
export interface HoldSettlement {
  readonly id: string
  readonly type: MoveType
  readonly state: SettlementState
  /** Smallest units that it moves: what it holds, captures or returns. 0 for a void, which returns what is left. */
  readonly amount: bigint
  readonly transaction: string | null
  /** Whether the deadline asked for it first, and no request. */
  readonly isAutomatic: boolean
  readonly createdAt: Date
}

export interface OpenHolds {
  readonly network: string
  readonly asset: string
  readonly count: number
  readonly amount: bigint
  readonly nearestDeadline: Date
  /** Those for which the last action before the deadline has failed. */
  readonly failing: number
}

/** Which holds are due: their deadline is at most so far, or half of their life, away. */
interface DeadlineTerms {
  readonly now: Date
  readonly leadMs: number
  /** Added for each earlier deadline of the same account, since they are acted on one after the other. */
  readonly queueMs: number
}

/** An event of a hold, written in the database transaction of the change. */
interface HoldEvent {
  readonly type: string
  readonly data: JsonObject
}

/** `none`: nothing was tried. A failure has the event that the second one in a row writes: a node that was slow once is no news. */
export type ActionOutcome = 'none' | 'made' | { readonly failure: HoldEvent }

/** Unique keys decide: one account per payment, and one move per key and part. */
export interface HeldPayments {
  /** Binds the hold to the account, unless it is bound, with the account's default; returns the account that has it. */
  bind(hold: AgentHold, accountId: string): Promise<string>
  /** Null: it is bound to none. */
  findAccount(payment: Pick<AgentHold, 'network' | 'hash'>): Promise<string | null>
  find(accountId: string, payment: Pick<AgentHold, 'network' | 'hash'>): Promise<HeldPayment | null>
  /** Newest first; `before` is the last id of the previous page. */
  list(query: {
    readonly accountId: string
    readonly status: HeldStatus | null
    readonly before: string | null
    readonly limit: number
  }): Promise<readonly HeldPayment[]>
  findMove(key: Pick<NewMove, 'accountId' | 'key' | 'part'>): Promise<StoredMove | null>
  /** Stores the move unless its key has one; returns the one that it has. Its hold is looked at soon. */
  saveMove(move: NewMove): Promise<StoredMove>
  /** Those that have not failed, oldest first: the hold itself, and at most so many of its newest moves. */
  listSettlements(
    held: Pick<HeldPayment, 'id' | 'authorizationId'>,
    limit: number,
  ): Promise<readonly HoldSettlement[]>
  /** A capture that is confirmed and was to return the rest; null: there is none. Only for holds of which something is left. */
  findUnfinished(id: string): Promise<UnfinishedCapture | null>
  /**
   * Writes what was seen, and when to look again; null: never. An event of a new status is written by the one call that
   * changes it, and the warning once. Nothing is written if the status was changed since `held` was read: that was seen later.
   */
  observe(
    held: Pick<HeldPayment, 'id' | 'status'>,
    seen: HeldBalances & {
      readonly lookAt: Date | null
      readonly statusEvent: HoldEvent
      readonly warning: HoldEvent | null
    },
  ): Promise<void>
  /** Those to look at now, of each network and then each account in turn: neither an unreachable one nor a large one starves others. */
  listDue(now: Date, limit: number): Promise<readonly HeldPayment[]>
  countOpen(): Promise<readonly OpenHolds[]>
  findDefault(accountId: string): Promise<AtDeadline>
  /** For holds that are bound from then on. */
  setDefault(accountId: string, atDeadline: AtDeadline): Promise<void>
  /** `begun`: the action is recorded; `over`: the deadline has passed, or nothing is held any more. */
  setAtDeadline(id: string, atDeadline: AtDeadline, now: Date): Promise<'set' | 'begun' | 'over'>
  /** Networks that may have due holds. */
  listDeadlineNetworks(terms: DeadlineTerms): Promise<readonly string[]>
  /** Leases due holds to one caller: of each account in turn, so that a large one delays no other; the nearest deadline first. */
  leaseDeadlines(
    terms: DeadlineTerms & {
      readonly network: string
      readonly leasedUntil: Date
      readonly limit: number
      /** The most that are under way on the network: leased now, or recorded by any caller in the last two minutes and still open. */
      readonly atOnce: number
    },
  ): Promise<readonly HeldPayment[]>
  /** Whether an action of the deadline that was recorded in the last so many milliseconds was mined and moved nothing. */
  hasReverted(id: string, withinMs: number): Promise<boolean>
  /** As `ChannelLedger.hurryClaim`, for a capture or a void. */
  hurryMove(move: { readonly settlementId: string; readonly accountId: string }): Promise<void>
  /**
   * Called once the settlement of the action is recorded, and before it is sent. False: its account changed its mind, and it
   * must not be sent. True: its account cannot, as long as the settlement is open.
   */
  beginAction(id: string, atDeadline: AtDeadline): Promise<boolean>
  /** Not before `actAt` is it looked at again. */
  endAction(id: string, next: { readonly actAt: Date; readonly outcome: ActionOutcome }): Promise<void>
  /** Deletes requests that moved nothing, a day after they were asked for last. */
  purgeMoves(stopped: AbortSignal): Promise<void>
}
