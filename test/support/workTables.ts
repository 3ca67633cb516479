import type { Pool } from 'pg'
import type { Difference } from '../../src/protocol/reconciliation.js'
import { findCountDifferences } from '../../src/stores/postgres/reconciliation/countDifferences.js'

/** Differences between the journal and all that is counted from it. */
export const findWorkDifferences = (pool: Pool): Promise<readonly Difference[]> =>
  findCountDifferences(pool, { from: new Date(0), to: new Date('2100-01-01T00:00:00Z') })
