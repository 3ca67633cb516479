import fastifyPlugin from 'fastify-plugin'
import { setNewest } from '../../concurrency/boundedMap.js'
import { AppError } from '../../errors.js'
import { readClientNetwork } from '../../platform/clientNetwork.js'
import type { Clock } from '../../ports/clock.js'
import type { Logger } from '../../ports/logger.js'
import type { RateLimiter } from '../../ports/rateLimiter.js'
import { findCredentialHash } from '../auth/credential.js'
import { isProbe } from '../probes.js'
import { markRefused } from '../server/refusalMarks.js'
import '../auth/access.js'

export interface AuthFailureLimitDependencies {
  readonly limiter: RateLimiter
  readonly clock: Clock
  readonly logger: Logger
}

export const maxAuthFailuresPerMinute = 30

const minuteMs = 60_000
const maxTracked = 10_000

/**
 * Rejects a credential that an address has presented wrongly too often, before the key lookup. Counts only what
 * authentication refuses: a valid key may carry any number of requests that are answered 401 for another reason, such as
 * another party's wallet sign-in. An address is never rejected:
 * clients behind one NAT or proxy share it, and guessing 256 random bits needs no limit. Must be registered before
 * authentication.
 */
export const authFailureLimit = fastifyPlugin<AuthFailureLimitDependencies>(
  (app, { limiter, clock, logger }, done) => {
    if (!app.hasRequestDecorator('onKeyRefused')) app.decorateRequest('onKeyRefused', null)
    const blockedUntilMs = new Map<string, number>()

    const readBlockedMs = (pair: string): number => {
      const untilMs = blockedUntilMs.get(pair)
      if (untilMs === undefined) return 0
      const remainingMs = untilMs - clock.now().getTime()
      if (remainingMs <= 0) blockedUntilMs.delete(pair)
      return remainingMs
    }

    const recordFailure = async (pair: string): Promise<void> => {
      const window = { key: `refused keys ${pair}`, limit: maxAuthFailuresPerMinute, windowMs: minuteMs }
      const { windows } = await limiter.take([window])
      if (windows[0]?.remaining !== 0) return
      const remainingMs = windows[0].resetsAt.getTime() - clock.now().getTime()
      const untilMs = clock.now().getTime() + Math.min(Math.max(remainingMs, 1_000), minuteMs)
      setNewest(blockedUntilMs, pair, untilMs, maxTracked)
    }

    app.addHook('onRequest', (request, reply, next) => {
      const credential = findCredentialHash(request.headers)
      if (credential === null || isProbe(request)) {
        next()
        return
      }
      const pair = `${readClientNetwork(request.ip)} ${credential}`
      const blockedMs = readBlockedMs(pair)
      if (blockedMs > 0) {
        markRefused(reply.raw)
        next(
          new AppError('RATE_LIMITED', 'This API key was refused too often from this address', {
            operationalCode: 'SVC-2005',
            retryAfterSeconds: blockedMs / 1_000,
          }),
        )
        return
      }
      request.onKeyRefused = () => {
        recordFailure(pair).catch((error: unknown) => logger.warn({ error }, 'refused_keys.count_failed'))
      }
      next()
    })
    done()
  },
  { name: 'authFailureLimit' },
)
