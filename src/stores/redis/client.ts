import { setTimeout as sleep } from 'node:timers/promises'
import { Redis } from 'ioredis'
import type { Logger } from '../../ports/logger.js'
import { describeRedisProblem } from './connectionProblem.js'
import { createRedisOutage, type RedisOutage } from './outage.js'

export type { Redis } from 'ioredis'

export interface RedisClientOptions {
  readonly logger: Logger
  /** Shared with the circuit, so that one outage is one line. */
  readonly outage?: RedisOutage
  /** How long startup waits for Redis before continuing without it. */
  readonly readyDeadlineMs?: number
  /** After this long a command fails, and the circuit opens. Default 150 ms. */
  readonly commandTimeoutMs?: number
  /** After this long without an answer the connection is replaced. Default 2 s. */
  readonly socketTimeoutMs?: number
}

const defaultReadyDeadlineMs = 2_000
const defaultCommandTimeoutMs = 150
const defaultSocketTimeoutMs = 2_000

// With ioredis defaults, commands wait indefinitely while Redis is down.
const deadlines = {
  connectTimeout: 500,
  enableOfflineQueue: false,
  // A command whose response was lost is not resent: it may have been executed.
  maxRetriesPerRequest: 0,
  autoResendUnfulfilledCommands: false,
  retryStrategy: (attempt: number) => Math.min(50 * attempt, 500),
} as const

/** Keeps reconnecting if Redis is not ready at the deadline. */
export const openRedis = async (
  url: string,
  {
    logger,
    outage = createRedisOutage(logger),
    readyDeadlineMs = defaultReadyDeadlineMs,
    commandTimeoutMs = defaultCommandTimeoutMs,
    socketTimeoutMs = defaultSocketTimeoutMs,
  }: RedisClientOptions,
): Promise<Redis> => {
  checkUrl(url)
  const redis = new Redis(url, {
    ...deadlines,
    commandTimeout: commandTimeoutMs,
    socketTimeout: socketTimeoutMs,
    connectionName: 'quittance',
  })
  watchConnection(redis, url, outage)
  await waitUntilReady(redis, readyDeadlineMs)
  return redis
}

// ioredis treats any other text as a socket path. The error omits the URL, which contains a password.
const checkUrl = (url: string): void => {
  const isRedis = URL.canParse(url) && ['redis:', 'rediss:'].includes(new URL(url).protocol)
  if (!isRedis) throw new Error('REDIS_URL must begin with redis:// or rediss://')
}

// Without an error listener ioredis writes errors to the console.
const watchConnection = (redis: Redis, url: string, outage: RedisOutage): void => {
  // Not the error itself: that of a failed AUTH contains the password.
  redis.on('error', (error: Error) => outage.begin('connection', describeRedisProblem(error, url)))
  redis.on('ready', () => outage.end('connection'))
}

const waitUntilReady = async (redis: Redis, deadlineMs: number): Promise<void> => {
  const aborter = new AbortController()
  const ready = new Promise<void>((resolve) => redis.once('ready', resolve))
  const deadline = sleep(deadlineMs, undefined, { signal: aborter.signal }).catch(() => undefined)
  await Promise.race([ready, deadline])
  aborter.abort()
}
