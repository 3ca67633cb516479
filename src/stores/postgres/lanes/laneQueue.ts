import { withSignal } from '../../../concurrency/deadline.js'
import { AppError } from '../../../errors.js'
import type { Lane, SignedTransaction } from '../../../ports/settlementJournal.js'
import type { SignNumbered } from '../../../ports/signerLanes.js'

/** Who signs holds the lane of every instance; neither a signer that hangs nor a machine that vanishes may for longer. */
export const maxSigningMs = 5_000

/** Signs for a number while its lane is held, and no longer than a lane may be. */
export const signInTime = (sign: SignNumbered, nonce: number): Promise<SignedTransaction> =>
  withSignal(sign(nonce), AbortSignal.timeout(maxSigningMs))

// Longer than a vanished machine holds a lane; after that, what was estimated and judged is too old to be sent.
const maxWaitMs = 2 * maxSigningMs

/** Runs work one after the other for each lane. */
export type LaneQueue = <T>(lane: Lane, work: () => Promise<T>) => Promise<T>

/**
 * The lanes of one process. The database would keep the order too, but there each who waits holds a connection:
 * one lane that stands still would take all of them from everyone else.
 */
export const createLaneQueue = (): LaneQueue => {
  const lastTurns = new Map<string, Promise<unknown>>()
  return (lane, work) => {
    const key = `${lane.network} ${lane.signer}`
    const since = performance.now()
    const before = lastTurns.get(key)
    const turn = (async () => {
      await before
      if (performance.now() - since > maxWaitMs) throw tooBusy(key)
      return await work()
    })()
    lastTurns.set(
      key,
      turn.catch(() => undefined),
    )
    return turn
  }
}

const tooBusy = (lane: string): AppError =>
  new AppError('SERVICE_UNAVAILABLE', `The lane of ${lane} is too busy`, { retryAfterSeconds: 2 })
