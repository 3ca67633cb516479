import type { Pool } from 'pg'
import { counterNames, type Difference } from '../../src/protocol/reconciliation.js'
import { findCountDifferences } from '../../src/stores/postgres/reconciliation/differences.js'

const always = { from: new Date(0), to: new Date('2100-01-01T00:00:00Z') }

/** Differences between the journal and all that is counted from it. */
export const findWorkDifferences = async (pool: Pool): Promise<readonly Difference[]> => {
  const found: Difference[] = []
  for (const counter of counterNames) {
    if (counter === 'streams_and_intents' || counter === 'missing_rows') continue
    found.push(...(await findCountDifferences(pool, counter, always)).differences)
  }
  return found
}
