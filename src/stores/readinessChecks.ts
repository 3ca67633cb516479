import type { RateLimiter } from '../ports/rateLimiter.js'
import type { ReadinessCheck } from '../ports/readinessCheck.js'

/** Whether the stores answer. */
export const listStoreChecks = ({
  pingDatabase,
  limiter,
}: {
  readonly pingDatabase: () => Promise<void>
  readonly limiter: RateLimiter
}): readonly ReadinessCheck[] => [
  {
    name: 'database',
    accepts: ['ok'],
    ask: async () => {
      await pingDatabase()
      return 'ok'
    },
  },
  {
    // While a shared store is down each process counts limits for itself: no reason to send callers elsewhere.
    name: 'store',
    accepts: ['ok', 'degraded'],
    ask: async () => (limiter.isDegraded() ? 'degraded' : 'ok'),
  },
]
