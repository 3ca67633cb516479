import { AppError } from '../../errors.js'
import type { Stream } from '../../ports/streamStore.js'
import { streamLimits } from '../../protocol/streams.js'
import type { Authorized } from '../../schemes/scheme.js'
import { refuse } from './hold.js'

/** A close that cannot be settled is given up so long after the end of the stream, or when the authorization ends. */
const settlesForMs = 7 * 86_400_000

export const readEnd = (expiresAt: string | undefined, now: Date): Date => {
  if (expiresAt === undefined) return new Date(now.getTime() + streamLimits.defaultLifetimeMs)
  const end = new Date(expiresAt)
  if (end.getTime() <= now.getTime()) {
    throw new AppError('INVALID_REQUEST', 'expiresAt: must be in the future')
  }
  if (end.getTime() > now.getTime() + streamLimits.lifetimeMs) {
    throw new AppError('INVALID_REQUEST', 'expiresAt: must be at most 30 days from now')
  }
  return end
}

/** Throws PAYMENT_REFUSED if the authorization leaves no time. */
export const findTimes = (
  { expiresAt }: Pick<Authorized, 'expiresAt'>,
  requestedEnd: Date,
  now: Date,
): Pick<Stream, 'closesAt' | 'settlesUntil'> => {
  const endMs = expiresAt?.getTime() ?? Number.POSITIVE_INFINITY
  const closesAtMs = Math.min(requestedEnd.getTime(), endMs - streamLimits.marginMs)
  if (closesAtMs <= now.getTime()) throw refuseEnding(streamLimits.marginMs)
  return {
    closesAt: new Date(closesAtMs),
    settlesUntil: new Date(Math.min(endMs, closesAtMs + settlesForMs)),
  }
}

export const getMarginMs = ({ closesAt, settlesUntil }: Pick<Stream, 'closesAt' | 'settlesUntil'>): number =>
  settlesUntil.getTime() - closesAt.getTime()

/**
 * Streams with one end close one after the other, as fast as the network settles them. Of streams whose time to settle lies
 * within any period, the one that was opened last counted all others: so the period has room for them. That includes those
 * that could share transactions: a wallet can become a contract meanwhile. Null: there is no room. Throws PAYMENT_REFUSED
 * if the authorization leaves no time.
 */
export const findPlace = (
  stream: Pick<Stream, 'closesAt' | 'settlesUntil'>,
  secondsOfOthers: number,
  now: Date,
): Date | null => {
  const marginMs = streamLimits.marginMs + Math.ceil(secondsOfOthers * 1_000)
  if (marginMs > streamLimits.maxMarginMs) return null
  const closesAtMs = Math.min(stream.closesAt.getTime(), stream.settlesUntil.getTime() - marginMs)
  if (closesAtMs <= now.getTime()) throw refuseEnding(marginMs)
  return new Date(closesAtMs)
}

const refuseEnding = (marginMs: number): AppError =>
  refuse(
    'authorization_expired',
    `The authorization ends within ${Math.ceil(marginMs / 1_000)} s, which are needed to settle it`,
  )
