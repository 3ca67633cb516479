import type { Hex } from 'viem'
import { traceStep } from '../../../platform/tracer/currentSpan.js'
import type { Clock } from '../../../ports/clock.js'
import type { Reason } from '../../../protocol/reasons.js'
import type { Outcome } from '../../../schemes/scheme.js'
import type { Rpc } from '../rpc/rpc.js'
import type { Receipt } from '../rpc/wireShapes.js'
import type { Submission } from './batching/sendGroup.js'
import type { NoncePool } from './lanes/noncePool.js'
import type { ReceiptPolicy } from './receipts/findReceipt.js'
import type { ReceiptWatcher } from './receipts/receiptWatcher.js'
import type { ExecutionQuery, PaidExecution, SettlementJudge } from './settlementCall.js'
import type { Submit } from './submit.js'

/** Sends, waits for the receipt, decides. Throws only when nothing was recorded; fails only what was not sent. */
type Settle = (submission: Submission, policy: ReceiptPolicy) => Promise<Outcome>

/** `reverted`: inside a batch; may succeed alone. */
interface Attempt {
  readonly outcome: Outcome
  readonly reverted: RevertedInBatch | null
}

interface RevertedInBatch {
  readonly transaction: Hex
  /** Decides again from the same receipt and newer chain state. */
  resolveAgain(): Promise<ResolvedReceipt>
}

const sendStep = { name: 'send', kind: 'internal' } as const
const confirmStep = { name: 'confirm', kind: 'internal' } as const

/** A call that reverts inside a batch is sent once more, in its own transaction. */
export const createSettle = (dependencies: {
  readonly rpc: Rpc
  readonly submit: Submit
  readonly receipts: ReceiptWatcher
  readonly pool: NoncePool
  readonly clock: Clock
}): Settle => {
  const { rpc, submit, receipts, pool, clock } = dependencies

  const attempt = async (submission: Submission, policy: ReceiptPolicy): Promise<Attempt> => {
    const submitted = await traceStep(sendStep, () => submit(submission))
    if ('reason' in submitted) return final({ state: 'failed', reason: submitted.reason })
    const { transaction, isShared, sender, nonce } = submitted
    const receipt = await traceStep(confirmStep, () =>
      receipts.wait(transaction, policy, submission.waitUntil),
    )
    if (receipt === null) return final({ state: 'pending', transaction })
    pool.onMined(sender, nonce)
    const search = { policy, since: clock.now() }
    const resolveAgain = () => resolveReceipt(rpc, { receipt, isShared }, submission.call.judge, search)
    try {
      const { outcome, isRevertedUnused } = await resolveAgain()
      return {
        outcome: withoutFailure(outcome, transaction),
        reverted: isShared && isRevertedUnused ? { transaction, resolveAgain } : null,
      }
    } catch {
      // The nodes failed after the send; the reconciler continues.
      return final({ state: 'pending', transaction })
    }
  }

  const retryAlone = async (
    submission: Submission,
    policy: ReceiptPolicy,
    { transaction, resolveAgain }: RevertedInBatch,
  ): Promise<Outcome> => {
    try {
      const { outcome } = await attempt({ ...submission, isUnbatched: true }, policy)
      if (outcome.state !== 'failed') return outcome
      // It was refused before the second send, perhaps because another transaction executed the payment meanwhile.
      return withoutFailure((await resolveAgain()).outcome, transaction)
    } catch {
      // The second record may have been committed although its response was lost.
      return { state: 'pending', transaction }
    }
  }

  return async (submission, policy) => {
    const { outcome, reverted } = await attempt(submission, policy)
    return reverted === null ? outcome : await retryAlone(submission, policy, reverted)
  }
}

/** A reorganisation may mine the transaction once more: only the reconciler fails it, by a final block. */
const withoutFailure = (outcome: Outcome, transaction: Hex): Outcome =>
  outcome.state === 'failed' ? { state: 'pending', transaction } : outcome

const final = (outcome: Outcome): Attempt => ({ outcome, reverted: null })

/** `isShared`: the transaction carries other payments too. */
interface OwnReceipt {
  readonly receipt: Receipt
  readonly isShared: boolean
}

interface ResolvedReceipt {
  readonly outcome: Outcome
  /** Reverted, or left out by its batch, and still unused: it may succeed in another transaction. */
  readonly isRevertedUnused: boolean
}

/** `pending` while the nodes do not prove more. */
export const resolveReceipt = async (
  rpc: Rpc,
  { receipt, isShared }: OwnReceipt,
  judge: SettlementJudge,
  search: Omit<ExecutionQuery, 'at'>,
): Promise<ResolvedReceipt> => {
  const judgement = judge.judgeReceipt(receipt, isShared)
  if (judgement === 'paid') return certain(confirmedBy({ receipt }))
  const head = await rpc.getBlock('latest')
  const at = head === null || head.number < receipt.blockNumber ? receipt.blockNumber : head.number
  const execution = await judge.findExecution({ ...search, at })
  const transaction = receipt.transactionHash
  switch (execution.state) {
    case 'paid':
      return certain(confirmedBy(execution))
    case 'unknown':
      return certain({ state: 'pending', transaction })
    case 'unused':
    case 'void': {
      const isUnused = execution.state === 'unused'
      // A call that reverts inside a batch leaves no event and does not revert the transaction.
      const hasReverted = judgement === 'reverted' || (isShared && isUnused)
      const reason = failureOf(judge, { hasReverted, isUnused })
      return { outcome: { state: 'failed', reason, transaction }, isRevertedUnused: hasReverted && isUnused }
    }
  }
}

const certain = (outcome: Outcome): ResolvedReceipt => ({ outcome, isRevertedUnused: false })

export const confirmedBy = ({ receipt, settledAmount }: Omit<PaidExecution, 'state'>): Outcome => {
  const { transactionHash, blockNumber, blockHash, gasUsed } = receipt
  return {
    state: 'confirmed',
    transaction: transactionHash,
    block: { number: blockNumber, hash: blockHash },
    ...(settledAmount === undefined ? {} : { settledAmount }),
    ...(gasUsed == null ? {} : { gasUsed }),
  }
}

const failureOf = (
  { reasons }: SettlementJudge,
  { hasReverted, isUnused }: { readonly hasReverted: boolean; readonly isUnused: boolean },
): Reason => {
  if (!hasReverted) return reasons.unpaid
  return isUnused ? reasons.reverted : reasons.void
}
