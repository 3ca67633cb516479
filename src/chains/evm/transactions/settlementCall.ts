import type { Hex } from 'viem'
import type { Reason } from '../../../protocol/reasons.js'
import type { CallFailure, Rpc } from '../rpc/rpc.js'
import type { Receipt } from '../rpc/wireShapes.js'
import type { BuilderCodes } from './builderCodes.js'
import type { ReceiptPolicy } from './receipts/findReceipt.js'

/** A call without sender, nonce and fees. */
export interface ContractCall {
  readonly to: Hex
  readonly data: Hex
}

/** `message`: only where it says more than the reason's own. */
export interface RevertReason {
  readonly reason: Reason
  readonly message?: string
}

/**
 * One contract call that settles one payment: the engine's only view of a scheme. It simulates, batches,
 * sends, replaces and tracks it.
 */
export interface SettlementCall extends ContractCall {
  /** The payment's identity. Two calls with one id never share a transaction. */
  readonly id: string
  /** EIP-55. Calls that change each other's balances are not simulated together. */
  readonly payer: Hex
  readonly payTo: Hex
  /** In smallest units; may be zero. Decides whether a second endpoint must confirm the receipt. */
  readonly amount: bigint
  /** Gas limit. */
  readonly gasCap: bigint
  /** Gas that the payment is worth: an estimate above it refuses the payment. Absent: it is worth the limit. */
  readonly worthGas?: bigint
  /**
   * What the call needs beyond its estimate, at most, when a reorg takes back the earlier transactions that made it cheap:
   * a storage slot that is empty again costs 17,100 more (EIP-2200, EIP-2929), a contract its deployment.
   */
  readonly reorgGas: bigint
  /** Unix seconds; the contract rejects the call from this block time on. */
  readonly deadline: bigint
  /**
   * Which batch contract may execute the call with others; `any`: every `msg.sender` is accepted. Null for none: also
   * where other contracts run, while the payer has no code, than those that the operator configured.
   */
  readonly batchedBy: Hex | 'any' | null
  /**
   * How many parts it has, which decide its gas. Such calls run no code of others, and share transactions with each other only:
   * what one takes says nothing of the next.
   */
  readonly parts?: number
  /** Whether it runs code that the payer chose: that of its wallet, or of the wallet's factory. */
  readonly runsPayerCode: boolean
  /** The only account that may send it; null for any of ours. */
  readonly sender: Hex | null
  /** State that the scheme reads beside the simulation; results in this order, null for a failed call. */
  readonly reads: readonly ContractCall[]
  /** An additional simulation by the same sender at the same price; null if not needed. */
  readonly probe: ContractCall | null
  explainRevert(failure: CallFailure, reads: ReadAnswers): RevertReason
  /** Why a successful call has no effect, where contracts do not revert; or null. */
  findContradiction(reads: ReadAnswers, probe: Hex | null): RevertReason | null
  /** Whether a later block would accept the call; it is then simulated against `pending`. */
  isTooEarly(failure: CallFailure): boolean
  readonly judge: SettlementJudge
  /** Named at the end of the calldata of a transaction of its own; `included`: the calldata ends with them already. */
  readonly builderCodes?: BuilderCodes | 'included' | null
}

export type ReadAnswers = readonly (Hex | null)[]

export const canShare = ({ batchedBy, sender, probe }: SettlementCall): boolean =>
  batchedBy !== null && sender === null && probe === null

/**
 * Decides from chain state whether one payment was executed. Built from a call, or after a crash from a
 * journal row; both must decide alike.
 */
export interface SettlementJudge {
  /** Judges a transaction of ours; `isShared`: it carries other payments too, so its status proves nothing. */
  judgeReceipt(receipt: Receipt, isShared: boolean): Judgement
  /** Finds the execution by any sender: any account may submit what the payer signed. */
  findExecution(query: ExecutionQuery): Promise<Execution>
  /** Tells the call of this payment from the other calls of a batch. */
  isOwnCall(call: ContractCall): boolean
  /** As in `SettlementCall`. */
  readonly sender: Hex | null
  /** The contract would execute the call once more in another transaction: all that are recorded for it have one nonce. */
  readonly isRepeatable?: boolean
  readonly reasons: FailureReasons
}

/** `paid`: status and events both prove it. `unpaid`: mined without the payment. */
export type Judgement = 'paid' | 'reverted' | 'unpaid'

export interface ExecutionQuery {
  /** Minimum block; a lagging node must not answer from an earlier state. */
  readonly at: bigint
  /** Lower bound of the execution's time. */
  readonly since: Date
  readonly policy: ReceiptPolicy
  /** Where to ask, in place of all endpoints. */
  readonly view?: Rpc
}

/** `unused`: can still be executed. `void`: never can. `unknown`: no proof. */
export type Execution =
  | { readonly state: 'unused' }
  | PaidExecution
  | { readonly state: 'void' }
  | { readonly state: 'unknown' }

export interface PaidExecution {
  readonly state: 'paid'
  readonly receipt: Receipt
  /** It is given where the row does not know what was paid. */
  readonly settledAmount?: bigint
}

/** The scheme's reasons for final failures. */
export interface FailureReasons {
  /** Reverted; the payment can still be executed. */
  readonly reverted: Reason
  /** Used or cancelled by another transaction, without this payment. */
  readonly void: Reason
  /** Succeeded, but the payment is missing from its events. */
  readonly unpaid: Reason
  /** The deadline passed without execution. */
  readonly expired: Reason
}
