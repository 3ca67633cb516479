import { setMaxListeners } from 'node:events'
import { sleep } from '../../concurrency/deadline.js'
import { createFairSlots, createSharedPlaces } from '../../concurrency/slots.js'
import { createFailureLog } from '../../failureLog.js'
import type { Clock } from '../../ports/clock.js'
import type { Logger } from '../../ports/logger.js'

interface ListingWork<Outcome> {
  /** Their attempts take turns, and one of them runs at a time. */
  readonly owner: string
  /** Each may have a share of what waits. */
  readonly holders: readonly string[]
  /** Idempotent; rejects where it is to be repeated. */
  attempt(signal: AbortSignal): Promise<Outcome>
}

export interface ListingQueue {
  /** Never rejects: null where it was given up. Returns null if the queue or the share of a holder is full. */
  add<Outcome>(work: ListingWork<Outcome>): Promise<Outcome | null> | null
  /** Takes nothing more, gives what is under way a moment, and repeats nothing. */
  close(): Promise<void>
}

/** They are in memory, each with a declaration of at most 64 kB. */
const places = 256
/** Attempts at once: payments need the database more. */
const slotOptions = {
  slots: 4,
  urgentSlots: 0,
  slotsPerOwner: 1,
  waitingPerOwner: places,
  maxWaiting: places,
} as const
const retryDelaysMs = [1_000, 10_000, 60_000] as const
const closeMs = 2_000

/**
 * Lists resources after their settlements were answered. What waits is lost with the process: the next settlement of the
 * resource lists it, and a durable queue would cost every such settlement a write of the declaration that its caller chose.
 */
export const createListingQueue = ({
  clock,
  logger,
}: {
  readonly clock: Clock
  readonly logger: Logger
}): ListingQueue => {
  const failures = createFailureLog({
    logger,
    event: 'discovery.record_failed',
    recovered: 'discovery.record_recovered',
  })
  const shares = createSharedPlaces(places)
  const slots = createFairSlots(slotOptions)
  const closing = new AbortController()
  const ended = new AbortController()
  // Prevents Node's leak warning: all that waits listens to them.
  setMaxListeners(0, closing.signal, ended.signal)
  const running = new Set<Promise<unknown>>()

  const attempt = async <Outcome>({ owner, attempt }: ListingWork<Outcome>): Promise<Outcome> => {
    const release = await slots.acquire({ owner, isUrgent: false, signal: ended.signal })
    try {
      return await attempt(ended.signal)
    } finally {
      release()
    }
  }

  const run = async <Outcome>(work: ListingWork<Outcome>): Promise<Outcome | null> => {
    // The answer of the settlement is written first.
    await new Promise(setImmediate)
    for (let retries = 0; ; retries += 1) {
      try {
        const outcome = await attempt(work)
        failures.succeeded('catalogue')
        return outcome
      } catch (error) {
        if (ended.signal.aborted) return null
        failures.failed('catalogue', { error })
        const delayMs = retryDelaysMs[retries]
        if (delayMs === undefined || !(await clock.sleep(delayMs, closing.signal))) return null
      }
    }
  }

  return {
    add: (work) => {
      const release = closing.signal.aborted ? null : shares.take(work.holders)
      if (release === null) return null
      const job = run(work).finally(() => {
        release()
        running.delete(job)
      })
      running.add(job)
      return job
    },
    close: async () => {
      closing.abort()
      const limit = new AbortController()
      await Promise.race([Promise.all(running), sleep(closeMs, limit.signal)])
      limit.abort()
      ended.abort(new Error('The service ends'))
    },
  }
}
