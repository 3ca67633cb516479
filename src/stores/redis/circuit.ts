import type { Redis } from 'ioredis'
import type { Clock } from '../../ports/clock.js'
import type { Logger } from '../../ports/logger.js'
import { createRedisOutage, type RedisOutage } from './client.js'

/** Circuit breaker shared by all users of the Redis connection. */
export interface Circuit {
  isOpen(): boolean
  /** Opens the circuit; it closes when a background probe succeeds. */
  trip(error: unknown): void
  /** Opens the circuit if Redis does not answer a write now. Never rejects. */
  probe(): Promise<void>
  close(): void
}

interface CircuitOptions {
  /** A client from `openRedis`: its timeouts bound each probe. */
  readonly redis: Redis
  readonly clock: Clock
  readonly logger: Logger
  /** That of the client, so that one outage is one line. */
  readonly outage?: RedisOutage
}

const probeKey = 'quittance:probe'
const firstProbeDelayMs = 100
const maxProbeDelayMs = 1_000
// A failure this soon after recovery keeps the longer probe interval.
const stableMs = 10_000

export const createCircuit = ({
  redis,
  clock,
  logger,
  outage = createRedisOutage(logger),
}: CircuitOptions): Circuit => {
  const closed = new AbortController()
  let trippedAt: Date | null = null
  let recoveredAt: Date | null = null
  let probeDelayMs = firstProbeDelayMs

  // Probes with a write: replicas and a Redis out of memory also respond to PING.
  const write = () => redis.set(probeKey, '', 'PX', 1)
  const isHealthy = (): Promise<boolean> =>
    write().then(
      () => true,
      () => false,
    )

  const recover = async (): Promise<void> => {
    do {
      if (!(await clock.sleep(probeDelayMs, closed.signal))) return
      probeDelayMs = Math.min(2 * probeDelayMs, maxProbeDelayMs)
    } while (!(await isHealthy()))
    if (closed.signal.aborted) return
    recoveredAt = clock.now()
    trippedAt = null
    outage.end('commands')
  }

  const trip = (error: unknown): void => {
    if (trippedAt !== null || closed.signal.aborted) return
    trippedAt = clock.now()
    const wasStable = recoveredAt === null || trippedAt.getTime() - recoveredAt.getTime() > stableMs
    if (wasStable) probeDelayMs = firstProbeDelayMs
    // Message only: the error of a failed AUTH contains the password.
    outage.begin('commands', messageOf(error))
    void recover()
  }

  return {
    isOpen: () => trippedAt !== null,
    trip,
    probe: async () => {
      if (trippedAt === null) await write().catch(trip)
    },
    close: () => closed.abort(),
  }
}

export const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error))
