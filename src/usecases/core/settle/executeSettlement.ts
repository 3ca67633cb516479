import type { Clock } from '../../../ports/clock.js'
import type { Logger } from '../../../ports/logger.js'
import type { Recorder, Settlement, SettlementJournal } from '../../../ports/settlementJournal.js'
import type { SettleResult } from '../../../protocol/results.js'
import type { Authorized, Outcome } from '../../../schemes/scheme.js'
import { hasRepeatableOutcome } from '../../../schemes/sharedOutcome.js'
import type { SpendingLimits } from '../limits.js'
import { type AnswerFromSettlement, answerPending, failSettle, succeed } from './settleAnswers.js'
import {
  asSettleFailure,
  canReceive,
  describeOutcome,
  describeSettlement,
  findSpender,
  type SettlementContext,
  withShortDeadline,
} from './settlementContext.js'

/** Executes a settlement whose claim this process owns; no other process sends it. */
type ExecuteSettlement = (
  settlement: Settlement,
  authorized: Authorized,
  context: ExecutionContext,
) => Promise<SettleResult>

interface ExecutionContext extends SettlementContext {
  /** Called when something may leave, or the payment was made: what was spent for it stays spent. */
  onSent(): void
}

interface ExecuteSettlementDependencies {
  readonly journal: SettlementJournal
  readonly answerFromSettlement: AnswerFromSettlement
  readonly limits: Pick<SpendingLimits, 'countFailure'>
  readonly clock: Clock
  readonly logger: Logger
}

/** After a recording, every unknown outcome is answered `settlement_pending`. */
export const createExecuteSettlement = ({
  journal,
  answerFromSettlement,
  limits,
  clock,
  logger,
}: ExecuteSettlementDependencies): ExecuteSettlement => {
  const closeAndAnswer = async (
    settlement: Settlement,
    { outcome, recorded }: { readonly outcome: Outcome; readonly recorded: string | null },
    context: SettlementContext,
  ): Promise<SettleResult> => {
    const { callerNetwork } = context.payment
    const logFields = { ...describeAttempt(settlement, context), ...describeOutcome(outcome) }
    if (outcome.state === 'pending') {
      await withShortDeadline(journal.release(settlement.id))
      logger.warn(logFields, 'settlement.pending')
      return answerPending(settlement, outcome.transaction, callerNetwork)
    }
    const isReceived = canReceive(context)
    const consumer = isReceived && !hasRepeatableOutcome(settlement) ? context.consumer : undefined
    if (await journal.close(settlement.id, outcome, consumer)) {
      logger.info(logFields, `settlement.${outcome.state}`)
      if (outcome.state === 'failed') {
        await limits.countFailure({ ...settlement, transaction: recorded }, outcome.reason)
        const failed = { ...settlement, transaction: outcome.transaction ?? null }
        return failSettle(failed, outcome.reason, { callerNetwork, now: clock.now() })
      }
      // The client is gone: its next request receives the success.
      if (!isReceived) return answerPending(settlement, outcome.transaction, callerNetwork)
      const { settledAmount = settlement.amount, block = null, gasUsed = null } = outcome
      return succeed({ ...settlement, settledAmount, block, gasUsed }, outcome.transaction, callerNetwork)
    }
    // Closed by the reconciler, whose result counts; or reopened because its block was orphaned.
    const closed = await journal.find(settlement.id)
    const isClosed = closed?.state === 'confirmed' || closed?.state === 'failed'
    if (isClosed && closed.state !== outcome.state) {
      logger.error({ ...logFields, written: closed.state }, 'settlement.contradiction')
    }
    const answer = closed === null ? null : await answerFromSettlement(closed, context)
    const transaction = outcome.transaction ?? closed?.transaction ?? null
    return answer ?? answerPending(settlement, transaction, callerNetwork)
  }

  /** After a failed close: the row may be written although the response was lost. */
  const answerAfterFailedClose = async (
    settlement: Settlement,
    transaction: string,
    context: SettlementContext,
  ): Promise<SettleResult> => {
    const { callerNetwork } = context.payment
    const current = await withShortDeadline(journal.find(settlement.id)).catch(() => null)
    return current?.state === 'confirmed' && current.consumedBy === context.consumer
      ? succeed(current, current.transaction ?? transaction, callerNetwork)
      : answerPending(settlement, transaction, callerNetwork)
  }

  /** Abandons a claim; returns its row if that was not possible, and releases ownership. */
  const abandonClaim = async ({ id }: Settlement): Promise<Settlement | null> => {
    if (await journal.abandon(id)) return null
    // Before `find`, which can fail.
    await journal.release(id)
    return await journal.find(id)
  }

  /** A recording can have succeeded although its response was lost; then the bytes will be sent. */
  const abandonUnrecorded = async (
    settlement: Settlement,
    context: SettlementContext,
  ): Promise<SettleResult | null> => {
    const logFields = describeAttempt(settlement, context)
    try {
      const found = await withShortDeadline(abandonClaim(settlement))
      if (found === null || found.state !== 'pending') return null
      logger.warn({ ...logFields, transaction: found.transaction }, 'settlement.pending')
      return answerPending(found, found.transaction, context.payment.callerNetwork)
    } catch (error) {
      logger.error({ ...logFields, error }, 'settlement.abandon_failed')
      return null
    }
  }

  return async (settlement, authorized, { onSent, ...context }) => {
    const logFields = describeAttempt(settlement, context)
    logger.info(logFields, 'settlement.opened')
    let recorded: string | null = null
    const recorder = notifyOnRecord(journal.recorderFor(settlement.id), (transaction) => {
      recorded = transaction
      onSent()
      logger.info({ ...logFields, transaction }, 'settlement.broadcast')
    })

    let outcome: Outcome
    try {
      outcome = await authorized.settle(recorder, {
        waitUntil: context.wait.signal,
        // A stream has no requester when it ends.
        caller: authorized.promisee?.part ?? findSpender(context),
        isPromised: authorized.isPromised === true || context.isAdmitted === true,
        urgentFor: context.isUrgent === true ? context.caller : null,
      })
    } catch (error) {
      if (recorded === null) {
        const answer = await abandonUnrecorded(settlement, context)
        if (answer !== null) return answer
        throw asSettleFailure(error)
      }
      logger.error({ ...logFields, error }, 'settlement.interrupted')
      outcome = { state: 'pending', transaction: recorded }
    }

    if (outcome.state === 'confirmed') onSent()
    try {
      return await closeAndAnswer(settlement, { outcome, recorded }, context)
    } catch (error) {
      // Verify-only schemes confirm without a recording.
      const transaction = recorded ?? (outcome.state === 'confirmed' ? outcome.transaction : null)
      if (transaction === null) throw asSettleFailure(error)
      // Success requires the closed row in the journal; otherwise the reconciler closes it.
      logger.error({ ...logFields, error }, 'settlement.close_failed')
      return await answerAfterFailedClose(settlement, transaction, context)
    }
  }
}

const describeAttempt = (settlement: Settlement, { requestId }: SettlementContext) => ({
  ...describeSettlement(settlement),
  ...(requestId === undefined ? {} : { requestId }),
})

const notifyOnRecord = (recorder: Recorder, onRecorded: (transaction: string) => void): Recorder => ({
  settlementId: recorder.settlementId,
  record: async (signed, write) => {
    await recorder.record(signed, write)
    onRecorded(signed.transaction)
  },
})
