import { withSignal } from '../../../concurrency/deadline.js'
import { AppError } from '../../../errors.js'
import type { Lane, SignedTransaction } from '../../../ports/settlementJournal.js'
import type { SignNumbered } from '../../../ports/signerLanes.js'

/** Signing holds the lane's row lock, which blocks every instance; this bounds it. */
export const maxSigningMs = 5_000

export const signWithDeadline = (sign: SignNumbered, nonce: number): Promise<SignedTransaction> =>
  withSignal(sign(nonce), AbortSignal.timeout(maxSigningMs))

// Longer than a vanished process holds the lock; after that, fees and checks are too old to send with.
const maxWaitMs = 2 * maxSigningMs

export type LaneQueue = <T>(lane: Lane, work: () => Promise<T>) => Promise<T>

/** The row lock would suffice, but each waiter holds a connection: a blocked lane would exhaust the pool. */
export const createLaneQueue = (): LaneQueue => {
  const lastTurns = new Map<string, Promise<unknown>>()
  return (lane, work) => {
    const key = `${lane.network} ${lane.signer}`
    const since = performance.now()
    const before = lastTurns.get(key)
    const turn = (async () => {
      await before
      if (performance.now() - since > maxWaitMs) throw laneBusy(key)
      return await work()
    })()
    lastTurns.set(
      key,
      turn.catch(() => undefined),
    )
    return turn
  }
}

const laneBusy = (lane: string): AppError =>
  new AppError('SERVICE_UNAVAILABLE', `The lane of ${lane} is too busy`, { retryAfterSeconds: 2 })
