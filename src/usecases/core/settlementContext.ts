import { withSignal } from '../../concurrency/deadline.js'
import { AppError } from '../../errors.js'
import type { Settlement } from '../../ports/settlementJournal.js'
import type { Payment } from '../../protocol/payment.js'
import type { Outcome, Scheme } from '../../schemes/scheme.js'
import type { SettleRequest } from './useCases.js'

/** A payment to settle, for whom, and what makes two attempts the same request. */
export interface SettleAttempt extends Pick<SettleRequest, 'caller' | 'quota'> {
  readonly payment: Payment
  /** Hash of the canonical request; a function is called once the payment has a scheme, because hashing costs more. */
  readonly fingerprint: string | (() => string)
  /** Who is told success: the same for retries with one Idempotency-Key, else a new one each time. */
  readonly consumer: string
}

/** An attempt for which there is a scheme. */
export interface SettlementContext extends SettleAttempt {
  readonly fingerprint: string
  readonly scheme: Scheme
  /** Ends the caller's wait for the outcome, never the settlement. */
  readonly waitUntil: AbortSignal
}

/** A retry of the same request may share its outcome; the same authorization for anything else may not. */
export const isSameRequest = (
  settlement: Pick<Settlement, 'caller' | 'fingerprint'>,
  { caller, fingerprint }: Pick<SettlementContext, 'caller' | 'fingerprint'>,
): boolean => settlement.caller === caller && settlement.fingerprint === fingerprint

/** What a log line says of a settlement: whose and how much, never the payload. */
export const describeSettlement = ({ id, authorizationId, network, scheme, payer, amount }: Settlement) => ({
  settlementId: id,
  authorizationId,
  network,
  scheme,
  payer,
  amount: amount.toString(),
})

/** What a log line says of an outcome: plain JSON, in one level. */
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

// What an answer waits for once it is decided.
const shortDeadlineMs = 2_000

/** Lets a caller whose answer is decided wait for the stores only a little; the work goes on without it. */
export const withShortDeadline = <T>(work: Promise<T>): Promise<T> =>
  withSignal(work, AbortSignal.timeout(shortDeadlineMs))

/** Whatever stopped an attempt before it was recorded, in the caller's terms. */
export const asSettleFailure = (error: unknown): AppError => {
  if (error instanceof AppError) return error
  const message = 'The payment could not be settled now; the same request can be repeated'
  return new AppError('SETTLEMENT_FAILED', message, { cause: error, operationalCode: 'SVC-3002' })
}
