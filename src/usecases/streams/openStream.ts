import { randomUUID } from 'node:crypto'
import { AppError } from '../../errors.js'
import type { Clock } from '../../ports/clock.js'
import type { FindPause } from '../../ports/operatorPauses.js'
import type { QuotaClaim } from '../../ports/quotas.js'
import type { SettlementJournal } from '../../ports/settlementJournal.js'
import type { Stream, StreamQuota, StreamStore } from '../../ports/streamStore.js'
import type { Payment } from '../../protocol/payment.js'
import { isRefused, readPayment } from '../../protocol/readPayment.js'
import { type OpenStreamBody, type StreamOpened, streamLimits } from '../../protocol/streams.js'
import type { WirePaymentRequest } from '../../protocol/wire.js'
import type { SchemeRegistry } from '../../schemes/registry.js'
import { createControlToken } from '../controlToken.js'
import { fingerprintJson } from '../core/idempotency/fingerprint.js'
import type { QuotaGate, SpendingLimits } from '../core/limits.js'
import { findScheme } from '../core/verify/checkRequirements.js'
import { noPauses, pausedError } from '../core/verify/pauses.js'
import { decideHere } from './control.js'
import { createHold, createOpenChannel, HeldForStreamError, type HoldDependencies, refuse } from './hold.js'
import { findMeans, type Taken } from './means.js'
import { findPlace, findTimes, getMarginMs, readEnd } from './streamTimes.js'
import type { OpenStreamRequest, StreamUseCases } from './useCases.js'
import { viewStream } from './viewStream.js'

interface OpenStreamDependencies extends HoldDependencies {
  readonly store: Pick<StreamStore, 'open' | 'change' | 'find' | 'findOpen' | 'findOwed'>
  readonly journal: Pick<SettlementJournal, 'findOpen'>
  readonly registry: SchemeRegistry
  readonly quotaGate: QuotaGate
  readonly spendingLimits: SpendingLimits
  /** Default: nothing is paused. */
  readonly findPause?: FindPause
  readonly clock: Clock
}

/**
 * Verifies and holds the authorization, then stores the stream. A process that dies between both leaves a hold without
 * a stream: open requests of its account are answered 503 until the purge finds it, and nothing is lost.
 */
export const createOpenStream = (dependencies: OpenStreamDependencies): StreamUseCases['openStream'] => {
  const { store, journal, registry, releaseHold, quotaGate, spendingLimits, clock } = dependencies
  const { findPause = noPauses.find } = dependencies
  const hold = createHold(dependencies)
  const openChannel = createOpenChannel(dependencies.deadlineMs)

  /** The same request again renews the hold: a process may have died before it was made. */
  const answerOpened = async (
    existing: Stream,
    payment: Payment,
    request: OpenStreamRequest,
    fingerprint: string,
  ): Promise<StreamOpened> => {
    // Callers without a key share one name: only the holder of the token is the same.
    const isSame =
      existing.controlDigest === null &&
      existing.caller === request.caller &&
      existing.fingerprint === fingerprint
    if (!isSame) throw refuse('duplicate_settlement', 'This authorization pays a stream that is open')
    const { quota, requester, isAwaited } = request
    // A channel holds nothing that could end.
    if (existing.channel !== null) return describe(existing)
    await hold({
      ...existing,
      payment,
      quota,
      requester,
      isAwaited,
      findEnd: () => existing.settlesUntil,
      isNew: false,
    })
    return describe(existing)
  }

  /** It counts, by account, the requests that wait for a stream. */
  const waiting = new Map<string, number>()

  const awaitWinner = async (authorizationId: string, isAwaited: () => boolean): Promise<Stream | null> => {
    for (const pauseMs of winnerPausesMs) {
      const found = await store.findOpen(authorizationId)
      if (found !== null || !isAwaited()) return found
      await clock.sleep(pauseMs)
    }
    return await store.findOpen(authorizationId)
  }

  /**
   * The same request at the same time may hold the authorization, and not have stored its stream yet. Only a few requests of the
   * account that holds it wait; all other refusals are decided.
   */
  const findWinner = async (
    authorizationId: string,
    refusal: unknown,
    { caller, isAwaited }: Pick<OpenStreamRequest, 'caller' | 'isAwaited'>,
  ): Promise<Stream | null> => {
    if (!(refusal instanceof HeldForStreamError)) {
      return isTaken(refusal) ? await store.findOpen(authorizationId) : null
    }
    const count = waiting.get(caller) ?? 0
    if (count >= maxWaitingPerAccount) return await store.findOpen(authorizationId)
    waiting.set(caller, count + 1)
    try {
      return await awaitWinner(authorizationId, isAwaited)
    } finally {
      const left = (waiting.get(caller) ?? 1) - 1
      if (left > 0) waiting.set(caller, left)
      else waiting.delete(caller)
    }
  }

  const describe = (stream: Stream): StreamOpened => {
    const scheme = registry.find(stream.scheme, stream.network)
    const voucher = scheme === null ? undefined : findMeans(scheme).describeVoucher(stream)
    return {
      stream: viewStream(stream),
      ...(voucher === undefined ? {} : { voucherTypedData: { ...voucher } }),
    }
  }

  /** Null: it is stored already, although the response of the database was lost. */
  const insert = async (opening: Parameters<StreamStore['open']>[0]) => {
    try {
      return await store.open(opening)
    } catch (error) {
      const stored = await store.find(opening.stream.id)
      if (stored === null) throw error
      return 'opened'
    }
  }

  return async (request) => {
    const { body, caller, quota, isAwaited } = request
    const now = clock.now()
    const stored = readBody(body)
    const payment = readPayment(stored)
    if (isRefused(payment)) throw refuse(payment.reason, payment.message)
    if ((payment.requirements.minAmount ?? 0n) > 0n) {
      throw new AppError(
        'INVALID_REQUEST',
        'paymentRequirements.minAmount: a stream settles whatever was used; leave it out',
      )
    }
    const scheme = findScheme(registry, payment)
    if (typeof scheme === 'string') throw refuse(scheme)
    const requestedEnd = readEnd(body.expiresAt, now)
    const fingerprint = fingerprintJson(body)
    const means = findMeans(scheme)
    const authorizationId = means.identify(payment, caller)
    const existing = authorizationId === null ? null : await store.findOpen(authorizationId)
    if (existing !== null) {
      return { answer: await answerOpened(existing, payment, request, fingerprint), isNew: false }
    }
    const pause = findPause({ ...payment.requirements, caller })
    if (pause !== null) throw pausedError(pause)
    const exhausted = quota === null ? null : await quotaGate(quota)
    if (exhausted !== null) throw exhausted

    const id = randomUUID()
    const findEnd = (verdict: Pick<Taken, 'expiresAt'>) => findTimes(verdict, requestedEnd, now).settlesUntil
    let taken: Taken
    try {
      const { requester } = request
      const baseline = body.baseline === undefined ? null : BigInt(body.baseline)
      const isOfChannel = authorizationId !== null && scheme.channelStreams !== undefined
      const owed = isOfChannel ? await store.findOwed(authorizationId) : 0n
      const opening = { id, authorizationId, payment, caller, quota, requester, isAwaited, baseline, owed }
      taken = await means.open({ ...opening, findEnd, isNew: true }, { hold, openChannel })
    } catch (error) {
      const winner = authorizationId === null ? null : await findWinner(authorizationId, error, request)
      if (winner === null) throw error
      return { answer: await answerOpened(winner, payment, request, fingerprint), isNew: false }
    }
    try {
      // The claim of a channel is counted when it is made.
      const refund =
        taken.channel === null
          ? await spendingLimits.spend(payment, { payer: taken.payer, customer: quota?.customer ?? caller })
          : () => undefined
      try {
        const control = caller === 'anonymous' ? createControlToken('qtn_stream_') : null
        const { scheme: name, network, asset, payTo } = payment.requirements
        let stream: Stream = {
          ...unused,
          ...findTimes(taken, requestedEnd, now),
          id,
          authorizationId: taken.authorizationId,
          caller,
          controlDigest: control?.digest ?? null,
          fingerprint,
          quota:
            quota === null
              ? null
              : { customer: quota.customer ?? quota.accountId, feeRate: quota.tier.feeRate },
          scheme: name,
          network,
          asset,
          payer: taken.payer,
          payTo,
          maxAmount: taken.maxAmount,
          channel: taken.channel,
          voucher: taken.voucher,
          ceiling: taken.ceiling,
          metadata: body.metadata === undefined ? null : JSON.stringify(body.metadata),
          createdAt: now,
          updatedAt: now,
        }
        const describeOpening = () =>
          ({ stream, event: { type: 'stream.opened', data: viewStream(stream) } }) as const
        const perSecond = scheme.network.settlementsPerSecond()
        const secondsOf = (count: number) => count / Math.max(perSecond ?? 0, leastPerSecond)
        const place = ({ others, own }: { readonly others: number; readonly own: number }) => {
          if (secondsOf(own) * 1_000 >= maxOwnMs) return null
          const closesAt = findPlace(stream, secondsOf(others), clock.now())
          if (closesAt === null) return null
          stream = { ...stream, closesAt }
          return describeOpening()
        }
        const state = await insert({
          ...describeOpening(),
          payment: taken.channel === null ? stored : null,
          quota: limitOf(quota),
          ...(perSecond === null || getMarginMs(stream) >= streamLimits.maxMarginMs
            ? {}
            : {
                pace: {
                  windowMs: 2 * streamLimits.maxMarginMs,
                  maxMarginMs: streamLimits.maxMarginMs,
                  place,
                },
              }),
        })
        if (state === 'crowded') {
          throw new AppError(
            'SERVICE_UNAVAILABLE',
            'Too many streams, of all callers or of yours, end when this authorization ends; use one that is valid for longer, or shorter',
            { operationalCode: 'SVC-3002', retryAfterSeconds: quotaRetrySeconds },
          )
        }
        // Nothing is held of a channel: here the same request finds out that it was first.
        const isLate = state === 'taken' && taken.channel !== null
        const winner = isLate ? await store.findOpen(taken.authorizationId) : null
        if (winner !== null) {
          return { answer: await answerOpened(winner, payment, request, fingerprint), isNew: false }
        }
        if (state === 'taken')
          throw refuse('duplicate_settlement', 'This authorization pays a stream that is open')
        if (state === 'exhausted') {
          throw new AppError(
            'QUOTA_EXCEEDED',
            "Your open streams use up what is left of this month's quota",
            {
              retryAfterSeconds: quotaRetrySeconds,
            },
          )
        }
        // A refund that is recorded later finds the stream.
        const isReturned = taken.refundId !== null && (await journal.findOpen(taken.refundId)) !== null
        if (isReturned) {
          const ending = { kind: 'assess', risk: 'duplicate_settlement', isEnding: true } as const
          await store.change(id, decideHere(ending, clock.now()), 'closes')
          throw refuse('duplicate_settlement', 'A refund of the channel is under way')
        }
        return {
          answer: { ...describe(stream), ...(control === null ? {} : { streamToken: control.token }) },
          isNew: true,
        }
      } catch (error) {
        refund()
        throw error
      }
    } catch (error) {
      await releaseHold({ id, caller, authorizationId: taken.authorizationId })
      throw error
    }
  }
}

// About six seconds: the winner has verified, and only writes, but its process or the database may stand still.
const winnerPausesMs = [100, 200, 400, 800, 1_600, 3_200]
const maxWaitingPerAccount = 16

const isTaken = (error: unknown): boolean =>
  error instanceof AppError && error.reason === 'duplicate_settlement'

const quotaRetrySeconds = 60

const unused = {
  state: 'active',
  amount: 0n,
  sequence: 0,
  updates: 0,
  claimSignature: null,
  finalAmount: null,
  settlementId: null,
  transaction: null,
  settledAmount: null,
  reason: null,
  risk: null,
  closedAt: null,
  attendAt: null,
  attempts: 0,
  refusals: 0,
  refusedAt: null,
  reverts: 0,
} as const

/** What `/verify` takes, and nothing else. */
const readBody = (body: OpenStreamBody): WirePaymentRequest => {
  const { payVersion, x402Version, t402Version, paymentPayload, paymentRequirements } = body
  return { payVersion, x402Version, t402Version, paymentPayload, paymentRequirements }
}

// Without a signer that can pay, nothing is known.
const leastPerSecond = 0.05

/** Streams of one customer take at most this part of the time in which streams with one end settle. */
const maxOwnMs = (streamLimits.maxMarginMs - streamLimits.marginMs) / 4

const limitOf = (quota: QuotaClaim | null): StreamQuota | null =>
  quota === null || quota.tier.monthlyQuota < 0
    ? null
    : { customer: quota.customer ?? quota.accountId, monthlyQuota: quota.tier.monthlyQuota }
