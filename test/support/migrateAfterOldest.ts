import type { Pool } from 'pg'
import { expect } from 'vitest'
import { type Migrated, migrate } from '../../src/stores/postgres/database/migrate.js'
import { killInstances } from './instances.js'

/**
 * Upgrades a database whose instances are of a version up to migration 0039: beside them up to 0066, which is the newest
 * that all of these versions run beside, and further once they have ended.
 */
export const migrateAfterOldest = async (pool: Pool, folder: URL): Promise<Migrated> => {
  await expect(migrate(pool, folder, { giveUpAfterMs: 0 })).rejects.toThrow(
    /^Migration 0067_\w+\.sql cannot be applied beside instances of an older version/,
  )
  await killInstances(pool)
  return await migrate(pool, folder)
}
