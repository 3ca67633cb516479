import { setTimeout as sleep } from 'node:timers/promises'
import { Redis } from 'ioredis'
import type { Logger } from '../../ports/logger.js'

export type { Redis } from 'ioredis'

/** How the connection to Redis is opened. */
export interface RedisClientOptions {
  readonly logger: Logger
  /** How long the start waits for Redis before it goes on without. */
  readonly readyDeadlineMs?: number
}

const defaultReadyDeadlineMs = 2_000

// The library's defaults let a command wait for ever while Redis hangs or is down.
const deadlines = {
  connectTimeout: 500,
  commandTimeout: 150,
  socketTimeout: 2_000,
  enableOfflineQueue: false,
  // A command whose answer was lost fails at once and is never sent again: it may have been carried out.
  maxRetriesPerRequest: 0,
  autoResendUnfulfilledCommands: false,
  retryStrategy: (attempt: number) => Math.min(50 * attempt, 500),
} as const

/**
 * Opens the one connection to Redis and answers when it is ready, or after a deadline with a client that
 * goes on trying. Every command fails within 150 ms at most; a lost connection is logged once and comes
 * back by itself. Throws only for a URL that is none. Whoever opens it ends it with `disconnect()`.
 */
export const openRedis = async (
  url: string,
  { logger, readyDeadlineMs = defaultReadyDeadlineMs }: RedisClientOptions,
): Promise<Redis> => {
  checkUrl(url)
  const redis = new Redis(url, { ...deadlines, connectionName: 'quittance' })
  logTransitions(redis, logger)
  await waitUntilReady(redis, readyDeadlineMs)
  return redis
}

// The library takes any other text for the path of a socket. The text is not repeated: it holds a password.
const checkUrl = (url: string): void => {
  const isRedis = URL.canParse(url) && ['redis:', 'rediss:'].includes(new URL(url).protocol)
  if (!isRedis) throw new Error('The URL of Redis must begin with redis:// or rediss://')
}

// Without a listener for errors the library writes each of them to the console.
const logTransitions = (redis: Redis, logger: Logger): void => {
  let isLost = false
  redis.on('error', (error: Error) => {
    if (isLost) return
    isLost = true
    // The message only: the error of a refused login carries the password.
    logger.warn({ error: error.message }, 'redis.lost')
  })
  redis.on('ready', () => {
    if (isLost) logger.info({}, 'redis.found')
    isLost = false
  })
}

const waitUntilReady = async (redis: Redis, deadlineMs: number): Promise<void> => {
  const aborter = new AbortController()
  const ready = new Promise<void>((resolve) => redis.once('ready', resolve))
  const deadline = sleep(deadlineMs, undefined, { signal: aborter.signal }).catch(() => undefined)
  await Promise.race([ready, deadline])
  aborter.abort()
}
