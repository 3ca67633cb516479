import type { RateLimiter } from '../ports/rateLimiter.js'
import type { ReadinessCheck } from '../ports/readinessCheck.js'
import type { DatabaseState } from './openStores.js'

export const listStoreChecks = ({
  pingDatabase,
  limiter,
}: {
  readonly pingDatabase: () => Promise<DatabaseState>
  readonly limiter: RateLimiter
}): readonly ReadinessCheck[] => [
  {
    name: 'database',
    accepts: ['ok'],
    probe: pingDatabase,
  },
  {
    // Without Redis each process counts limits itself: no reason to stop routing to it.
    name: 'store',
    accepts: ['ok', 'degraded'],
    probe: async () => (limiter.isDegraded() ? 'degraded' : 'ok'),
  },
]
