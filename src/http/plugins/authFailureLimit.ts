import { createHash } from 'node:crypto'
import type { FastifyRequest } from 'fastify'
import fastifyPlugin from 'fastify-plugin'
import { AppError } from '../../errors.js'
import { readClientNetwork } from '../../platform/clientNetwork.js'
import type { Clock } from '../../ports/clock.js'
import type { Logger } from '../../ports/logger.js'
import type { RateLimiter } from '../../ports/rateLimiter.js'
import { isProbe } from '../probes.js'
import { clientClosedRequest, onResponseEnd } from '../responseEnd.js'

export interface AuthFailureLimitDependencies {
  readonly limiter: RateLimiter
  readonly clock: Clock
  readonly logger: Logger
}

export const maxAuthFailuresPerMinute = 30

const minuteMs = 60_000
const maxTracked = 10_000

/**
 * Rejects a blocked address before the key lookup, except for credentials accepted within two minutes: clients
 * behind one NAT share addresses. Must be registered before authentication.
 */
export const authFailureLimit = fastifyPlugin<AuthFailureLimitDependencies>(
  (app, { limiter, clock, logger }, done) => {
    const blockedUntilMs = new Map<string, number>()
    const accepted = new RecentCredentials(clock)

    const readBlockedMs = (address: string): number => {
      const untilMs = blockedUntilMs.get(address)
      if (untilMs === undefined) return 0
      const remainingMs = untilMs - clock.now().getTime()
      if (remainingMs <= 0) blockedUntilMs.delete(address)
      return remainingMs
    }

    const recordFailure = async (address: string): Promise<void> => {
      const window = { key: `refused keys ${address}`, limit: maxAuthFailuresPerMinute, windowMs: minuteMs }
      const { windows } = await limiter.take([window])
      if (windows[0]?.remaining !== 0) return
      const [oldest] = blockedUntilMs.keys()
      if (blockedUntilMs.size >= maxTracked && oldest !== undefined) blockedUntilMs.delete(oldest)
      const remainingMs = windows[0].resetsAt.getTime() - clock.now().getTime()
      blockedUntilMs.set(address, clock.now().getTime() + Math.min(Math.max(remainingMs, 1_000), minuteMs))
    }

    app.addHook('onRequest', (request, reply, next) => {
      const credential = findCredential(request)
      if (credential === null || isProbe(request)) {
        next()
        return
      }
      const address = readClientNetwork(request.ip)
      const blockedMs = readBlockedMs(address)
      if (blockedMs > 0 && !accepted.has(credential)) {
        next(
          new AppError('RATE_LIMITED', 'Too many invalid API keys from this address', {
            operationalCode: 'SVC-2005',
            retryAfterSeconds: blockedMs / 1_000,
          }),
        )
        return
      }
      onResponseEnd(reply, ({ status }) => {
        if (status < 300) accepted.add(credential)
        if (!isAuthFailure(status, request)) return
        accepted.delete(credential)
        recordFailure(address).catch((error: unknown) => logger.warn({ error }, 'refused_keys.count_failed'))
      })
      next()
    })
    done()
  },
  { name: 'authFailureLimit' },
)

// A disconnect before authentication counts as a failure; otherwise guessing would be free.
const isAuthFailure = (status: number, { account }: FastifyRequest): boolean =>
  status === 401 || status === 403 || (status === clientClosedRequest && account === null)

const findCredential = ({ headers }: FastifyRequest): string | null => {
  const { authorization } = headers
  const apiKey = headers['x-api-key']
  if (authorization === undefined && apiKey === undefined) return null
  return `${authorization} ${apiKey}`
}

/** SHA-256 hashes of credentials accepted in the current or previous minute. */
class RecentCredentials {
  readonly #clock: Clock
  #current = new Set<string>()
  #previous = new Set<string>()
  #sinceMs = 0

  constructor(clock: Clock) {
    this.#clock = clock
  }

  has(credential: string): boolean {
    this.#rotate()
    const hash = hashOf(credential)
    return this.#current.has(hash) || this.#previous.has(hash)
  }

  add(credential: string): void {
    this.#rotate()
    if (this.#current.size < maxTracked) this.#current.add(hashOf(credential))
  }

  delete(credential: string): void {
    const hash = hashOf(credential)
    this.#current.delete(hash)
    this.#previous.delete(hash)
  }

  #rotate(): void {
    const nowMs = this.#clock.now().getTime()
    if (nowMs - this.#sinceMs < minuteMs) return
    this.#previous = nowMs - this.#sinceMs < 2 * minuteMs ? this.#current : new Set()
    this.#current = new Set()
    this.#sinceMs = nowMs
  }
}

const hashOf = (credential: string): string => createHash('sha256').update(credential).digest('base64')
