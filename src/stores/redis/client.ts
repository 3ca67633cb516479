import { setTimeout as sleep } from 'node:timers/promises'
import type { Redis } from 'ioredis'
import { scrubText } from '../../platform/scrub.js'
import type { Secret } from '../../platform/secret.js'
import type { Clock } from '../../ports/clock.js'
import type { Logger } from '../../ports/logger.js'

interface RedisClientOptions {
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
  // Its code is loaded only where Redis is configured.
  const { Redis } = await import('ioredis')
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

const problems: Readonly<Record<string, string>> = {
  ECONNREFUSED: 'no server listens there',
  ENOTFOUND: 'the host is unknown',
  EAI_AGAIN: 'the host is unknown',
  ETIMEDOUT: 'it does not answer',
  EHOSTUNREACH: 'it does not answer',
  ENETUNREACH: 'it does not answer',
  ECONNRESET: 'it closed the connection',
}

/** What is wrong with the Redis of this URL, in half a sentence with its host and port. Never its user or password. */
export const describeRedisProblem = (error: Error, url: string): string => {
  const { hostname, port } = new URL(url)
  const code = 'code' in error ? String(error.code) : ''
  const refusal = /^(?:WRONGPASS|NOAUTH|NOPERM|ERR AUTH|ERR invalid password)/.exec(error.message)?.[0]
  const problem = refusal === undefined ? problems[code] : `it refuses this user or password (${refusal})`
  return `${hostname}:${port === '' ? '6379' : port}: ${problem ?? scrubText(error.message)}`
}

/** `connection`: it broke. `commands`: they fail or do not answer in time, with or without a connection. */
type Sign = 'connection' | 'commands'

/** One line when Redis fails, by whichever sign is noticed first, and one when no sign is left. */
export interface RedisOutage {
  begin(sign: Sign, problem: string): void
  end(sign: Sign): void
}

export const createRedisOutage = (logger: Logger): RedisOutage => {
  const signs = new Set<Sign>()
  return {
    begin: (sign, problem) => {
      if (signs.size === 0) logger.warn({ variable: 'REDIS_URL', problem }, 'redis.degraded')
      signs.add(sign)
    },
    end: (sign) => {
      if (signs.delete(sign) && signs.size === 0) logger.info({}, 'redis.recovered')
    },
  }
}

/** Connects, writes and disconnects. Rejects with a sentence of our own if Redis does not take the write. */
export const pingRedis = async (url: Secret): Promise<void> => {
  const address = url.reveal()
  checkUrl(address)
  // They are longer than those of a request: a command that also checks nodes and databases waits here, and no payment.
  const patience = { connectTimeout: 10_000, commandTimeout: 10_000, socketTimeout: 10_000 }
  const { Redis } = await import('ioredis')
  const redis = new Redis(address, {
    ...deadlines,
    ...patience,
    lazyConnect: true,
    retryStrategy: () => null,
  })
  // The promise of `connect` says only that the connection is closed.
  const reasons: Error[] = []
  redis.on('error', (error: Error) => reasons.push(error))
  try {
    await redis.connect()
    await redis.set('quittance:probe', '', 'PX', 1)
  } catch (error) {
    if (error instanceof Error) reasons.push(error)
    throw new Error(describeRedisProblem(reasons[0] ?? new Error('it cannot be used'), address))
  } finally {
    redis.disconnect()
  }
}

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
