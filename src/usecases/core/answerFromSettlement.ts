import type { Settlement, SettlementJournal } from '../../ports/settlementJournal.js'
import type { SettleResult } from '../../protocol/results.js'
import { answerDuplicate, answerPending, failSettle, succeed } from './settleAnswers.js'
import { isSameRequest, type SettlementContext, withShortDeadline } from './settlementContext.js'

/** Tells a caller what became of a closed settlement; null while it is open. */
export type AnswerFromSettlement = (
  settlement: Settlement,
  work: SettlementContext,
) => Promise<SettleResult | null>

/** Builds the one place where a caller that did not close a row itself may be told success. */
export const createAnswerFromSettlement = (journal: SettlementJournal): AnswerFromSettlement => {
  /** Whether this caller is the one to be told; null when the journal cannot say. */
  const isConsumer = async (settlement: Settlement, work: SettlementContext): Promise<boolean | null> => {
    try {
      return await journal.consume(settlement.id, work.consumer)
    } catch {
      // The answer may have been lost after the row was written.
      const current = await withShortDeadline(journal.find(settlement.id)).catch(() => null)
      return current?.consumedBy == null ? null : current.consumedBy === work.consumer
    }
  }

  return async (settlement, work) => {
    const { callerNetwork } = work.payment
    switch (settlement.state) {
      case 'confirmed': {
        if (!isSameRequest(settlement, work)) return answerDuplicate(settlement, callerNetwork)
        switch (await isConsumer(settlement, work)) {
          case true:
            return succeed(settlement, settlement.transaction ?? '', callerNetwork)
          case false:
            return answerDuplicate(settlement, callerNetwork)
          case null:
            return answerPending(settlement, settlement.transaction, callerNetwork)
        }
        break
      }
      case 'failed':
        return failSettle(settlement, settlement.reason ?? 'settlement_abandoned', callerNetwork)
      case 'claimed':
      case 'pending':
        return null
    }
  }
}
