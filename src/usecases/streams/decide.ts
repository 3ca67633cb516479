import type { Stream, StreamDecision, StreamProgress, StreamRefusal } from '../../ports/streamStore.js'
import type { Reason } from '../../protocol/reasons.js'
import type { StreamEvent } from '../../protocol/streams.js'
import { findSigned, findVoucherProblem, isNews, type SignedUpdate, takeVoucher } from './coverage.js'
import { endangersFunds, isLasting } from './refusals.js'
import { viewStream } from './viewStream.js'

interface StreamUpdate extends SignedUpdate {
  readonly kind: 'update'
  /** Null: the next one. */
  readonly sequence: number | null
}

/** `close` and those after it belong to the settlement of the final amount. */
export type StreamCommand =
  | StreamUpdate
  | { readonly kind: 'pause' | 'resume' }
  /**
   * `finalAmount` null: what was used. `attendAt`: when the job takes over, should this process die. `claimSignature`: as
   * in `Stream`; another one replaces it while the stream is closing.
   */
  | {
      readonly kind: 'close'
      readonly finalAmount: bigint | null
      readonly attendAt: Date
      readonly claimSignature?: string
    }
  /** By the job, once its time passed. */
  | { readonly kind: 'end' }
  | {
      readonly kind: 'settled'
      /** Null: nothing had to be sent. */
      readonly settlementId: string | null
      readonly transaction: string
      readonly settledAmount: bigint
    }
  /** A settlement was claimed for it; nothing is sent yet. */
  | { readonly kind: 'claimed'; readonly settlementId: string }
  /** `settlementId`: the newest settlement that was looked at; null: none. */
  | { readonly kind: 'fail'; readonly reason: Reason; readonly settlementId: string | null }
  /** Not settled yet; `reason` null: the outcome, or the chain, is not known. */
  | {
      readonly kind: 'retry'
      readonly attendAt: Date
      readonly reason: Reason | null
      readonly settlementId: string | null
      /** That settlement was sent, and failed. */
      readonly isReverted: boolean
    }
  /** What the chain says of the funds; null: they suffice. `isEnding`: what was used must be settled at once. */
  | { readonly kind: 'assess'; readonly risk: Reason | null; readonly isEnding?: boolean }

/** The state machine of a stream; docs/streams.md has it as a table. Pure. */
export const decide = (stream: Stream, command: StreamCommand, now: Date): StreamDecision => {
  switch (command.kind) {
    case 'update':
      return decideUpdate(stream, command, now)
    case 'pause':
      return decidePause(stream, now)
    case 'resume':
      return decideResume(stream, now)
    case 'close':
      return decideClose(stream, command, now)
    case 'end':
      return decideEnd(stream, now)
    case 'settled': {
      const { settlementId, transaction, settledAmount } = command
      if (stream.state !== 'closing') return unchanged(stream)
      const settled = { state: 'closed', settlementId, transaction, settledAmount, reason: null } as const
      return changed(stream, now, { ...settled, ...ended(now) }, 'stream.closed')
    }
    case 'claimed':
      if (stream.state !== 'closing') return refuse('STREAM_NOT_ACTIVE', `The stream is ${stream.state}`)
      return changed(stream, stream.updatedAt, { settlementId: command.settlementId })
    case 'fail':
      return isClosingWith(stream, command.settlementId)
        ? fail(stream, command.reason, now)
        : unchanged(stream)
    case 'retry':
      return decideRetry(stream, command, now)
    case 'assess':
      return decideRisk(stream, command, now)
  }
}

const decideUpdate = (stream: Stream, update: StreamUpdate, now: Date): StreamDecision => {
  const { amount } = update
  const closed = findClosed(stream, now)
  if (closed !== null) return refused(closed)
  if (stream.state === 'paused') {
    return refuse('STREAM_NOT_ACTIVE', 'The stream is paused; resume it first')
  }
  const sequence = update.sequence ?? findNextSequence(stream, amount)
  if (sequence < stream.sequence || (sequence === stream.sequence && amount !== stream.amount)) {
    const message = `The last update has the sequence ${stream.sequence} and the amount ${stream.amount}`
    return refuse('INVALID_SEQUENCE', message)
  }
  if (amount < stream.amount) {
    return refuse('INVALID_AMOUNT', `${stream.amount} was used already; amounts are cumulative`)
  }
  if (amount > stream.maxAmount) {
    return refuse('AMOUNT_EXCEEDED', `The payer authorized ${stream.maxAmount}`)
  }
  const unsigned = findVoucherProblem(stream, update)
  if (unsigned !== null) return refuse('INVALID_VOUCHER', unsigned)
  const isRepeated = sequence === stream.sequence
  if (isRepeated && !isNews(stream, update)) return unchanged(stream)
  return changed(stream, now, {
    amount,
    sequence,
    updates: stream.updates + (isRepeated ? 0 : 1),
    ...takeVoucher(stream, update),
  })
}

/** Without a sequence, the same amount again is the same update. */
const findNextSequence = ({ sequence, amount: current }: Stream, amount: bigint): number =>
  amount === current ? sequence : sequence + 1

const decidePause = (stream: Stream, now: Date): StreamDecision => {
  const closed = findClosed(stream, now)
  if (closed !== null) return refused(closed)
  if (stream.state === 'paused') return unchanged(stream)
  return changed(stream, now, { state: 'paused' }, 'stream.paused')
}

const decideResume = (stream: Stream, now: Date): StreamDecision => {
  const closed = findClosed(stream, now)
  if (closed !== null) return refused(closed)
  if (stream.state === 'active') return unchanged(stream)
  return changed(stream, now, { state: 'active' }, 'stream.resumed')
}

const decideClose = (
  stream: Stream,
  { finalAmount, attendAt, claimSignature }: Extract<StreamCommand, { readonly kind: 'close' }>,
  now: Date,
): StreamDecision => {
  if (claimSignature !== undefined && stream.channel === null) {
    return refuse('INVALID_REQUEST', 'claimAuthorizerSignature: belongs to streams over a channel')
  }
  switch (stream.state) {
    case 'expired':
      return refuse('STREAM_EXPIRED', expiredMessage)
    case 'closing':
    case 'closed':
    case 'failed':
      if (finalAmount !== null && finalAmount !== stream.finalAmount) {
        const message = `The stream was closed with the final amount ${stream.finalAmount}`
        return refuse('STREAM_NOT_ACTIVE', message)
      }
      // The same close again: it joins the first, or gets its result.
      return stream.state === 'closing' && isOther(stream, claimSignature)
        ? changed(stream, stream.updatedAt, { claimSignature, attendAt })
        : unchanged(stream)
    case 'active':
    case 'paused': {
      const fixed = finalAmount ?? stream.amount
      if (fixed < stream.amount) {
        return refuse('INVALID_AMOUNT', `${stream.amount} was used; the final amount cannot be lower`)
      }
      if (fixed > stream.maxAmount) {
        return refuse('AMOUNT_EXCEEDED', `The payer authorized ${stream.maxAmount}`)
      }
      const signed = findSigned(stream)
      if (signed !== null && fixed > signed) {
        const message = `The payer's last voucher is over ${signed}; update the stream with a voucher first`
        return refuse('INVALID_VOUCHER', message)
      }
      if (fixed > stream.amount && isOver(stream, now)) return refuse('STREAM_EXPIRED', expiredMessage)
      return close({ ...stream, claimSignature: claimSignature ?? null }, fixed, now, attendAt)
    }
  }
}

const isOther = (stream: Stream, claimSignature: string | undefined): claimSignature is string =>
  claimSignature !== undefined && claimSignature !== stream.claimSignature

/** At the end of its time: what was used is settled, and nothing is sent if nothing was. */
const decideEnd = (stream: Stream, now: Date): StreamDecision => {
  if ((stream.state !== 'active' && stream.state !== 'paused') || !isOver(stream, now)) {
    return unchanged(stream)
  }
  if (stream.amount > 0n) return close(stream, stream.amount, now, now)
  return changed(stream, now, { state: 'expired', ...ended(now) }, 'stream.expired')
}

const close = (stream: Stream, finalAmount: bigint, now: Date, attendAt: Date): StreamDecision =>
  changed(stream, now, closing(finalAmount, attendAt))

const closing = (finalAmount: bigint, attendAt: Date) =>
  ({ state: 'closing', finalAmount, attendAt, attempts: 0 }) as const

/** A settlement that was claimed since could still move funds: then another attempt is about to decide. */
const isClosingWith = ({ state, settlementId }: Stream, newestId: string | null): boolean =>
  state === 'closing' && (settlementId === null || settlementId === newestId)

const fail = (stream: Stream, reason: Reason, now: Date): StreamDecision =>
  changed(stream, now, { state: 'failed', reason, ...ended(now) }, 'stream.failed')

// A node may lag behind the chain, and three requests within a second ask it the same.
const refusalsUntilFinal = 3
const refusalSpacingMs = 2_000
const revertsUntilFinal = 5

const decideRetry = (
  stream: Stream,
  command: Extract<StreamCommand, { readonly kind: 'retry' }>,
  now: Date,
): StreamDecision => {
  if (stream.state !== 'closing') return unchanged(stream)
  const { attendAt, reason, settlementId } = command
  // If several attempts waited for one settlement, the first counts its failure.
  const isReverted = command.isReverted && stream.settlementId === settlementId
  const reverts = stream.reverts + (isReverted ? 1 : 0)
  const counted = countRefusals(stream, reason, now)
  if (reason !== null && isClosingWith(stream, settlementId)) {
    const isFinal = isLasting(reason) && counted.refusals >= refusalsUntilFinal
    if (isFinal || (isReverted && reverts >= revertsUntilFinal)) {
      return fail({ ...stream, reverts, ...counted }, reason, now)
    }
  }
  const risk = reason !== null && endangersFunds(reason) ? reason : stream.risk
  const events: readonly StreamEvent[] =
    risk !== null && stream.risk === null ? ['stream.insufficient_funds'] : []
  const newestId = stream.settlementId ?? settlementId
  return changed(
    stream,
    stream.updatedAt,
    {
      attendAt,
      reason,
      risk,
      reverts,
      ...counted,
      settlementId: isReverted ? null : newestId,
      attempts: stream.attempts + 1,
    },
    ...events,
  )
}

const countRefusals = (
  { reason: last, refusals, refusedAt }: Stream,
  reason: Reason | null,
  now: Date,
): Pick<Stream, 'refusals' | 'refusedAt'> => {
  if (reason === null) return { refusals: 0, refusedAt: null }
  if (reason !== last || refusedAt === null) return { refusals: 1, refusedAt: now }
  const isApart = now.getTime() - refusedAt.getTime() >= refusalSpacingMs
  return isApart ? { refusals: refusals + 1, refusedAt: now } : { refusals, refusedAt }
}

const decideRisk = (
  stream: Stream,
  { risk, isEnding = false }: Extract<StreamCommand, { readonly kind: 'assess' }>,
  now: Date,
): StreamDecision => {
  const isOpen = stream.state === 'active' || stream.state === 'paused'
  if (!isOpen || (stream.risk === risk && !isEnding)) return unchanged(stream)
  // A second reason is not reported: the account knows already that the funds are at risk.
  const events: readonly StreamEvent[] =
    risk === null ? ['stream.funds_restored'] : stream.risk === null ? ['stream.insufficient_funds'] : []
  if (!isEnding) return changed(stream, stream.updatedAt, { risk }, ...events)
  return stream.amount > 0n
    ? changed(stream, now, { ...closing(stream.amount, now), risk }, ...events)
    : changed(stream, now, { state: 'expired', reason: risk, ...ended(now) }, 'stream.expired')
}

/** Null while commands of its owner may change it. */
const findClosed = (stream: Stream, now: Date): StreamRefusal | null => {
  switch (stream.state) {
    case 'closing':
    case 'closed':
    case 'failed':
      return { code: 'STREAM_NOT_ACTIVE', message: `The stream is ${stream.state}` }
    case 'expired':
      return { code: 'STREAM_EXPIRED', message: expiredMessage }
    case 'active':
    case 'paused':
      return isOver(stream, now) ? { code: 'STREAM_EXPIRED', message: expiredMessage } : null
  }
}

const expiredMessage = 'The time of the stream is over'

const isOver = ({ closesAt }: Stream, now: Date): boolean => now.getTime() >= closesAt.getTime()

const ended = (now: Date) => ({ closedAt: now, attendAt: null, risk: null }) as const

const changed = (
  before: Stream,
  updatedAt: Date,
  change: Partial<StreamProgress>,
  ...events: readonly StreamEvent[]
): StreamDecision => {
  const stream = { ...before, ...change, updatedAt }
  return { state: 'changed', stream, events: events.map((type) => ({ type, data: viewStream(stream) })) }
}

const unchanged = (stream: Stream): StreamDecision => ({ state: 'unchanged', stream })

const refused = (refusal: StreamRefusal): StreamDecision => ({ state: 'refused', refusal })

const refuse = (code: StreamRefusal['code'], message: string): StreamDecision => refused({ code, message })
