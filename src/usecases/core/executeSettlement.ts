import type { Logger } from '../../ports/logger.js'
import type { Recorder, Settlement, SettlementJournal } from '../../ports/settlementJournal.js'
import type { SettleResult } from '../../protocol/results.js'
import type { Outcome } from '../../schemes/scheme.js'
import type { AnswerFromSettlement } from './answerFromSettlement.js'
import { answerPending, failSettle, succeed } from './settleAnswers.js'
import {
  asSettleFailure,
  describeOutcome,
  describeSettlement,
  type SettlementContext,
  withShortDeadline,
} from './settlementContext.js'

/** Settles what we hold the claim for: nobody else sends this payment. */
export type ExecuteSettlement = (settlement: Settlement, work: SettlementContext) => Promise<SettleResult>

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
      return outcome.state === 'confirmed'
        ? succeed(settlement, outcome.transaction, callerNetwork)
        : failSettle(settlement, outcome.reason, callerNetwork)
    }
    // The reconciler was quicker; what it wrote is what everyone is told. Open again: its block was taken back.
    const closed = await journal.find(settlement.id)
    const isClosed = closed?.state === 'confirmed' || closed?.state === 'failed'
    if (isClosed && closed.state !== outcome.state) {
      logger.error({ ...named, written: closed.state }, 'settlement.contradiction')
    }
    const told = closed === null ? null : await answerFromSettlement(closed, work)
    const transaction = outcome.transaction ?? closed?.transaction ?? null
    return told ?? answerPending(settlement, transaction, callerNetwork)
  }

  /** The journal did not answer when the row was to be closed: perhaps it was, and only the answer was lost. */
  const answerDespiteFailure = async (
    settlement: Settlement,
    recorded: string,
    work: SettlementContext,
  ): Promise<SettleResult> => {
    const { callerNetwork } = work.payment
    const current = await withShortDeadline(journal.find(settlement.id)).catch(() => null)
    return current?.state === 'confirmed' && current.consumedBy === work.consumer
      ? succeed(current, current.transaction ?? recorded, callerNetwork)
      : answerPending(settlement, recorded, callerNetwork)
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

  return async (settlement, work) => {
    const { payment, scheme, waitUntil } = work
    const named = describeSettlement(settlement)
    logger.info(named, 'settlement.opened')
    let recorded: string | null = null
    const recorder = observe(journal.recorderFor(settlement.id), (transaction) => {
      recorded = transaction
      logger.info({ ...named, transaction }, 'settlement.broadcast')
    })

    let outcome: Outcome
    try {
      outcome = await scheme.settle(payment, recorder, { waitUntil })
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
      if (recorded === null) throw asSettleFailure(error)
      // Success may be told only when the journal holds it; otherwise the reconciler closes the row.
      logger.error({ ...named, error }, 'settlement.close_failed')
      return await answerDespiteFailure(settlement, recorded, work)
    }
  }
}

const observe = (recorder: Recorder, onRecorded: (transaction: string) => void): Recorder => ({
  settlementId: recorder.settlementId,
  record: async (signed) => {
    await recorder.record(signed)
    onRecorded(signed.transaction)
  },
  onRecorded: (signed) => {
    recorder.onRecorded(signed)
    onRecorded(signed.transaction)
  },
})
