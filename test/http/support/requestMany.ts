// A separate process for the accuracy test: sends the given number of requests of each key to an instance.
import { Redis } from 'ioredis'
import { z } from 'zod'
import { systemClock } from '../../../src/platform/clock.js'
import { silentLogger } from '../../../src/platform/logger.js'
import type { RateLimiter } from '../../../src/ports/rateLimiter.js'
import { createCircuit } from '../../../src/stores/redis/client.js'
import { createRedisRateLimiter } from '../../../src/stores/redis/rateLimiter.js'
import { runTask } from '../../support/runTask.js'
import { limitedApp } from './limitedApp.js'
import { withLongWindows } from './longWindows.js'

const task = z.object({
  url: z.string(),
  keyPrefix: z.string(),
  /** Empty: an anonymous caller. */
  keys: z.array(z.string()),
  requests: z.number(),
})
const concurrency = 10

const failingFallback: RateLimiter = {
  take: () => Promise.reject(new Error('Redis did not answer')),
  refund: async () => undefined,
  isDegraded: () => false,
  close: async () => undefined,
}

const run = async ({ url, keyPrefix, keys, requests }: z.infer<typeof task>): Promise<object> => {
  const redis = new Redis(url)
  const circuit = createCircuit({ redis, clock: systemClock, logger: silentLogger })
  const limiter = createRedisRateLimiter({ redis, circuit, fallback: failingFallback, keyPrefix })
  const app = limitedApp({ limiter: withLongWindows(limiter), clock: systemClock })
  const request = async (key: string): Promise<object> => {
    let left = requests
    const statuses: Record<number, number> = {}
    const askInTurn = async (): Promise<void> => {
      while (left > 0) {
        left -= 1
        const headers = key === '' ? {} : { 'x-api-key': key }
        const { statusCode } = await app.inject({ method: 'POST', url: '/verify', headers })
        statuses[statusCode] = (statuses[statusCode] ?? 0) + 1
      }
    }
    await Promise.all(Array.from({ length: concurrency }, askInTurn))
    return { allowed: statuses[200] ?? 0, refused: statuses[429] ?? 0 }
  }
  const counts: object[] = []
  for (const key of keys) counts.push(await request(key))
  redis.disconnect()
  return { counts }
}

runTask(task, run)
