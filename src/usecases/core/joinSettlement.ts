import type { Clock } from '../../ports/clock.js'
import type { Logger } from '../../ports/logger.js'
import type { Settlement, SettlementJournal } from '../../ports/settlementJournal.js'
import type { SettleResult } from '../../protocol/results.js'
import type { AnswerFromSettlement } from './answerFromSettlement.js'
import { answerDuplicate, answerPending } from './settleAnswers.js'
import { describeSettlement, isSameRequest, type SettlementContext } from './settlementContext.js'

/** Waits with a settlement that another request began; null when it left nothing behind and we may begin. */
export type JoinSettlement = (found: Settlement, work: SettlementContext) => Promise<SettleResult | null>

export interface JoinSettlementDependencies {
  readonly journal: SettlementJournal
  readonly answerFromSettlement: AnswerFromSettlement
  readonly clock: Clock
  readonly logger: Logger
}

const firstPollMs = 50
const maxPollMs = 500

/** Lets a retry share the outcome of the settlement that is under way; only the journal is asked, never the chain. */
export const createJoinSettlement = ({
  journal,
  answerFromSettlement,
  clock,
  logger,
}: JoinSettlementDependencies): JoinSettlement => {
  /** Whether the settlement came to nothing before anything was sent, so that there is nothing to join. */
  const isAbandoned = async ({ id, state, reason, isOwned }: Settlement): Promise<boolean> => {
    if (state === 'failed') return reason === 'settlement_abandoned'
    if (state !== 'claimed' || isOwned) return false
    await journal.abandon(id)
    return true
  }

  /** The row as it is now; the last known one while the database does not answer. */
  const look = async (settlement: Settlement): Promise<Settlement | null> => {
    try {
      return await journal.find(settlement.id)
    } catch (error) {
      // Something was sent perhaps, so the caller must not be told that nothing was decided.
      logger.warn({ ...describeSettlement(settlement), error }, 'settlement.read_failed')
      return settlement
    }
  }

  return async (found, work) => {
    const { callerNetwork } = work.payment
    let settlement = found
    let pollMs = firstPollMs
    for (;;) {
      if (await isAbandoned(settlement)) return null
      const answer = await answerFromSettlement(settlement, work)
      if (answer !== null) return answer
      // For another resource or another caller: the first one's payment, whatever becomes of it.
      if (!isSameRequest(settlement, work)) return answerDuplicate(settlement, callerNetwork)
      if (!(await clock.sleep(pollMs, work.waitUntil))) {
        return answerPending(settlement, settlement.transaction, callerNetwork)
      }
      pollMs = Math.min(pollMs * 2, maxPollMs)
      const current = await look(settlement)
      if (current === null) return null
      settlement = current
    }
  }
}
