import type { Hex } from 'viem'
import { z } from 'zod'
import type { Settlement } from '../../../ports/settlementJournal.js'
import type { Reason } from '../../../protocol/reasons.js'
import { addressField, hashField, isSameAddress, wholeNumberField } from '../abi/address.js'
import { asHex } from '../abi/words.js'
import { type Rpc, tryCall } from '../rpc/rpc.js'
import type { Log, Receipt } from '../rpc/wireShapes.js'
import { findExecutionByLog, searchLogs } from '../transactions/receipts/findLog.js'
import { findReceipt } from '../transactions/receipts/findReceipt.js'
import { readNonce } from '../transactions/resolve.js'
import type {
  Execution,
  ExecutionQuery,
  FailureReasons,
  Judgement,
  SettlementJudge,
} from '../transactions/settlementCall.js'
import {
  collectedTopics,
  decodePaymentState,
  encodeStateCall,
  type Operation,
  type PaymentState,
} from './contracts.js'

/** One call of the escrow, as the journal's row describes it. */
export interface JudgedCall {
  readonly operation: Operation
  readonly escrow: Hex
  /** The payment's hash. */
  readonly hash: Hex
  /** The only account that may send it. */
  readonly operator: Hex
  /** The event that proves it, and how its data ends; null: it may be any. */
  readonly topic: Hex
  readonly terms: string | null
  /** Smallest units that the call moves or holds; 0 for a void. */
  readonly amount: bigint
  /** What captures and refunds expect to be held and refundable before; 0 for the others. */
  readonly capturable: bigint
  readonly refundable: bigint
}

const expiredReasons: Readonly<Record<Operation, Reason>> = {
  authorize: 'authorization_expired_unsettled',
  charge: 'authorization_expired_unsettled',
  capture: 'invalid_auth_capture_evm_capture_deadline_expired',
  void: 'invalid_auth_capture_evm_unexpected_payment_state',
  refund: 'invalid_auth_capture_evm_refund_deadline_expired',
}

const reasonsOf = (operation: Operation): FailureReasons => ({
  reverted: 'invalid_auth_capture_evm_transaction_reverted',
  void:
    operation === 'authorize' || operation === 'charge'
      ? 'invalid_auth_capture_evm_payment_already_collected'
      : 'invalid_auth_capture_evm_unexpected_payment_state',
  unpaid: 'invalid_auth_capture_evm_transaction_reverted',
  expired: expiredReasons[operation],
})

const isCollecting = ({ operation }: JudgedCall): boolean =>
  operation === 'authorize' || operation === 'charge'

/** The escrow makes captures and refunds of equal terms as often as they are sent. */
const isRepeatable = ({ operation }: JudgedCall): boolean => operation === 'capture' || operation === 'refund'

/** A transaction that was recorded for the call. */
interface OwnTransaction {
  readonly transaction: Hex
  readonly nonce: number
}

/** Judges a call of the escrow by its event and by the payment's state. `own`: none before one is recorded. */
export const createJudge = (
  rpc: Rpc,
  call: JudgedCall,
  own: readonly OwnTransaction[] = [],
): SettlementJudge => ({
  judgeReceipt: (receipt) => judgeReceipt(receipt, call),
  findExecution: ({ view = rpc, ...query }) =>
    isCollecting(call) ? findCollection(view, call, query) : findLifecycle(view, { call, own }, query),
  isOwnCall: ({ to }) => isSameAddress(to, call.escrow),
  sender: call.operator,
  ...(isRepeatable(call) ? { isRepeatable: true } : {}),
  reasons: reasonsOf(call.operation),
})

const isEvent = ({ address, topics, data }: Log, { escrow, hash, topic, terms }: JudgedCall): boolean =>
  isSameAddress(address, escrow) &&
  topics[0]?.toLowerCase() === topic &&
  topics[1]?.toLowerCase() === hash &&
  (terms === null || data.toLowerCase().endsWith(terms))

const judgeReceipt = ({ status, logs }: Receipt, call: JudgedCall): Judgement => {
  if (!status) return 'reverted'
  return logs.some((log) => isEvent(log, call)) ? 'paid' : 'unpaid'
}

type Query = Omit<ExecutionQuery, 'view'>

const readState = async (view: Rpc, { escrow, hash }: JudgedCall, at: bigint): Promise<PaymentState | null> =>
  decodePaymentState(await tryCall(view, { at, to: escrow, data: encodeStateCall(hash) }))

/** The escrow collects a payment once. */
const findCollection = async (
  view: Rpc,
  call: JudgedCall,
  { at, since, policy }: Query,
): Promise<Execution> => {
  const state = await readState(view, call, at)
  if (state === null) return { state: 'unknown' }
  if (!state.isCollected) return { state: 'unused' }
  const search = { address: call.escrow, topics: [[...collectedTopics], call.hash], at, since }
  return await findExecutionByLog(view, search, policy, (receipt) => judgeReceipt(receipt, call) === 'paid')
}

/** Whether the escrow would still execute the call, but for its deadline. */
const isExecutable = ({ operation, amount }: JudgedCall, { capturable }: PaymentState): boolean => {
  switch (operation) {
    case 'capture':
      return capturable >= amount
    case 'void':
      return capturable > 0n
    default:
      // What is refundable grows with every capture.
      return true
  }
}

/** What another program's call is judged with. */
interface Lifecycle {
  readonly call: JudgedCall
  readonly own: readonly OwnTransaction[]
}

/**
 * Captures of equal terms have equal events, but the balances before them never recur: one that was made from those that the
 * call expects is the one that was asked for, by any sender. What is held never grows: where less is held than the call
 * takes, in a block as deep as the policy requires, it can never be executed.
 */
const findLifecycle = async (
  view: Rpc,
  { call, own }: Lifecycle,
  { at, since, policy }: Query,
): Promise<Execution> => {
  const state = await readState(view, call, at)
  if (state === null) return { state: 'unknown' }
  const isUntouched = call.operation === 'void' ? state.capturable > 0n : isExpected(call, state)
  if (isUntouched) return { state: 'unused' }
  const isDisplaced = await areNoncesUsed(view, { call, own }, at)
  const found = await searchLogs(view, {
    address: call.escrow,
    topics: [call.topic, call.hash],
    at,
    since,
    // A payment is voided once, by whichever transaction.
    ...(call.operation === 'void'
      ? {}
      : {
          only: {
            key: `${isDisplaced} ${own.map(({ transaction }) => transaction).join()}`,
            isWanted: (log: Log) => isExecution(view, log, { call, own, isDisplaced }),
          },
        }),
  })
  if (found.log?.transactionHash != null) {
    const receipt = await findReceipt(view, found.log.transactionHash, policy)
    return receipt !== null && judgeReceipt(receipt, call) === 'paid'
      ? { state: 'paid', receipt }
      : { state: 'unknown' }
  }
  if (!found.isComplete) return { state: 'unknown' }
  if (isExecutable(call, state)) return { state: 'unused' }
  const deepest = at - BigInt(policy.confirmations - 1)
  const before = deepest < 0n ? null : await readState(view, call, deepest)
  return before === null || isExecutable(call, before) ? { state: 'unknown' } : { state: 'void' }
}

const isExpected = ({ capturable, refundable }: JudgedCall, state: PaymentState): boolean =>
  state.capturable === capturable && state.refundable === refundable

/** Whether none of the recorded transactions can be mined on this chain any more. */
const areNoncesUsed = async (view: Rpc, { call, own }: Lifecycle, at: bigint): Promise<boolean> => {
  const [first] = own
  if (first === undefined) return true
  const highest = Math.max(...own.map(({ nonce }) => nonce))
  return (await view.getTransactionCount(call.operator, at)) > highest
}

/**
 * The call's own transaction, or, once that can no more be mined, another one that changed the balances from those that it
 * expects to those that it leaves. A row that closed before would stand for two captures.
 */
const isExecution = async (
  view: Rpc,
  log: Log,
  { call, own, isDisplaced }: Lifecycle & { readonly isDisplaced: boolean },
): Promise<boolean> => {
  const hash = log.transactionHash?.toLowerCase()
  if (hash === undefined) return false
  if (own.some(({ transaction }) => transaction.toLowerCase() === hash)) return true
  if (!isDisplaced || !isEvent(log, call)) return false
  const receipt = await view.getReceipt(asHex(hash))
  if (receipt === null || receipt.blockNumber === 0n) return false
  const { amount, capturable, refundable } = call
  const left =
    call.operation === 'capture'
      ? { capturable: capturable - amount, refundable: refundable + amount }
      : { capturable, refundable: refundable - amount }
  const before = await readState(view, call, receipt.blockNumber - 1n)
  const after = await readState(view, call, receipt.blockNumber)
  // Nothing else moved the payment in this block: what is held never grows.
  return (
    before !== null && isExpected(call, before) && after !== null && isExpected({ ...call, ...left }, after)
  )
}

const detailsShape = z.object({
  operation: z.enum(['authorize', 'charge', 'capture', 'void', 'refund']),
  escrow: addressField,
  hash: hashField,
  operator: addressField,
  topic: hashField,
  terms: z.string().nullable(),
  amount: wholeNumberField,
  capturable: wholeNumberField,
  refundable: wholeNumberField,
})

/** What the journal's row stores beside its columns. */
export const describeCall = ({ amount, capturable, refundable, ...call }: JudgedCall) => ({
  ...call,
  amount: `${amount}`,
  capturable: `${capturable}`,
  refundable: `${refundable}`,
})

/** Builds the judge from a journal row, after a crash. */
export const readJudge = (rpc: Rpc, { details, broadcasts }: Settlement): SettlementJudge =>
  createJudge(
    rpc,
    detailsShape.parse(details),
    broadcasts.map(({ transaction, bytes }) => ({
      transaction: asHex(transaction),
      nonce: readNonce(bytes),
    })),
  )
