import type { Hex } from 'viem'
import type { Reason } from '../../../protocol/reasons.js'
import type { CallFailure, Receipt } from '../rpc/rpc.js'
import type { ReceiptPolicy } from './receipts/findReceipt.js'

/** A call without sender, nonce and fees. */
export interface ContractCall {
  readonly to: Hex
  readonly data: Hex
}

/** Why the chain refuses a call; the message where there is more to say than the reason's own sentence. */
export interface RevertReason {
  readonly reason: Reason
  readonly message?: string
}

/**
 * One contract call that settles one payment: all that the engine knows of a scheme. The engine simulates it, batches
 * it with others, sends, replaces and watches it.
 */
export interface SettlementCall extends ContractCall {
  /** The payment's identity. Two calls with one id never share a transaction. */
  readonly id: string
  /** Payer and recipient, in EIP-55 form: calls that change each other's balances are not simulated together. */
  readonly payer: Hex
  readonly payTo: Hex
  /** What it moves, in smallest units; may be zero. Decides whether a second endpoint must confirm the receipt. */
  readonly amount: bigint
  /** The most gas that is spent on it. */
  readonly gasCap: bigint
  /** Unix seconds: from this block time on, the contract refuses the call. */
  readonly deadline: bigint
  /**
   * Whether Multicall3 may make the call beside others: any `msg.sender` will do, and as long as the payer has no
   * code, only contracts run that the operator vouches for.
   */
  readonly isBatchable: boolean
  /** The only account that may send it; null for any of ours. */
  readonly sender: Hex | null
  /** State that the scheme reads beside the simulation; answers arrive in this order, null for a call that failed. */
  readonly reads: readonly ContractCall[]
  /** One more simulation, by the same sender at the same price; null where the call's own says enough. */
  readonly probe: ContractCall | null
  explainRevert(failure: CallFailure, reads: ReadAnswers): RevertReason
  /** For contracts that do not revert: why the call has no effect although it succeeds, or null. */
  findContradiction(reads: ReadAnswers, probe: Hex | null): RevertReason | null
  /** Whether a later block would accept the call: it is then asked again against `pending`. */
  isTooEarly(failure: CallFailure): boolean
  readonly judge: SettlementJudge
}

/** Answers to a call's reads, in their order. */
export type ReadAnswers = readonly (Hex | null)[]

/** Whether a call can be part of a batch, and of a shared simulation. */
export const canShare = ({ isBatchable, sender, probe }: SettlementCall): boolean =>
  isBatchable && sender === null && probe === null

/**
 * Decides from the chain's own evidence what became of one payment. Built from a call, or from a journal row after a
 * crash: both must decide alike.
 */
export interface SettlementJudge {
  /** Of a transaction of ours; `isShared` when it carries other payments too, so that its status proves nothing. */
  judgeReceipt(receipt: Receipt, isShared: boolean): Judgement
  /** What became of the payment, whichever account sent it: anyone may submit what a payer signed. */
  findExecution(query: ExecutionQuery): Promise<Execution>
  readonly reasons: FailureReasons
}

/** `paid`: status and events both prove it. `unpaid`: mined without the payment. */
export type Judgement = 'paid' | 'reverted' | 'unpaid'

/** In which state to look for an execution, and how far back. */
export interface ExecutionQuery {
  /** After this block; a node that lags behind must not answer from an earlier state. */
  readonly at: bigint
  /** No execution is older. */
  readonly since: Date
  readonly policy: ReceiptPolicy
}

/** What became of a payment. `unused`: it can still be executed. `void`: it never can. `unknown`: no proof. */
export type Execution =
  | { readonly state: 'unused' }
  | { readonly state: 'paid'; readonly receipt: Receipt }
  | { readonly state: 'void' }
  | { readonly state: 'unknown' }

/** The scheme's reasons for a settlement that failed for good. */
export interface FailureReasons {
  /** The call reverted, and the payment can still be executed. */
  readonly reverted: Reason
  /** Used or cancelled by another transaction, without this payment. */
  readonly void: Reason
  /** The call succeeded and the payment is missing from its events. */
  readonly unpaid: Reason
  /** The deadline passed without an execution. */
  readonly expired: Reason
}
