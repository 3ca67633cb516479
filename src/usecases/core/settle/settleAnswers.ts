import type { Clock } from '../../../ports/clock.js'
import type { Logger } from '../../../ports/logger.js'
import type { Settlement, SettlementJournal } from '../../../ports/settlementJournal.js'
import { isFinal, type Reason } from '../../../protocol/reasons.js'
import { refusalFields, type SettleResult } from '../../../protocol/results.js'
import type { Authorized } from '../../../schemes/scheme.js'
import { hasRepeatableOutcome, hasSharedOutcome } from '../../../schemes/sharedOutcome.js'
import {
  canReceive,
  describeSettlement,
  isSameRequest,
  type SettlementContext,
  withShortDeadline,
} from './settlementContext.js'

/** `now` decides whether an authorization has expired, so that the same request cannot succeed. */
interface AnswerContext {
  readonly callerNetwork: string
  readonly now: Date
}

/** Funds moved, and this request is the consumer. */
export const succeed = (
  settlement: Settlement,
  transaction: string,
  callerNetwork: string,
): SettleResult => ({
  success: true,
  transaction,
  network: callerNetwork,
  payer: settlement.payer,
  amount: (settlement.settledAmount ?? settlement.amount).toString(),
  settlementId: settlement.id,
  status: 'confirmed',
  ...(partSchemes.includes(settlement.scheme) ? describePart(settlement, transaction) : {}),
})

/** Nothing was left to do: there is neither a settlement nor a transaction. */
export const succeedReached = (
  callerNetwork: string,
  { payer }: Pick<Authorized, 'payer'>,
): SettleResult => ({ success: true, transaction: '', network: callerNetwork, payer, amount: '0' })

// What they move can be less than what was authorized.
const partSchemes: readonly string[] = ['upto', 'auth-capture']

/** The specification's result of `upto`, from the journal row alone: the same for every request that is answered. */
const describePart = (
  { settledAmount, amount, authorizedAmount, block, gasUsed }: Settlement,
  transaction: string,
): Partial<SettleResult> => ({
  transactionHash: transaction,
  settledAmount: (settledAmount ?? amount).toString(),
  maxAmount: authorizedAmount.toString(),
  ...(block === null ? {} : { blockNumber: Number(block.number) }),
  ...(gasUsed === null ? {} : { gasUsed: gasUsed.toString() }),
})

export interface RefusedRequest extends Refused {
  readonly payer?: string | null
}

/** The journal has lost the settlement that earned the success of the authorization. */
export const consumedBefore = {
  reason: 'duplicate_settlement',
  message:
    'This authorization was settled before; the facilitator has no record of the request that it was settled for',
  isFinal: true,
} as const

/** Answers a request that has no settlement. */
export const refuseSettle = (callerNetwork: string, { payer, ...refused }: RefusedRequest): SettleResult => ({
  ...failure(callerNetwork, refused),
  ...(payer == null ? {} : { payer }),
})

/** Permanent failure: no funds moved. */
export const failSettle = (
  settlement: Settlement,
  reason: Reason,
  { callerNetwork, now }: AnswerContext,
): SettleResult => ({
  ...failure(callerNetwork, { reason, isFinal: isFinal(reason, settlement, now) }),
  payer: settlement.payer,
  settlementId: settlement.id,
  status: 'failed',
})

/** Sent, outcome unknown. Includes the transaction, so that the payer is not asked to pay again. */
export const answerPending = (
  settlement: Settlement,
  transaction: string | null,
  callerNetwork: string,
): SettleResult => ({
  ...failure(callerNetwork, { reason: 'settlement_pending' }),
  transaction: transaction ?? '',
  payer: settlement.payer,
  settlementId: settlement.id,
  status: 'pending',
})

/** The authorization belongs to another request: this one must not deliver. */
const answerDuplicate = (
  settlement: Settlement,
  { callerNetwork, now, caller }: AnswerContext & { readonly caller: string },
): SettleResult => ({
  ...failure(callerNetwork, {
    reason: 'duplicate_settlement',
    message: describeWinner(settlement, caller),
    isFinal: isFinal('duplicate_settlement', settlement, now),
  }),
  transaction: settlement.transaction ?? '',
  payer: settlement.payer,
  settlementId: settlement.id,
})

/**
 * Under `upto` two requests can differ in nothing but the amount. Under `exact-direct` the other request can be a
 * stranger's, who saw the transaction on chain.
 */
export const describeWinner = (settlement: Settlement, caller: string): string | undefined => {
  const { scheme, state, settledAmount, amount, authorizedAmount } = settlement
  if (scheme === 'exact-direct') {
    const verb = state === 'confirmed' ? 'claimed' : 'is claiming'
    const claimer =
      settlement.caller === caller && caller !== 'anonymous' ? 'Another request' : 'Another caller'
    return `${claimer} ${verb} this transaction; a recipient can state what claims must show`
  }
  if (scheme !== 'upto') return undefined
  const figures = `${settledAmount ?? amount} of at most ${authorizedAmount}`
  const verb = state === 'confirmed' ? 'was already settled' : 'is already being settled'
  return `This authorization ${verb} for another request: ${figures}`
}

interface Refused {
  readonly reason: Reason
  readonly message?: string | undefined
  readonly isFinal?: boolean
}

const failure = (network: string, refused: Refused): SettleResult => {
  const { reason, message, ...operational } = refusalFields(refused.reason, refused.message, refused.isFinal)
  return {
    success: false,
    errorReason: reason,
    errorMessage: message,
    ...operational,
    transaction: '',
    network,
  }
}

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
        if (hasSharedOutcome(settlement)) {
          const isKnown = hasRepeatableOutcome(settlement) || (await isConsumer(settlement, context)) !== null
          const transaction = settlement.transaction ?? ''
          return isKnown
            ? succeed(settlement, transaction, callerNetwork)
            : answerPending(settlement, transaction, callerNetwork)
        }
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
      if (!hasSharedOutcome(settlement) && !isSameRequest(settlement, context)) {
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
