import type { Clock } from '../../../ports/clock.js'
import type { Logger } from '../../../ports/logger.js'
import type { Settlement, SettlementJournal } from '../../../ports/settlementJournal.js'
import type { SettleResult } from '../../../protocol/results.js'
import { type AnswerFromSettlement, answerDuplicate, answerPending } from './settleAnswers.js'
import { describeSettlement, isSameRequest, type SettlementContext } from './settlementContext.js'

/** Waits for another request's settlement; null if it was abandoned and a new attempt may start. */
type JoinSettlement = (existing: Settlement, context: SettlementContext) => Promise<SettleResult | null>

interface JoinSettlementDependencies {
  readonly journal: SettlementJournal
  readonly answerFromSettlement: AnswerFromSettlement
  readonly clock: Clock
  readonly logger: Logger
}

const firstPollMs = 50
const maxPollMs = 500

/** Polls the journal only, never the chain. */
export const createJoinSettlement = ({
  journal,
  answerFromSettlement,
  clock,
  logger,
}: JoinSettlementDependencies): JoinSettlement => {
  /** Whether nothing was sent, so that there is no outcome to wait for. */
  const isAbandoned = async ({ id, state, reason, isOwned }: Settlement): Promise<boolean> => {
    if (state === 'failed') return reason === 'settlement_abandoned'
    if (state !== 'claimed' || isOwned) return false
    await journal.abandon(id)
    return true
  }

  /** Re-reads the row; returns the last known one if the database is unavailable. */
  const refresh = async (settlement: Settlement): Promise<Settlement | null> => {
    try {
      return await journal.find(settlement.id)
    } catch (error) {
      // Something may have been sent, so an error without a result would be wrong.
      logger.warn({ ...describeSettlement(settlement), error }, 'settlement.read_failed')
      return settlement
    }
  }

  return async (existing, context) => {
    const { callerNetwork } = context.payment
    let settlement = existing
    let pollMs = firstPollMs
    for (;;) {
      if (await isAbandoned(settlement)) return null
      const answer = await answerFromSettlement(settlement, context)
      if (answer !== null) return answer
      // A different request for the same authorization: the payment belongs to the first one.
      if (!isSameRequest(settlement, context)) {
        const { caller } = context
        return answerDuplicate(settlement, { callerNetwork, now: clock.now(), caller })
      }
      if (!(await clock.sleep(pollMs, context.wait.signal))) {
        return answerPending(settlement, settlement.transaction, callerNetwork)
      }
      pollMs = Math.min(pollMs * 2, maxPollMs)
      const current = await refresh(settlement)
      if (current === null) return null
      settlement = current
    }
  }
}
