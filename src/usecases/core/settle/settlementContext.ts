import { deadlineSignal, withTimeout } from '../../../concurrency/deadline.js'
import { AppError } from '../../../errors.js'
import type { Promisee } from '../../../ports/holds.js'
import type { Logger } from '../../../ports/logger.js'
import type { Requester } from '../../../ports/rateLimiter.js'
import type { Settlement } from '../../../ports/settlementJournal.js'
import type { Payment } from '../../../protocol/payment.js'
import type { SettleResult } from '../../../protocol/results.js'
import type { Authorized, Outcome, Refusal, Scheme } from '../../../schemes/scheme.js'
import { hasSharedOutcome } from '../../../schemes/sharedOutcome.js'
import { fingerprintJson } from '../idempotency/fingerprint.js'
import type { SettleRequest } from '../useCases.js'

export interface SettleAttempt extends Pick<SettleRequest, 'caller' | 'requester' | 'quota' | 'requestId'> {
  readonly payment: Payment
  /** SHA-256 of the canonical body. Lazy, so that payments without a scheme do not pay for hashing. */
  readonly fingerprint: string | (() => string)
  /** Identity for `journal.consume`: the same for retries with one Idempotency-Key, else new per request. */
  readonly consumer: string
  /**
   * False once the client disconnected: a success that it can no longer receive is left for a later request. Absent for
   * a consumer that can ask again.
   */
  readonly isAwaited?: () => boolean
  /** What the funds are held for since they were verified, as in `FundsHold`. Default: `settle`, which holds them now. */
  readonly holdPurpose?: string
  /** When the hold ends by itself; default: when the resource server stops to wait. */
  readonly holdUntil?: Date
  /** Concurrency and hourly limits were checked when its stream was opened; they must not delay the close. */
  readonly isAdmitted?: boolean
  /** What it moves is lost if it waits: limits do not delay it either, and as in `SettleOptions`. */
  readonly isUrgent?: boolean
  /** Transfers that the payer sent itself before this time are refused. */
  readonly paidAfter?: Date
  /** Transfers that the payer sent itself after this time are refused. */
  readonly paidBefore?: Date
  /** Called before each claim; a refusal ends the attempt, and nothing is sent. */
  readonly admit?: (authorized: Authorized) => Promise<Refusal | null>
  /** Called with each row that was claimed, before anything is sent; a refusal or an error abandons it. */
  readonly onClaimed?: (settlement: Settlement) => Promise<Refusal | null>
  /** Called when something may leave, or the payment was made. */
  readonly onSent?: () => void
  /** Another body with the same proof is another request, also of the same account. */
  readonly isBodyBound?: boolean
}

/** Whom limits of settlements count: the customer, or `anonymous`. */
export const findCustomer = ({ caller, quota }: Pick<SettleAttempt, 'caller' | 'quota'>): string =>
  quota?.customer ?? caller

/**
 * Of whom few settlements run at once. Claims and sweeps, which strangers can ask for as well, count for who asks, and so does
 * what continues a payment: its payer could occupy the places until a deadline.
 */
export const findSlotOwner = (
  asking: Pick<SettleAttempt, 'caller' | 'quota' | 'payment'> & { readonly isContinued: boolean },
  { payer, details }: Pick<Authorized, 'payer' | 'details'>,
): string => {
  const owner = `${asking.payment.requirements.network} ${payer}`
  return asking.isContinued || hasSharedOutcome({ details }) ? `${owner} ${findCustomer(asking)}` : owner
}

/** Whose part of a budget is used: the customer, the address of customers that are not proven, or `anonymous`. */
export const findSpender = ({
  caller,
  quota,
  requester,
}: Pick<SettleAttempt, 'caller' | 'quota'> & { readonly requester?: Requester | undefined }): string =>
  caller === 'anonymous' ? caller : (requester?.site ?? requester?.name ?? findCustomer({ caller, quota }))

/** Whom a settlement is promised to. */
export const findPromisee = (asking: Parameters<typeof findSpender>[0]): Promisee => ({
  part: findSpender(asking),
  customer: findCustomer(asking),
})

/** How long a request waits for the outcome of its settlement. */
interface SettleWait {
  /** Aborted when the wait ends; the answer is `settlement_pending` if something was recorded. */
  readonly signal: AbortSignal
  /** The settlement has a transaction, or another request has claimed it. */
  onOpened(): void
}

export type StartSettleWait = (milliseconds: number) => SettleWait

export const startSettleWait: StartSettleWait = (milliseconds) => ({
  signal: deadlineSignal(milliseconds),
  onOpened: () => undefined,
})

export interface SettlementContext extends SettleAttempt {
  readonly fingerprint: string
  /** Null for anonymous callers. */
  readonly proofFingerprint: string | null
  readonly scheme: Scheme
  /** Whether the payment moves what an earlier one collected. */
  readonly isContinued: boolean
  readonly wait: SettleWait
}

/**
 * Only a retry by the same caller may share the outcome. Anonymous callers must send the same body. An account may send
 * another body with the same proof, if what it requires now is what the settlement pays.
 */
export const isSameRequest = (
  settlement: Settlement,
  context: Pick<SettlementContext, 'caller' | 'fingerprint' | 'proofFingerprint' | 'payment'> & {
    readonly isForVerify?: boolean
  },
): boolean => {
  if (settlement.caller !== context.caller) return false
  if (settlement.fingerprint === context.fingerprint) return true
  const { proofFingerprint } = context
  return (
    proofFingerprint !== null &&
    settlement.proofFingerprint === proofFingerprint &&
    paysRequirements(settlement, context.payment) &&
    paysAmount(settlement, context.payment, context.isForVerify === true)
  )
}

const paysRequirements = (settlement: Settlement, { requirements }: Payment): boolean =>
  settlement.scheme === requirements.scheme &&
  settlement.network === requirements.network &&
  settlement.asset === requirements.asset &&
  settlement.payTo === requirements.payTo

/** At settle, `upto` requires one charge, by `settleAmount` or in x402 by `amount`; at verify, `amount` is the maximum. */
const paysAmount = (
  settlement: Settlement,
  { requirements, settleAmount }: Payment,
  isForVerify: boolean,
): boolean => {
  const isMaximum = isForVerify && settleAmount === null && requirements.scheme === 'upto'
  const paid = isMaximum ? settlement.authorizedAmount : settlement.amount
  return paid === (settleAmount ?? requirements.amount)
}

/** Null for anonymous callers, who share one name. */
export const fingerprintProof = (caller: string, { proof }: Payment): string | null =>
  caller === 'anonymous' ? null : fingerprintJson(proof)

/** Whether this request may consume a success. */
export const canReceive = ({ isAwaited }: Pick<SettleAttempt, 'isAwaited'>): boolean =>
  isAwaited === undefined || isAwaited()

/** Log fields of a settlement; never the payload. */
export const describeSettlement = ({
  id,
  caller,
  authorizationId,
  network,
  scheme,
  payer,
  amount,
}: Settlement) => ({
  settlementId: id,
  account: caller,
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
export const withShortDeadline = <T>(work: Promise<T>): Promise<T> => withTimeout(work, shortDeadlineMs)

/** Maps failures before a recording to SETTLEMENT_FAILED; application errors pass unchanged. */
export const asSettleFailure = (error: unknown): AppError => {
  if (error instanceof AppError) return error
  const message = 'The payment could not be settled; retry the same request'
  return new AppError('SETTLEMENT_FAILED', message, { cause: error, operationalCode: 'SVC-3002' })
}

/** Adds what a success left on chain. Without it the success stands. */
export const createAddState =
  (logger: Pick<Logger, 'error'>, deadlineMs = shortDeadlineMs) =>
  async (
    scheme: Scheme,
    { payment, caller: account, requestId }: Pick<SettleAttempt, 'payment' | 'caller' | 'requestId'>,
    result: SettleResult,
  ): Promise<SettleResult> => {
    if (!result.success || scheme.settledState === null) return result
    try {
      return {
        ...result,
        ...(await withTimeout(scheme.settledState.describe(payment, result.transaction), deadlineMs)),
      }
    } catch (error) {
      const { settlementId } = result
      const named = { settlementId, account, ...(requestId === undefined ? {} : { requestId }) }
      logger.error({ ...named, error }, 'settlement.state_unread')
      return result
    }
  }
