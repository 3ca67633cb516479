import type { ReadinessCheck } from '../ports/readinessCheck.js'
import type { Stores } from './openStores.js'

export const listStoreChecks = ({
  pingDatabase,
  pingLimiter,
}: Pick<Stores, 'pingDatabase' | 'pingLimiter'>): readonly ReadinessCheck[] => [
  {
    name: 'database',
    accepts: ['ok'],
    probe: pingDatabase,
  },
  {
    // Without Redis each process counts limits itself: no reason to stop routing to it.
    name: 'store',
    accepts: ['ok', 'degraded'],
    probe: pingLimiter,
  },
]
