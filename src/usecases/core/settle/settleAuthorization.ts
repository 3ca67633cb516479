import { withSignal } from '../../../concurrency/deadline.js'
import { AppError } from '../../../errors.js'
import type { Clock } from '../../../ports/clock.js'
import type { Logger } from '../../../ports/logger.js'
import type { QuotaClaim } from '../../../ports/quotas.js'
import type { Settlement, SettlementJournal } from '../../../ports/settlementJournal.js'
import { findClaimedPayer } from '../../../protocol/readPayment.js'
import type { SettleResult } from '../../../protocol/results.js'
import { findUsageWarning } from '../../../protocol/usage.js'
import type { SchemeRegistry } from '../../../schemes/registry.js'
import type { Authorized, Refusal } from '../../../schemes/scheme.js'
import { withAsker } from '../../../schemes/sharedOutcome.js'
import { normalizeWith } from '../../../schemes/spelling.js'
import { type ConcurrencyLimits, findDollarDecimals, type SpendingLimits } from '../limits.js'
import { checkRequirements, findScheme } from '../verify/checkRequirements.js'
import { type ClaimRules, noClaimRules } from '../verify/claimRules.js'
import { type HoldBinding, noHoldBinding } from '../verify/holdBinding.js'
import { canBeHeld, type Held, type HoldFunds, type IsHeld } from '../verify/holdFunds.js'
import { noPauses, type PauseGate } from '../verify/pauses.js'
import type { FindStreamed } from '../verify/streamedChannels.js'
import { createExecuteSettlement } from './executeSettlement.js'
import {
  consumedBefore,
  createAnswerFromSettlement,
  createJoinSettlement,
  refuseSettle,
  succeedReached,
} from './settleAnswers.js'
import {
  asSettleFailure,
  createAddState,
  findCustomer,
  findSlotOwner,
  fingerprintProof,
  type SettleAttempt,
  type SettlementContext,
  type StartSettleWait,
  startSettleWait,
  withShortDeadline,
} from './settlementContext.js'
import { createVerifyToSettle } from './verifyToSettle.js'

/** A retry joins the first attempt; a different request is answered `duplicate_settlement`. */
export type SettleAuthorization = (attempt: SettleAttempt) => Promise<SettleResult>

export interface SettleAuthorizationDependencies {
  readonly registry: SchemeRegistry
  readonly journal: SettlementJournal
  readonly holdFunds: HoldFunds
  /** Default: nothing is held before. */
  readonly isHeld?: IsHeld
  /** Default: payments carry a signature. */
  readonly claimRules?: ClaimRules
  /** Default: holds are bound to no account. */
  readonly holdBinding?: HoldBinding
  /** Default: no channel pays a stream. */
  readonly findStreamed?: FindStreamed
  /** Default: nothing is paused. */
  readonly pauses?: PauseGate
  readonly limits: SpendingLimits
  readonly concurrency: ConcurrencyLimits
  readonly clock: Clock
  readonly logger: Logger
  /** Maximum wait for the outcome; then the answer is `settlement_pending`. */
  readonly waitMs: number
  /** Default: the wait includes what precedes the recording. */
  readonly startWait?: StartSettleWait
  /** A success waits so long at most for what it left on chain. Default: 2 s. */
  readonly stateDeadlineMs?: number
}

// A row can fail between two reads, or be abandoned after a crash, and a hold can prevent a claim; then the attempt starts
// again.
const maxRounds = 4

const defaultPurpose = 'settle'
/** What moves an earlier payment counts and is never refused: the payer would take back what was earned. */
const chargeOf = ({ accountId, customer = accountId, tier }: QuotaClaim, isContinued: boolean) => ({
  customer,
  tier: isContinued ? { ...tier, monthlyQuota: -1 } : tier,
})

/** Order: find or join an earlier attempt, verify, claim, record, send, close. */
export const createSettleAuthorization = ({
  registry,
  journal,
  holdFunds,
  isHeld = async () => false,
  claimRules = noClaimRules,
  holdBinding = noHoldBinding,
  findStreamed = async () => null,
  pauses = noPauses,
  limits,
  concurrency,
  clock,
  logger,
  waitMs,
  startWait = startSettleWait,
  stateDeadlineMs,
}: SettleAuthorizationDependencies): SettleAuthorization => {
  const verifyToSettle = createVerifyToSettle({ isHeld, pauses })
  const answerFromSettlement = createAnswerFromSettlement(journal, clock)
  const execute = createExecuteSettlement({ journal, answerFromSettlement, limits, clock, logger })
  const join = createJoinSettlement({ journal, answerFromSettlement, clock, logger })
  const addState = createAddState(logger, stateDeadlineMs)

  const settle = async (context: SettlementContext): Promise<SettleResult> => {
    const { payment, scheme, isContinued, wait, holdUntil } = context
    const { isUrgent = false, isAdmitted = isUrgent, paidAfter, paidBefore } = context
    const waitUntil = wait.signal
    const terms = {
      caller: context.caller,
      purpose: context.holdPurpose ?? defaultPurpose,
      ...(holdUntil === undefined ? {} : { until: holdUntil }),
    }
    const authorizationId = scheme.identify(payment)
    for (let round = 0; round < maxRounds; round++) {
      const existing = authorizationId === null ? null : await journal.findOpen(authorizationId)
      if (existing !== null) {
        wait.onOpened()
        const joined = await join(existing, context)
        if (joined !== null) return joined
        continue
      }

      /** Null: another request has settled meanwhile; then the attempt starts again. */
      const refuse = async (refusal: Refusal): Promise<SettleResult | null> => {
        const settled = authorizationId === null ? null : await journal.findOpen(authorizationId)
        return settled === null ? refuseSettle(payment.callerNetwork, refusal) : null
      }
      const admitted = await withSignal(
        claimRules.judge(scheme, {
          requirements: payment.requirements,
          caller: context.caller,
          isForSettle: true,
        }),
        waitUntil,
      )
      if ('refusal' in admitted) {
        const refused = await refuse({
          isValid: false,
          payer: findClaimedPayer(payment.proof),
          ...admitted.refusal,
        })
        if (refused === null) continue
        return refused
      }
      const unbound = await withSignal(holdBinding.judge(scheme, payment, context.caller), waitUntil)
      if (unbound !== null) {
        const refused = await refuse(unbound)
        if (refused === null) continue
        return refused
      }
      const streamed = await withSignal(findOwnStream(context), waitUntil)
      if (streamed !== null) {
        const refused = await refuse(streamed)
        if (refused === null) continue
        return refused
      }
      const options = {
        isAwaited: () => !waitUntil.aborted,
        caller: context.caller,
        requester: context.requester,
        isForSettle: true,
        isAdmitted: context.holdPurpose !== undefined,
        paidAfter,
        paidBefore,
        ...admitted,
      }
      const verified = await withSignal(verifyToSettle(context, options), waitUntil)
      if (!verified.isValid) {
        const refused = await refuse(verified)
        if (refused === null) continue
        return refused
      }
      if (verified.isReached === true) return succeedReached(payment.callerNetwork, verified)
      const refusal = (await context.admit?.(verified)) ?? null
      if (refusal !== null) return refuseSettle(payment.callerNetwork, refusal)
      const releaseSlot = isAdmitted
        ? () => undefined
        : concurrency.acquirePayerSlot(findSlotOwner(context, verified), verified.authorizationId)
      let isSent = false
      let refund: (() => void) | null = null
      let unclaimed: Promise<Held | Refusal> | null = null
      try {
        if (!isAdmitted) {
          const customer = findCustomer(context)
          refund = await limits.spend(payment, { payer: verified.payer, customer, isContinued })
        }
        // Directly before the claim: what is refused for another reason must not hold the payer's funds.
        unclaimed = holdFunds(payment, verified, terms)
        const held = await withSignal(unclaimed, waitUntil)
        if (!held.isValid) {
          const refused = await refuse(held)
          if (refused === null) continue
          return refused
        }
        const claimed = await claim(context, held)
        const onSent = () => {
          isSent = true
          context.onSent?.()
          wait.onOpened()
        }
        if (claimed === null) {
          // What has no identity in its payload joins what is under way from the same state of the chain.
          const other = authorizationId === null ? await journal.findOpen(verified.authorizationId) : null
          if (other !== null) {
            wait.onOpened()
            const joined = await join(other, context)
            if (joined !== null) return joined
          }
          if (!(await isRowLost(verified.authorizationId))) continue
          return refuseSettle(payment.callerNetwork, { ...consumedBefore, payer: verified.payer })
        }
        unclaimed = null
        const denied = await deny(claimed, context)
        if (denied !== null) return denied
        return await execute(claimed, held, { ...context, onSent })
      } finally {
        // A claim over quota, a duplicate or a failed simulation costs no gas.
        if (!isSent) refund?.()
        releaseSlot()
        if (unclaimed !== null) await releaseHold(unclaimed, context)
      }
    }
    throw new AppError('SERVICE_UNAVAILABLE', 'Other requests are settling this authorization; retry', {
      retryAfterSeconds: 2,
    })
  }

  const findOwnStream = async ({
    scheme,
    payment,
    caller,
    isContinued,
  }: SettlementContext): Promise<Refusal | null> =>
    await findStreamed(scheme, payment, { caller, addsToOpen: !isContinued })

  /** In this order: a settlement that earns the success meanwhile is found. */
  const isRowLost = async (authorizationId: string): Promise<boolean> =>
    (await journal.isConsumed(authorizationId)) && (await journal.findOpen(authorizationId)) === null

  /** Also what is held after the attempt has ended. A hold that stays ends by itself. */
  const releaseHold = async (
    holding: Promise<Held | Refusal>,
    { caller: account, requestId, payment }: SettlementContext,
  ): Promise<void> => {
    const released = holding.then((held) => (held.isValid ? held.releaseUnclaimed?.() : undefined))
    try {
      await withShortDeadline(released)
    } catch (error) {
      const { network } = payment.requirements
      const named = { account, network, ...(requestId === undefined ? {} : { requestId }) }
      logger.warn({ ...named, error }, 'hold.release_failed')
    }
  }

  /** What `onClaimed` or the binding refuses, or fails to record, is not sent. A failed `abandon` leaves the row to the reconciler. */
  const deny = async (claimed: Settlement, context: SettlementContext): Promise<SettleResult | null> => {
    const { scheme, payment, caller, isContinued } = context
    if (context.onClaimed === undefined && scheme.agency === undefined && !isContinued) return null
    let refusal: Refusal | null
    try {
      refusal =
        (await context.onClaimed?.(claimed)) ??
        // One that is opened meanwhile finds the row.
        (await findOwnStream(context)) ??
        (await holdBinding.bind(scheme, payment, caller))
    } catch (error) {
      await withShortDeadline(journal.abandon(claimed.id)).catch(() => false)
      throw error
    }
    if (refusal === null) return null
    await journal.abandon(claimed.id)
    return refuseSettle(payment.callerNetwork, refusal)
  }

  const claim = (context: SettlementContext, authorized: Authorized): Promise<Settlement | null> => {
    const { scheme, network, asset, payTo } = context.payment.requirements
    const { authorizationId, payer, amount, authorizedAmount, expiresAt, details } = authorized
    const { quota, isContinued } = context
    const claimed = {
      authorizationId,
      scheme,
      network,
      asset,
      payTo,
      payer,
      wallets: {
        payer: normalizeWith(context.scheme.network, payer),
        payee: normalizeWith(context.scheme.network, payTo),
      },
      dollarDecimals: findDollarDecimals(registry, context.scheme, asset),
      amount,
      authorizedAmount,
      expiresAt,
      details: withAsker(details, context.consumer),
      resource: context.payment.resource,
      caller: context.caller,
      fingerprint: context.fingerprint,
      proofFingerprint: context.proofFingerprint,
    }
    return journal.claim(
      claimed,
      quota === null ? null : { at: clock.now(), ...chargeOf(quota, isContinued) },
      canBeHeld(authorized) ? { purpose: context.holdPurpose ?? defaultPurpose } : null,
    )
  }

  return async (attempt) => {
    const scheme = findScheme(registry, attempt.payment)
    if (typeof scheme === 'string') {
      const { callerNetwork, proof } = attempt.payment
      return refuseSettle(callerNetwork, { reason: scheme, payer: findClaimedPayer(proof) })
    }
    checkRequirements(attempt.payment, scheme)
    const isUnlimited = attempt.isAdmitted === true || attempt.isUrgent === true
    const releaseSlot = isUnlimited ? () => undefined : concurrency.acquireCallerSlot(findCustomer(attempt))
    try {
      const fingerprint =
        typeof attempt.fingerprint === 'string' ? attempt.fingerprint : attempt.fingerprint()
      const proofFingerprint =
        attempt.isBodyBound === true ? null : fingerprintProof(attempt.caller, attempt.payment)
      // It is computed before anything is sent, so that an error here cannot lose the answer of a settlement.
      const warning = findUsageWarning(attempt.payment)
      const result = await settle({
        ...attempt,
        fingerprint,
        proofFingerprint,
        scheme,
        isContinued: scheme.continues?.(attempt.payment) === true,
        wait: startWait(waitMs),
      })
      return withWarning(await addState(scheme, attempt, result), warning)
    } catch (error) {
      throw asSettleFailure(error)
    } finally {
      releaseSlot()
    }
  }
}

/** A refusal settles nothing that usage could disagree with. */
const withWarning = (result: SettleResult, warning: string | null): SettleResult =>
  warning !== null && (result.success || result.status === 'pending')
    ? { ...result, warnings: [warning] }
    : result
