import { createHash } from 'node:crypto'
import type { FastifyRequest } from 'fastify'
import fastifyPlugin from 'fastify-plugin'
import { AppError } from '../../errors.js'
import { readClientNetwork } from '../../platform/clientNetwork.js'
import type { Clock } from '../../ports/clock.js'
import type { Logger } from '../../ports/logger.js'
import type { RateLimiter } from '../../ports/rateLimiter.js'
import { clientClosedRequest, whenEnded } from '../ending.js'
import { isProbe } from '../probes.js'

/** What bounds refused keys. */
export interface RefusedKeysDependencies {
  readonly limiter: RateLimiter
  readonly clock: Clock
  readonly logger: Logger
}

/** How many refused keys one address may present in a minute. */
export const refusedKeysPerMinute = 30

const minuteMs = 60_000
const maxRemembered = 10_000

/**
 * Bounds how many keys an address may guess, and how often it makes us look one up. An address that was refused too
 * often is barred for the rest of the minute, before anybody looks at its keys; one that was good here a moment ago
 * still passes, because callers of one cloud share their addresses with strangers. Registered before whatever looks
 * at keys.
 */
export const refusedKeys = fastifyPlugin<RefusedKeysDependencies>(
  (app, { limiter, clock, logger }, done) => {
    const barredUntilMs = new Map<string, number>()
    const good = new RecentlyGood(clock)

    const readBar = (address: string): number => {
      const untilMs = barredUntilMs.get(address)
      if (untilMs === undefined) return 0
      const leftMs = untilMs - clock.now().getTime()
      if (leftMs <= 0) barredUntilMs.delete(address)
      return leftMs
    }

    const noteRefused = async (address: string): Promise<void> => {
      const window = { key: `refused keys ${address}`, limit: refusedKeysPerMinute, windowMs: minuteMs }
      const { windows } = await limiter.take([window])
      if (windows[0]?.remaining !== 0) return
      // The oldest goes first, and has the least of its minute left.
      const [oldest] = barredUntilMs.keys()
      if (barredUntilMs.size >= maxRemembered && oldest !== undefined) barredUntilMs.delete(oldest)
      const leftMs = windows[0].resetsAt.getTime() - clock.now().getTime()
      barredUntilMs.set(address, clock.now().getTime() + Math.min(Math.max(leftMs, 1_000), minuteMs))
    }

    app.addHook('onRequest', (request, reply, next) => {
      const credential = findCredential(request)
      // Probes are answered whatever happens, and look at no key.
      if (credential === null || isProbe(request)) {
        next()
        return
      }
      const address = readClientNetwork(request.ip)
      const barredMs = readBar(address)
      if (barredMs > 0 && !good.has(credential)) {
        next(
          new AppError('RATE_LIMITED', 'Too many keys from this address were refused', {
            operationalCode: 'SVC-2005',
            retryAfterSeconds: barredMs / 1_000,
          }),
        )
        return
      }
      whenEnded(reply, ({ status }) => {
        if (status < 300) good.add(credential)
        if (!isRefusal(status, request)) return
        good.delete(credential)
        noteRefused(address).catch((error: unknown) => logger.warn({ error }, 'refused_keys.count_failed'))
      })
      next()
    })
    done()
  },
  { name: 'refusedKeys' },
)

// Who hangs up before the answer is counted too, unless its key had been found good by then.
const isRefusal = (status: number, { account }: FastifyRequest): boolean =>
  status === 401 || status === 403 || (status === clientClosedRequest && account === null)

const findCredential = ({ headers }: FastifyRequest): string | null => {
  const { authorization } = headers
  const apiKey = headers['x-api-key']
  if (authorization === undefined && apiKey === undefined) return null
  return `${authorization} ${apiKey}`
}

/** Credentials that were good in this minute or the last one, by their hashes. */
class RecentlyGood {
  readonly #clock: Clock
  #newer = new Set<string>()
  #older = new Set<string>()
  #sinceMs = 0

  constructor(clock: Clock) {
    this.#clock = clock
  }

  has(credential: string): boolean {
    this.#forget()
    const hash = hashOf(credential)
    return this.#newer.has(hash) || this.#older.has(hash)
  }

  add(credential: string): void {
    this.#forget()
    if (this.#newer.size < maxRemembered) this.#newer.add(hashOf(credential))
  }

  delete(credential: string): void {
    const hash = hashOf(credential)
    this.#newer.delete(hash)
    this.#older.delete(hash)
  }

  #forget(): void {
    const nowMs = this.#clock.now().getTime()
    if (nowMs - this.#sinceMs < minuteMs) return
    this.#older = nowMs - this.#sinceMs < 2 * minuteMs ? this.#newer : new Set()
    this.#newer = new Set()
    this.#sinceMs = nowMs
  }
}

const hashOf = (credential: string): string => createHash('sha256').update(credential).digest('base64')
