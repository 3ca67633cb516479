import { withSignal } from '../../concurrency/deadline.js'
import { AppError } from '../../errors.js'
import type { Settlement } from '../../ports/settlementJournal.js'
import type { Payment } from '../../protocol/payment.js'
import type { Outcome, Scheme } from '../../schemes/scheme.js'
import type { SettleRequest } from './useCases.js'

export interface SettleAttempt extends Pick<SettleRequest, 'caller' | 'quota'> {
  readonly payment: Payment
  /** SHA-256 of the canonical body. Lazy, so that payments without a scheme do not pay for hashing. */
  readonly fingerprint: string | (() => string)
  /** Identity for `journal.consume`: the same for retries with one Idempotency-Key, else new per request. */
  readonly consumer: string
}

export interface SettlementContext extends SettleAttempt {
  readonly fingerprint: string
  readonly scheme: Scheme
  readonly waitUntil: AbortSignal
}

/** Only a retry of the same request by the same caller may share the outcome. */
export const isSameRequest = (
  settlement: Pick<Settlement, 'caller' | 'fingerprint'>,
  { caller, fingerprint }: Pick<SettlementContext, 'caller' | 'fingerprint'>,
): boolean => settlement.caller === caller && settlement.fingerprint === fingerprint

/** Log fields of a settlement; never the payload. */
export const describeSettlement = ({ id, authorizationId, network, scheme, payer, amount }: Settlement) => ({
  settlementId: id,
  authorizationId,
  network,
  scheme,
  payer,
  amount: amount.toString(),
})

export const describeOutcome = (outcome: Outcome) => {
  if (outcome.state !== 'confirmed') return outcome
  const { block, settledAmount, gasUsed, ...rest } = outcome
  return {
    ...rest,
    ...(settledAmount === undefined ? {} : { settledAmount: settledAmount.toString() }),
    ...(gasUsed === undefined ? {} : { gasUsed: gasUsed.toString() }),
    ...(block === undefined ? {} : { blockNumber: block.number.toString(), blockHash: block.hash }),
  }
}

const shortDeadlineMs = 2_000

/** Caps how long a decided response waits for bookkeeping. The work continues after the deadline. */
export const withShortDeadline = <T>(work: Promise<T>): Promise<T> =>
  withSignal(work, AbortSignal.timeout(shortDeadlineMs))

/** Maps failures before a recording to SETTLEMENT_FAILED; application errors pass unchanged. */
export const asSettleFailure = (error: unknown): AppError => {
  if (error instanceof AppError) return error
  const message = 'The payment could not be settled; retry the same request'
  return new AppError('SETTLEMENT_FAILED', message, { cause: error, operationalCode: 'SVC-3002' })
}
