// A separate process for the accuracy test: draws the given number of times once all processes are ready.
import { Redis } from 'ioredis'
import { z } from 'zod'
import { systemClock } from '../../../src/platform/clock.js'
import type { RateLimiter } from '../../../src/ports/rateLimiter.js'
import { createCircuit } from '../../../src/stores/redis/client.js'
import { createRedisRateLimiter } from '../../../src/stores/redis/rateLimiter.js'
import { runTask } from '../../support/runTask.js'

const task = z.object({ url: z.string(), keyPrefix: z.string(), limit: z.number(), takes: z.number() })
const concurrency = 10

const failingFallback: RateLimiter = {
  take: () => Promise.reject(new Error('Redis did not answer')),
  refund: async () => undefined,
  isDegraded: () => false,
  close: async () => undefined,
}
const silent = { debug() {}, info() {}, warn() {}, error() {} }

const run = async ({ url, keyPrefix, limit, takes }: z.infer<typeof task>): Promise<object> => {
  const redis = new Redis(url)
  const limiter = createRedisRateLimiter({
    redis,
    fallback: failingFallback,
    circuit: createCircuit({ redis, logger: silent, clock: systemClock }),
    keyPrefix,
  })
  const question = [
    { key: 'everybody', limit, windowMs: 600_000 },
    { key: 'everybody', limit: 2 * limit, windowMs: 3_600_000 },
  ]
  let left = takes
  let allowed = 0
  const takeInTurn = async (): Promise<void> => {
    while (left > 0) {
      left -= 1
      if ((await limiter.take(question)).isAllowed) allowed += 1
    }
  }
  await Promise.all(Array.from({ length: concurrency }, takeInTurn))
  redis.disconnect()
  return { allowed }
}

runTask(task, run)
