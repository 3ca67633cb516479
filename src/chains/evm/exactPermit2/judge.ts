import { encodeEventTopics, type Hex, pad } from 'viem'
import { z } from 'zod'
import type { Settlement } from '../../../ports/settlementJournal.js'
import { tokenAbi } from '../abi/contracts.js'
import { asHex } from '../abi/words.js'
import { readWord } from '../exact/authorizationState.js'
import { isTransfer, judgeReceipt } from '../exact/judge.js'
import type { Log, Receipt, Rpc } from '../rpc/rpc.js'
import { findLog } from '../transactions/receipts/findLog.js'
import { findReceipt, type ReceiptPolicy } from '../transactions/receipts/findReceipt.js'
import type {
  Execution,
  ExecutionQuery,
  FailureReasons,
  SettlementJudge,
} from '../transactions/settlementCall.js'
import { permit2Abi, permit2Address } from './contracts.js'
import { judgeForeignExecution } from './foreignExecution.js'
import { encodePermitWords, type Permit } from './payload.js'
import { encodeBitmapCall, hasNonce, wordOf } from './permitState.js'
import { searchLogs } from './searchLogs.js'

/** What identifies a permit's execution. */
export type JudgedPermit = Omit<Permit, 'spender'>

const [transferTopic] = encodeEventTopics({ abi: tokenAbi, eventName: 'Transfer' })
const [invalidatedTopic] = encodeEventTopics({ abi: permit2Abi, eventName: 'UnorderedNonceInvalidation' })

const reasons: FailureReasons = {
  reverted: 'invalid_exact_evm_transaction_failed',
  void: 'permit2_invalid_nonce',
  unpaid: 'invalid_exact_evm_transfer_event_mismatch',
  expired: 'authorization_expired_unsettled',
}

/** Judges a payment by Permit2 from the token's Transfer, the nonce bitmap and the calldata that carried the permit. */
export const createJudge = (rpc: Rpc, permit: JudgedPermit): SettlementJudge => {
  const expected = { asset: permit.token, from: permit.from, to: permit.to, value: permit.amount }
  // Transactions of ours that succeeded: each one used the nonce, although no event says so.
  const ownUses = new Set<Hex>()

  const isUsedUnpaid = async (view: Rpc, policy: ReceiptPolicy): Promise<boolean> => {
    for (const transaction of ownUses) {
      const receipt = await findReceipt(view, transaction, policy)
      if (receipt !== null && judgeReceipt(receipt, expected) === 'unpaid') return true
    }
    return false
  }

  return {
    // Never batched: a status of a shared transaction would prove nothing.
    judgeReceipt: (receipt, isShared) => {
      if (isShared) return 'unpaid'
      const judgement = judgeReceipt(receipt, expected)
      if (judgement === 'unpaid') ownUses.add(receipt.transactionHash)
      return judgement
    },
    findExecution: async ({ view = rpc, ...query }) => {
      const { at, policy } = query
      const answer = await view.call({ at, to: permit2Address, data: encodeBitmapCall(permit) })
      const bitmap = answer.succeeds ? readWord(answer.value) : null
      if (bitmap === null) return { state: 'unknown' }
      if (!hasNonce(bitmap, permit.nonce)) return { state: 'unused' }
      if (await isUsedUnpaid(view, policy)) return { state: 'void' }
      return await findUse(view, permit, query)
    },
    reasons,
  }
}

/** A use without evidence stays unknown: the nodes may lag. */
const findUse = async (
  rpc: Rpc,
  permit: JudgedPermit,
  { at, since, policy }: Omit<ExecutionQuery, 'view'>,
): Promise<Execution> => {
  const paying = searchLogs(rpc, encodePermitWords(permit), (log) => carriesPermit(rpc, log, permit))
  const paid = await findLog(paying.rpc, {
    address: permit.token,
    topics: [transferTopic, pad(permit.from), pad(permit.to)],
    at,
    since,
  })
  if (paid?.transactionHash != null) return await judgeUse(rpc, paid.transactionHash, permit, policy)
  // A payment may be in a later range: until all are searched, an invalidation proves nothing.
  if (!paying.isComplete()) return { state: 'unknown' }

  const invalidating = searchLogs(rpc, encodePermitWords(permit), async (log) => invalidates(log, permit))
  const invalidated = await findLog(invalidating.rpc, {
    address: permit2Address,
    topics: [invalidatedTopic, pad(permit.from)],
    at,
    since,
  })
  if (invalidated?.transactionHash == null) return { state: 'unknown' }
  const receipt = await findReceipt(rpc, invalidated.transactionHash, policy)
  return receipt?.status === true ? { state: 'void' } : { state: 'unknown' }
}

const carriesPermit = async (rpc: Rpc, log: Log, permit: JudgedPermit): Promise<boolean> => {
  const expected = { asset: permit.token, from: permit.from, to: permit.to, value: permit.amount }
  if (log.transactionHash == null || !isTransfer(log, expected)) return false
  const transaction = await rpc.getTransaction(log.transactionHash)
  return transaction?.input.toLowerCase().includes(encodePermitWords(permit)) === true
}

const invalidates = ({ data }: Log, { nonce }: JudgedPermit): boolean => {
  if (data.length !== 2 + 2 * 64) return false
  const [word, mask] = [BigInt(data.slice(0, 66)), BigInt(`0x${data.slice(66)}`)]
  return word === wordOf(nonce) && hasNonce(mask, nonce)
}

const judgeUse = async (
  rpc: Rpc,
  hash: Hex,
  permit: JudgedPermit,
  policy: ReceiptPolicy,
): Promise<Execution> => {
  const receipt: Receipt | null = await findReceipt(rpc, hash, policy)
  const transaction = receipt === null ? null : await rpc.getTransaction(hash)
  if (receipt === null || transaction === null) return { state: 'unknown' }
  switch (judgeForeignExecution(receipt, transaction, permit)) {
    case 'paid':
      return { state: 'paid', receipt }
    case 'unpaid':
      return { state: 'void' }
    case 'unknown':
      return { state: 'unknown' }
  }
}

const wholeNumber = z
  .string()
  .regex(/^[0-9]{1,78}$/)
  .transform((text) => BigInt(text))

/** In the journal's details; `method` tells the rows of this method from those of EIP-3009, which have none. */
const detailsShape = z.object({
  method: z.literal('permit2'),
  nonce: wholeNumber,
  deadline: wholeNumber,
  validAfter: wholeNumber,
})

export const describePermit = ({ nonce, deadline, validAfter }: JudgedPermit) => ({
  method: 'permit2',
  nonce: String(nonce),
  deadline: String(deadline),
  validAfter: String(validAfter),
})

/** Whether a journal row is of this method. */
export const isPermitRow = ({ details }: Pick<Settlement, 'details'>): boolean => details.method === 'permit2'

/** Built from a journal row, after a crash. */
export const readJudge = (rpc: Rpc, settlement: Settlement): SettlementJudge => {
  const { nonce, deadline, validAfter } = detailsShape.parse(settlement.details)
  return createJudge(rpc, {
    nonce,
    deadline,
    validAfter,
    token: asHex(settlement.asset),
    from: asHex(settlement.payer),
    to: asHex(settlement.payTo),
    amount: settlement.amount,
  })
}
