import type { Logger } from '../../ports/logger.js'
import type { Recorder, Settlement, SettlementJournal } from '../../ports/settlementJournal.js'
import type { SettleResult } from '../../protocol/results.js'
import type { Authorized, Outcome } from '../../schemes/scheme.js'
import type { AnswerFromSettlement } from './answerFromSettlement.js'
import { answerPending, failSettle, succeed } from './settleAnswers.js'
import {
  asSettleFailure,
  describeOutcome,
  describeSettlement,
  type SettlementContext,
  withShortDeadline,
} from './settlementContext.js'

/** Settles an authorization whose claim this process holds: no other process sends it. */
export type ExecuteSettlement = (
  settlement: Settlement,
  authorized: Authorized,
  work: SettlementContext,
) => Promise<SettleResult>

/** Journal and log of an execution. */
export interface ExecuteSettlementDependencies {
  readonly journal: SettlementJournal
  readonly answerFromSettlement: AnswerFromSettlement
  readonly logger: Logger
}

/** Sends, waits, closes the row and answers; after a recording every doubt is answered `settlement_pending`. */
export const createExecuteSettlement = ({
  journal,
  answerFromSettlement,
  logger,
}: ExecuteSettlementDependencies): ExecuteSettlement => {
  const conclude = async (
    settlement: Settlement,
    outcome: Outcome,
    work: SettlementContext,
  ): Promise<SettleResult> => {
    const { callerNetwork } = work.payment
    const named = { ...describeSettlement(settlement), ...describeOutcome(outcome) }
    if (outcome.state === 'pending') {
      await withShortDeadline(journal.release(settlement.id))
      logger.warn(named, 'settlement.pending')
      return answerPending(settlement, outcome.transaction, callerNetwork)
    }
    if (await journal.close(settlement.id, outcome, work.consumer)) {
      logger.info(named, `settlement.${outcome.state}`)
      if (outcome.state === 'failed') return failSettle(settlement, outcome.reason, callerNetwork)
      const settledAmount = outcome.settledAmount ?? settlement.amount
      return succeed({ ...settlement, settledAmount }, outcome.transaction, callerNetwork)
    }
    // The reconciler was quicker, and what it wrote counts. An open row: its block was taken back.
    const closed = await journal.find(settlement.id)
    const isClosed = closed?.state === 'confirmed' || closed?.state === 'failed'
    if (isClosed && closed.state !== outcome.state) {
      logger.error({ ...named, written: closed.state }, 'settlement.contradiction')
    }
    const told = closed === null ? null : await answerFromSettlement(closed, work)
    const transaction = outcome.transaction ?? closed?.transaction ?? null
    return told ?? answerPending(settlement, transaction, callerNetwork)
  }

  /** Closing the row failed: perhaps only the journal's answer was lost. */
  const answerDespiteFailure = async (
    settlement: Settlement,
    transaction: string,
    work: SettlementContext,
  ): Promise<SettleResult> => {
    const { callerNetwork } = work.payment
    const current = await withShortDeadline(journal.find(settlement.id)).catch(() => null)
    return current?.state === 'confirmed' && current.consumedBy === work.consumer
      ? succeed(current, current.transaction ?? transaction, callerNetwork)
      : answerPending(settlement, transaction, callerNetwork)
  }

  /** Abandons a claim; answers its row where that could not be, and then nobody here attends it any more. */
  const abandonClaim = async ({ id }: Settlement): Promise<Settlement | null> => {
    if (await journal.abandon(id)) return null
    // Before we look: whether or not we can.
    await journal.release(id)
    return await journal.find(id)
  }

  /**
   * Gives up a claim for which nothing was recorded. A recording can succeed although its answer was lost;
   * then the bytes will be sent, and the caller is told so.
   */
  const abandonUnrecorded = async (
    settlement: Settlement,
    { payment }: SettlementContext,
  ): Promise<SettleResult | null> => {
    try {
      const found = await withShortDeadline(abandonClaim(settlement))
      if (found === null || found.state !== 'pending') return null
      logger.warn({ ...describeSettlement(settlement), transaction: found.transaction }, 'settlement.pending')
      return answerPending(found, found.transaction, payment.callerNetwork)
    } catch (error) {
      // The reconciler will find the row.
      logger.error({ ...describeSettlement(settlement), error }, 'settlement.abandon_failed')
      return null
    }
  }

  return async (settlement, authorized, work) => {
    const named = describeSettlement(settlement)
    logger.info(named, 'settlement.opened')
    let recorded: string | null = null
    const recorder = observe(journal.recorderFor(settlement.id), (transaction) => {
      recorded = transaction
      logger.info({ ...named, transaction }, 'settlement.broadcast')
    })

    let outcome: Outcome
    try {
      outcome = await authorized.settle(recorder, { waitUntil: work.waitUntil })
    } catch (error) {
      if (recorded === null) {
        const answer = await abandonUnrecorded(settlement, work)
        if (answer !== null) return answer
        throw asSettleFailure(error)
      }
      logger.error({ ...named, error }, 'settlement.interrupted')
      outcome = { state: 'pending', transaction: recorded }
    }

    try {
      return await conclude(settlement, outcome, work)
    } catch (error) {
      // A confirmed payment may have moved without a recording: verify-only schemes send nothing.
      const transaction = recorded ?? (outcome.state === 'confirmed' ? outcome.transaction : null)
      if (transaction === null) throw asSettleFailure(error)
      // Success is answered only when the journal holds it; otherwise the reconciler closes the row.
      logger.error({ ...named, error }, 'settlement.close_failed')
      return await answerDespiteFailure(settlement, transaction, work)
    }
  }
}

const observe = (recorder: Recorder, onRecorded: (transaction: string) => void): Recorder => ({
  settlementId: recorder.settlementId,
  record: async (signed, write) => {
    await recorder.record(signed, write)
    onRecorded(signed.transaction)
  },
})
