import type { Hex } from 'viem'
import { z } from 'zod'
import type { Settlement } from '../../../ports/settlementJournal.js'
import type { Reason } from '../../../protocol/reasons.js'
import { renewableOutcome } from '../../../schemes/sharedOutcome.js'
import { addressField, hashField, isSameAddress, wholeNumberField } from '../abi/address.js'
import { asHex } from '../abi/words.js'
import { type Rpc, tryCall } from '../rpc/rpc.js'
import type { Log, Receipt } from '../rpc/wireShapes.js'
import { findChange, findExecutionByLog } from '../transactions/receipts/findLog.js'
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
  type Balances,
  balanceTopics,
  collectedTopics,
  decodePaymentState,
  encodeStateCall,
  type Operation,
  type PaymentState,
  stepBackBalances,
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
const isExecutable = ({ operation, amount }: JudgedCall, { capturable }: Balances): boolean => {
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
 * takes, since a block as deep as the policy requires, it can never be executed.
 */
const findLifecycle = async (view: Rpc, lifecycle: Lifecycle, query: Query): Promise<Execution> => {
  const { call } = lifecycle
  const state = await readState(view, call, query.at)
  if (state === null) return { state: 'unknown' }
  // A payment is voided once, by whichever transaction: the one after which nothing is held.
  const isVoid = call.operation === 'void'
  if (isVoid ? state.capturable > 0n : isExpected(call, state)) return { state: 'unused' }
  const walk = { ...query, state }
  const found = await (isVoid ? findEnd(view, call, walk) : findDeparture(view, lifecycle, walk))
  if (!found.isComplete) return { state: 'unknown' }
  if (found.log !== null && isEvent(found.log, call)) {
    const shown = isVoid ? 'made' : await judgeDeparture(view, found.log, lifecycle, query.at)
    const hash = shown === 'made' ? found.log.transactionHash : null
    const receipt = hash == null ? null : await findReceipt(view, hash, query.policy)
    if (receipt !== null && judgeReceipt(receipt, call) === 'paid') return { state: 'paid', receipt }
    if (shown !== 'foreign') return { state: 'unknown' }
  }
  if (isExecutable(call, state)) return { state: 'unused' }
  return (await isEndDeep(view, call, walk)) ? { state: 'void' } : { state: 'unknown' }
}

const isExpected = ({ capturable, refundable }: JudgedCall, balances: Balances): boolean =>
  balances.capturable === capturable && balances.refundable === refundable

/** Whether none of the recorded transactions can be mined on this chain any more. */
const areNoncesUsed = async (view: Rpc, { call, own }: Lifecycle, at: bigint): Promise<boolean> => {
  const [first] = own
  if (first === undefined) return true
  const highest = Math.max(...own.map(({ nonce }) => nonce))
  return (await view.getTransactionCount(call.operator, at)) > highest
}

interface Walk extends Query {
  /** The newest, in block `at`. */
  readonly state: PaymentState
}

/** Both balances have at most 120 bits. */
const pack = ({ capturable, refundable }: Balances): bigint => (capturable << 128n) + refundable
const unpack = (packed: bigint): Balances => {
  const refundable = BigInt.asUintN(128, packed)
  return { capturable: (packed - refundable) >> 128n, refundable }
}

/** Goes back through the events of the payment, as most nodes have no old state. */
const walkBack = (
  view: Rpc,
  { escrow, hash }: JudgedCall,
  { at, since, state, key }: Walk & { readonly key: string },
  isSought: (log: Log, before: Balances) => boolean,
) =>
  findChange(view, {
    address: escrow,
    topics: [[...balanceTopics], hash],
    at,
    since,
    key,
    value: pack(state),
    stepBack: async (log, after) => {
      const before = stepBackBalances(log, unpack(after))
      return isSought(log, before) ? null : pack(before)
    },
  })

const isOwn = ({ transactionHash }: Log, { own }: Lifecycle): boolean =>
  own.some(({ transaction }) => transaction.toLowerCase() === transactionHash?.toLowerCase())

/** The call's own event, or the one that changed the balances from those that the call expects: there is one at most. */
const findDeparture = (view: Rpc, lifecycle: Lifecycle, walk: Walk) => {
  const { call, own } = lifecycle
  const key = `${call.topic} ${call.terms} ${pack(call)} ${own.map(({ transaction }) => transaction).join()}`
  return walkBack(
    view,
    call,
    { ...walk, key },
    (log, before) => isExpected(call, before) || (isOwn(log, lifecycle) && isEvent(log, call)),
  )
}

/**
 * Another program's event counts once our own transactions can no longer be mined: a row that closed before would stand for two
 * captures. The state before and after its block, where a node still has it, may contradict: then events were missing.
 */
const judgeDeparture = async (
  view: Rpc,
  log: Log,
  lifecycle: Lifecycle,
  at: bigint,
): Promise<'made' | 'foreign' | 'unknown'> => {
  if (isOwn(log, lifecycle)) return 'made'
  if (!(await areNoncesUsed(view, lifecycle, at))) return 'foreign'
  const { call } = lifecycle
  const mined = log.transactionHash == null ? null : await view.getReceipt(log.transactionHash)
  if (mined === null) return 'unknown'
  const [before, after] = await Promise.all([
    mined.blockNumber === 0n ? null : readState(view, call, mined.blockNumber - 1n),
    readState(view, call, mined.blockNumber),
  ])
  const isContradicted = (before !== null && isPast(call, before)) || (after !== null && !isPast(call, after))
  return isContradicted ? 'unknown' : 'made'
}

/** Returns whether the balances have changed from those that the call expects. */
const isPast = (call: JudgedCall, { capturable, refundable }: Balances): boolean =>
  capturable < call.capturable || (capturable === call.capturable && refundable < call.refundable)

/** The event after which the escrow would no longer execute the call; in the state of `walk` it would not. */
const findEnd = (view: Rpc, call: JudgedCall, walk: Walk) =>
  walkBack(view, call, { ...walk, key: `end ${call.amount}` }, (_, before) => isExecutable(call, before))

const isEndDeep = async (view: Rpc, call: JudgedCall, walk: Walk): Promise<boolean> => {
  const { at, policy } = walk
  const { log, isComplete } = await findEnd(view, call, walk)
  if (log?.transactionHash != null) return (await findReceipt(view, log.transactionHash, policy)) !== null
  const deepest = at - BigInt(policy.confirmations - 1)
  const before = !isComplete || deepest < 0n ? null : await readState(view, call, deepest)
  return before !== null && !isExecutable(call, before)
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
  // The escrow makes a request from its balances once, whatever failed before: after a reorg a hold can still be captured.
  ...(call.operation === 'authorize' || call.operation === 'charge' ? {} : renewableOutcome),
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
