import { type Hex, pad } from 'viem'
import { z } from 'zod'
import type { Settlement } from '../../../ports/settlementJournal.js'
import { hashField, isSameAddress } from '../abi/address.js'
import { addressWord, asHex, readWord, wordOf } from '../abi/words.js'
import type { Rpc } from '../rpc/rpc.js'
import type { Log, Receipt } from '../rpc/wireShapes.js'
import { cancelledTopic, encodeStateCall, usedTopic } from '../tokens/authorizations.js'
import {
  type ExpectedTransfer,
  encodeBalanceCall,
  isTransfer,
  judgeReceipt,
  transferTopic,
} from '../tokens/erc20.js'
import { findExecutionByLog } from '../transactions/receipts/findLog.js'
import type {
  ContractCall,
  Execution,
  ExecutionQuery,
  FailureReasons,
  Judgement,
  ReadAnswers,
  SettlementJudge,
} from '../transactions/settlementCall.js'
import type { Authorization } from './payload.js'

/** Null values: the token did not return them. */
export interface AuthorizationState {
  /** Used or cancelled. */
  readonly isUsed: boolean | null
  /** The payer's balance in smallest units. */
  readonly balance: bigint | null
}

/** The calls whose answers `decodeAuthorizationState` takes. */
export const planStateReads = (
  asset: Hex,
  { from, nonce }: Pick<Authorization, 'from' | 'nonce'>,
): readonly ContractCall[] => [
  { to: asset, data: encodeStateCall(from, nonce) },
  { to: asset, data: encodeBalanceCall(from) },
]

export const decodeAuthorizationState = ([state, balance]: ReadAnswers): AuthorizationState => {
  const used = readWord(state)
  return { isUsed: used === null ? null : used !== 0n, balance: readWord(balance) }
}

const reasons: FailureReasons = {
  reverted: 'invalid_exact_evm_transaction_failed',
  void: 'invalid_exact_evm_nonce_already_used',
  unpaid: 'invalid_exact_evm_transfer_event_mismatch',
  expired: 'authorization_expired_unsettled',
}

/** Judges an EIP-3009 payment by the token's events and its `authorizationState`. */
export const createJudge = (rpc: Rpc, nonce: Hex, expected: ExpectedTransfer): SettlementJudge => ({
  judgeReceipt: (receipt, isShared) =>
    isShared ? judgeSharedReceipt(receipt, nonce, expected) : judgeReceipt(receipt, expected),
  findExecution: ({ view = rpc, ...query }) => findExecution(view, nonce, expected, query),
  isOwnCall: ({ to, data }) =>
    isSameAddress(to, expected.asset) &&
    wordOf(data, 0) === addressWord(expected.from) &&
    wordOf(data, 5) === nonce.slice(2).toLowerCase(),
  sender: null,
  reasons,
})

const detailsShape = z.object({
  nonce: hashField,
})

/** Builds the judge from a journal row, after a crash. */
export const readJudge = (rpc: Rpc, settlement: Settlement): SettlementJudge =>
  createJudge(rpc, detailsShape.parse(settlement.details).nonce, {
    asset: asHex(settlement.asset),
    from: asHex(settlement.payer),
    to: asHex(settlement.payTo),
    value: settlement.amount,
  })

const findExecution = async (
  rpc: Rpc,
  nonce: Hex,
  expected: ExpectedTransfer,
  { at, since, policy }: Omit<ExecutionQuery, 'view'>,
): Promise<Execution> => {
  const { asset, from } = expected
  const answer = await rpc.call({ at, to: asset, data: encodeStateCall(from, nonce) })
  const used = answer.succeeds ? readWord(answer.value) : null
  if (used === null) return { state: 'unknown' }
  if (used === 0n) return { state: 'unused' }

  // A use without a log proves nothing: the node lags behind.
  const topics = [[usedTopic, cancelledTopic], pad(from), nonce]
  const isPaid = (receipt: Receipt) => judgeForeignReceipt(receipt, nonce, expected) === 'paid'
  return await findExecutionByLog(rpc, { address: asset, topics, at, since }, policy, isPaid)
}

/**
 * Judges a transaction of another sender. It may use several authorizations beside one payment, so the transfer
 * must be this authorization's own: the token's next event after its use (EIP-3009).
 */
export const judgeForeignReceipt = (receipt: Receipt, nonce: Hex, expected: ExpectedTransfer): Judgement => {
  if (!receipt.status) return 'reverted'
  const events = receipt.logs.filter(
    ({ address, topics }) =>
      isSameAddress(address, expected.asset) && (topics[0] === transferTopic || topics[0] === usedTopic),
  )
  const isPaid = events.some((event, index) => {
    const next = events[index + 1]
    return isUse(event, nonce, expected) && next !== undefined && isTransfer(next, expected)
  })
  return isPaid ? 'paid' : 'unpaid'
}

/**
 * Judges one payment of our own batch, whose payers have no code and whose tokens are listed. Some tokens emit Transfer
 * before AuthorizationUsed, so both must be present in any order, and the payer must have as many transfers as uses.
 */
export const judgeSharedReceipt = (receipt: Receipt, nonce: Hex, expected: ExpectedTransfer): Judgement => {
  if (!receipt.status) return 'reverted'
  if (judgeForeignReceipt(receipt, nonce, expected) === 'paid') return 'paid'
  const own = receipt.logs.filter(({ address }) => isSameAddress(address, expected.asset))
  const isPayers = ({ topics }: Log) => topics[1]?.toLowerCase() === pad(expected.from).toLowerCase()
  const uses = own.filter((log) => log.topics[0] === usedTopic && isPayers(log))
  const transfers = own.filter((log) => log.topics[0] === transferTopic && isPayers(log))
  const isPaid =
    uses.some((log) => isUse(log, nonce, expected)) &&
    transfers.some((log) => isTransfer(log, expected)) &&
    transfers.length >= uses.length
  return isPaid ? 'paid' : 'unpaid'
}

const isUse = ({ topics }: Log, nonce: Hex, { from }: ExpectedTransfer): boolean =>
  topics[0] === usedTopic &&
  topics[1]?.toLowerCase() === pad(from).toLowerCase() &&
  topics[2]?.toLowerCase() === nonce.toLowerCase()
