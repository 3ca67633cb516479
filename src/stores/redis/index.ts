import type { Secret } from '../../platform/secret.js'
import type { Clock } from '../../ports/clock.js'
import type { IdempotencyStore } from '../../ports/idempotencyStore.js'
import type { Logger } from '../../ports/logger.js'
import type { RateLimiter } from '../../ports/rateLimiter.js'
import { createDividedRateLimiter } from '../cache/rateLimiter.js'
import type { Stores } from '../stores.js'
import { createCircuit, createRedisOutage, openRedis } from './client.js'
import { createIdempotencyLease } from './idempotencyLease.js'
import { createRedisRateLimiter } from './rateLimiter.js'

interface SharedStoresOptions {
  /** Null: limits are counted per process, and idempotency keys live in `record` only. */
  readonly url: Secret | null
  /** Counts where there is no Redis, or while it does not answer. */
  readonly limiter: RateLimiter
  /** Its answers and limits are kept apart from those of real payments, which may be on the same server. */
  readonly isSandbox: boolean
  /** Authoritative for idempotency keys. */
  readonly record: IdempotencyStore
  /** Including this one: they divide the limits while Redis is down. */
  countInstances(): number
  readonly clock: Clock
  readonly logger: Logger
  readonly closers: (() => Promise<void>)[]
}

/** What instances share through Redis, if it is configured. */
export const openSharedStores = async ({
  url,
  limiter: inProcess,
  isSandbox,
  record,
  countInstances,
  clock,
  logger,
  closers,
}: SharedStoresOptions): Promise<Pick<Stores, 'limiter' | 'idempotency' | 'pingLimiter'>> => {
  if (url === null) {
    closers.push(() => inProcess.close())
    return { limiter: inProcess, idempotency: record, pingLimiter: async () => 'ok' }
  }
  const outage = createRedisOutage(logger)
  const redis = await openRedis(url.reveal(), { logger, outage })
  closers.push(async () => redis.disconnect())
  const circuit = createCircuit({ redis, clock, logger, outage })
  closers.push(async () => circuit.close())
  const limiter = createRedisRateLimiter({
    redis,
    circuit,
    fallback: createDividedRateLimiter({ limiter: inProcess, countInstances }),
    ...(isSandbox ? { keyPrefix: 'quittance:sandbox:limits:' } : {}),
  })
  closers.push(() => limiter.close())
  return {
    limiter,
    idempotency: createIdempotencyLease({
      redis,
      circuit,
      record,
      ...(isSandbox ? { keyPrefix: 'quittance:sandbox:idempotency:' } : {}),
    }),
    pingLimiter: async () => {
      // Without requests nothing else notices that Redis is gone.
      await circuit.probe()
      return limiter.isDegraded() ? 'degraded' : 'ok'
    },
  }
}
