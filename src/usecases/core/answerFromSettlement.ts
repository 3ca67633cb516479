import type { Clock } from '../../ports/clock.js'
import type { Settlement, SettlementJournal } from '../../ports/settlementJournal.js'
import type { SettleResult } from '../../protocol/results.js'
import { answerDuplicate, answerPending, failSettle, succeed } from './settleAnswers.js'
import { canReceive, isSameRequest, type SettlementContext, withShortDeadline } from './settlementContext.js'

/** Answers a request from a closed settlement; null while it is open. */
export type AnswerFromSettlement = (
  settlement: Settlement,
  context: SettlementContext,
) => Promise<SettleResult | null>

/** The only place that answers `success: true` to a request that did not close the row itself. */
export const createAnswerFromSettlement = (
  journal: SettlementJournal,
  clock: Clock,
): AnswerFromSettlement => {
  const isConsumer = async (settlement: Settlement, context: SettlementContext): Promise<boolean | null> => {
    try {
      return await journal.consume(settlement.id, context.consumer)
    } catch {
      // The row may be written although the response was lost.
      const current = await withShortDeadline(journal.find(settlement.id)).catch(() => null)
      return current?.consumedBy == null ? null : current.consumedBy === context.consumer
    }
  }

  return async (settlement, context) => {
    const { callerNetwork } = context.payment
    const answered = { callerNetwork, now: clock.now(), caller: context.caller }
    switch (settlement.state) {
      case 'confirmed': {
        if (!isSameRequest(settlement, context)) return answerDuplicate(settlement, answered)
        if (!canReceive(context)) return answerPending(settlement, settlement.transaction, callerNetwork)
        switch (await isConsumer(settlement, context)) {
          case true:
            return succeed(settlement, settlement.transaction ?? '', callerNetwork)
          case false:
            return answerDuplicate(settlement, answered)
          case null:
            return answerPending(settlement, settlement.transaction, callerNetwork)
        }
        break
      }
      case 'failed':
        return failSettle(settlement, settlement.reason ?? 'settlement_abandoned', answered)
      case 'claimed':
      case 'pending':
        return null
    }
  }
}
