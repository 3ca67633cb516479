import type { Redis } from 'ioredis'
import type { Clock } from '../../ports/clock.js'
import type { Logger } from '../../ports/logger.js'

/** Whether Redis is worth asking. Everybody who uses the connection shares one: what one has found out, all know. */
export interface Circuit {
  isOpen(): boolean
  /** Redis failed somebody: from now on nobody asks it, until a probe in the background has succeeded. */
  trip(error: unknown): void
  close(): void
}

/** What a circuit is built from. */
export interface CircuitOptions {
  /** A client of `openRedis`: its deadlines bound what a probe waits for. */
  readonly redis: Redis
  /** Paces the probes and times the outages. */
  readonly clock: Clock
  readonly logger: Logger
}

const probeKey = 'quittance:probe'
const firstProbeDelayMs = 100
const maxProbeDelayMs = 1_000
// Who fails again this soon after a recovery is asked less often.
const steadyMs = 10_000

/** Builds a circuit that lets everybody through until the first failure. */
export const createCircuit = ({ redis, clock, logger }: CircuitOptions): Circuit => {
  const closed = new AbortController()
  let trippedAt: Date | null = null
  let recoveredAt: Date | null = null
  let probeDelayMs = firstProbeDelayMs

  // Writes as requests do: a ping is also answered by a replica, and by a Redis that is out of memory.
  const isWell = (): Promise<boolean> =>
    redis.set(probeKey, '', 'PX', 1).then(
      () => true,
      () => false,
    )

  const recover = async (since: Date): Promise<void> => {
    do {
      if (!(await clock.sleep(probeDelayMs, closed.signal))) return
      probeDelayMs = Math.min(2 * probeDelayMs, maxProbeDelayMs)
    } while (!(await isWell()))
    if (closed.signal.aborted) return
    recoveredAt = clock.now()
    trippedAt = null
    logger.info({ degradedMs: recoveredAt.getTime() - since.getTime() }, 'redis.recovered')
  }

  return {
    isOpen: () => trippedAt !== null,
    trip: (error) => {
      if (trippedAt !== null || closed.signal.aborted) return
      trippedAt = clock.now()
      const wasSteady = recoveredAt === null || trippedAt.getTime() - recoveredAt.getTime() > steadyMs
      if (wasSteady) probeDelayMs = firstProbeDelayMs
      // The message only: the error of a refused login carries the password.
      logger.warn({ error: messageOf(error) }, 'redis.degraded')
      void recover(trippedAt)
    },
    close: () => closed.abort(),
  }
}

/** The words of a failure. */
export const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error))
