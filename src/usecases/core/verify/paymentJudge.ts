import { withTimeout } from '../../../concurrency/deadline.js'
import { AppError } from '../../../errors.js'
import type { Settlement, SettlementJournal } from '../../../ports/settlementJournal.js'
import type { Payment, RefusedPayment } from '../../../protocol/payment.js'
import { findClaimedPayer, isRefused, readPayment } from '../../../protocol/readPayment.js'
import type { Comparison, Trace } from '../../../protocol/rules/rules.js'
import { findPublicProof } from '../../../schemes/publicProof.js'
import type { SchemeRegistry } from '../../../schemes/registry.js'
import type { Refusal, Scheme, Verification } from '../../../schemes/scheme.js'
import { fingerprintRequest } from '../idempotency/fingerprint.js'
import { noPaymentExtensions, type PaymentExtensions } from '../paymentExtensions.js'
import { consumedBefore, describeWinner, type RefusedRequest } from '../settle/settleAnswers.js'
import { fingerprintProof, isSameRequest } from '../settle/settlementContext.js'
import type { VerifyRequest } from '../useCases.js'
import { checkNewRequirements, findScheme } from './checkRequirements.js'
import { type ClaimRules, noClaimRules } from './claimRules.js'
import { type HoldBinding, noHoldBinding } from './holdBinding.js'
import { canBeHeld, type Held, takenBy } from './holdFunds.js'
import { noPauses, type PauseGate } from './pauses.js'
import type { FindStreamed } from './streamedChannels.js'

/** What /verify and its explanation have in common: they decide alike. */
interface PaymentJudge {
  /** Throws INVALID_REQUEST for requirements that are malformed on their network. */
  read(body: VerifyRequest['body'], trace?: Trace): ReadRequest | RefusedRequest
  /** Asks the scheme. Where anyone may present the proof, it checks first that the recipient lets this caller claim it. */
  judge(
    request: ReadRequest,
    asker: Pick<VerifyRequest, 'caller' | 'requester' | 'isAwaited'>,
    trace?: Trace,
  ): Promise<Verification>
  findSettlement(request: ReadRequest): Promise<Settlement | null>
  /** The answer of /verify, after the journal was asked where the chain does not know what is spent. */
  conclude(
    request: ReadRequest,
    verdict: Held | Refusal,
    asker: Pick<VerifyRequest, 'caller' | 'body'>,
  ): Promise<Conclusion>
}

export interface ReadRequest {
  readonly payment: Payment
  readonly scheme: Scheme
  /** Set only with a trace: /verify would have stopped here with this refusal. */
  readonly refused?: RefusedRequest
}

type Conclusion =
  | { readonly payer: string; readonly bySettlement?: true }
  /** `bySettlement`: an earlier settlement decided, not a rule. */
  | (RefusedRequest & { readonly bySettlement?: true })

export interface PaymentJudgeDependencies {
  readonly registry: SchemeRegistry
  readonly journal: Pick<SettlementJournal, 'findOpen' | 'isConsumed'>
  /** Default: payments carry a signature. */
  readonly claimRules?: ClaimRules
  /** Default: holds are bound to no account. */
  readonly holdBinding?: HoldBinding
  /** Default: no channel pays a stream. */
  readonly findStreamed?: FindStreamed
  /** Default: nothing is paused. */
  readonly pauses?: PauseGate
  readonly extensions?: PaymentExtensions
  /** Limits each read of the journal; default: 3 s. */
  readonly journalDeadlineMs?: number
}

// Shorter than the deadline: a slow journal must leave time for the chain.
const defaultJournalDeadlineMs = 3_000

export const createPaymentJudge = ({
  registry,
  journal,
  claimRules = noClaimRules,
  holdBinding = noHoldBinding,
  findStreamed,
  pauses = noPauses,
  extensions = noPaymentExtensions,
  journalDeadlineMs = defaultJournalDeadlineMs,
}: PaymentJudgeDependencies): PaymentJudge => {
  const readInTime = async <T>(reading: Promise<T>): Promise<T> => {
    try {
      return await withTimeout(reading, journalDeadlineMs)
    } catch (cause) {
      throw new AppError('SERVICE_UNAVAILABLE', 'The database does not answer at the moment', {
        cause,
        retryAfterSeconds: 1,
      })
    }
  }

  const findSettlement = async ({ scheme, payment }: ReadRequest): Promise<Settlement | null> => {
    const authorizationId = scheme.identify(payment)
    if (authorizationId === null) return null
    return await readInTime(journal.findOpen(authorizationId))
  }

  const read: PaymentJudge['read'] = (body, trace) => {
    trace?.expect(requestRules)
    const reading = readPayment(body, { trace })
    const refused = isRefused(reading) ? nameRefused(reading, body) : undefined
    const payment = isRefused(reading) ? reading.payment : reading
    if (payment === undefined) return refused ?? { reason: 'invalid_payload_structure' }
    const scheme = findScheme(registry, payment)
    const isUnserved = typeof scheme === 'string'
    trace?.note('scheme_served', isUnserved ? scheme : null, compareKind(registry, payment))
    if (isUnserved) return refused ?? { reason: scheme, payer: findClaimedPayer(payment.proof) }
    try {
      checkNewRequirements(payment, scheme)
    } catch (error) {
      // What /verify answers is known already.
      if (refused !== undefined) return refused
      throw error
    }
    trace?.note('requirements_terms', null)
    const malformed = extensions.findRefusal(payment)
    trace?.note('extensions', malformed)
    if (malformed !== null) return refused ?? { ...malformed, payer: findClaimedPayer(payment.proof) }
    return refused === undefined ? { payment, scheme } : { payment, scheme, refused }
  }

  /** Where a key of ours would move what is held, it has to be for this caller. */
  const findUnbound = async (
    { payment, scheme }: ReadRequest,
    caller: string,
    trace?: Trace,
  ): Promise<Refusal | null> => {
    if (scheme.agency === undefined) return null
    trace?.expect(['claim_permitted'])
    const unbound = await readInTime(holdBinding.judge(scheme, payment, caller))
    trace?.note('claim_permitted', unbound)
    return unbound
  }

  const judge: PaymentJudge['judge'] = async (
    { payment, scheme },
    { caller, requester, isAwaited },
    trace,
  ) => {
    if (findPublicProof(scheme) === null) {
      const unbound = await findUnbound({ payment, scheme }, caller, trace)
      if (unbound !== null) return unbound
      const isStreamable = scheme.channelStreams !== undefined && findStreamed !== undefined
      const streamed = isStreamable
        ? await readInTime(findStreamed(scheme, payment, { caller, addsToOpen: false }))
        : null
      if (streamed !== null) return streamed
      return await scheme.verify(payment, { isAwaited, caller, requester, trace })
    }
    trace?.expect(['claim_permitted'])
    const { requirements } = payment
    const attempt = { requirements, caller, isForSettle: false }
    const admitted = await readInTime(claimRules.judge(scheme, attempt))
    trace?.note('claim_permitted', 'refusal' in admitted ? admitted.refusal : null)
    if ('refusal' in admitted) {
      // Nothing is looked up for callers that the recipient does not admit.
      return { isValid: false, payer: findClaimedPayer(payment.proof), ...admitted.refusal }
    }
    const options = { isAwaited, caller, trace, ...admitted }
    // A pause says nothing about the payment, which an explanation judges.
    const pause = trace === undefined ? pauses.find(requirements, caller) : null
    if (pause !== null) await pauses.requireBegun(pause, payment, { scheme, caller, options })
    return await scheme.verify(payment, options)
  }

  const conclude: PaymentJudge['conclude'] = async (request, verdict, { caller, body }) => {
    const { payment, scheme } = request
    // The chain knows what is spent, except where payers move the funds, and except a settlement of 0 that sent
    // nothing: schemes with holds have those, and can consume what another scheme presents.
    const isSpentOnChain = scheme.journalClaims === null
    const isUndisputed = verdict.isValid && (!canBeHeld(verdict) || verdict.isUnclaimed === true)
    if (isUndisputed && isSpentOnChain) return { payer: verdict.payer }

    // Read before the journal: the row of what is consumed meanwhile is found there.
    const isConsumed =
      verdict.isValid && !isSpentOnChain && (await readInTime(journal.isConsumed(verdict.authorizationId)))
    // This request's earlier settlement was answered `settlement_pending`: valid until the success is consumed.
    const settlement = await findSettlement(request)
    if (
      settlement !== null &&
      settlement.consumedBy === null &&
      isSameRequest(settlement, {
        caller,
        payment,
        fingerprint: fingerprintRequest(body),
        proofFingerprint: fingerprintProof(caller, payment),
        isForVerify: true,
      })
    ) {
      return { payer: settlement.payer, bySettlement: true }
    }
    // Spent: the same reason on every network, even if another rule fails first.
    if (settlement !== null && (settlement.state === 'confirmed' || settlement.consumedBy !== null)) {
      const { payer } = settlement
      const message = describeWinner(settlement, caller)
      return { reason: 'duplicate_settlement', message, payer, isFinal: true, bySettlement: true }
    }
    // The service is rendered before the settle, which would find that another request has the authorization.
    if (settlement !== null && verdict.isValid && canBeHeld(verdict)) {
      const { payer } = settlement
      return { reason: 'duplicate_settlement', message: takenBy.settlement, payer, bySettlement: true }
    }
    if (!verdict.isValid) return verdict
    const { payer } = verdict
    if (settlement === null && isConsumed) return { ...consumedBefore, payer, bySettlement: true }
    return { payer }
  }

  return { read, judge, findSettlement, conclude }
}

const requestRules = ['scheme_served', 'requirements_terms', 'extensions'] as const

const nameRefused = ({ reason, message }: RefusedPayment, body: VerifyRequest['body']): RefusedRequest => ({
  reason,
  ...(message === undefined ? {} : { message }),
  payer: findClaimedPayer(body.paymentPayload.payload),
})

// So many names are enough to recognize a typing mistake.
const maxListed = 12

/** Names what is served instead. */
const compareKind = (registry: SchemeRegistry, { requirements, callerNetwork }: Payment): Comparison => {
  const kinds = registry.list().map(({ kind }) => kind)
  if (registry.hasNetwork(requirements.network)) {
    const served = kinds.filter(({ network }) => network === requirements.network)
    return {
      path: 'paymentRequirements.scheme',
      found: requirements.scheme,
      expected: `${served.map(({ scheme }) => scheme).join(' or ')}, in this spelling`,
    }
  }
  const networks = [...new Set(kinds.map(({ network }) => network))]
  const more = networks.length > maxListed ? ', and others of GET /supported' : ''
  return {
    path: 'paymentRequirements.network',
    found: callerNetwork,
    expected: `${networks.slice(0, maxListed).join(' or ')}${more}`,
  }
}
