import type { Pool } from 'pg'
import { forgetConsumed } from './forgetConsumed.js'

/** Emptied with `settlements`: their broadcasts, and what triggers count from them. */
const ofSettlements = [
  ...['broadcast_settlements', 'broadcasts'],
  ...['open_settlements', 'unfinal_settlements', 'account_days', 'credit_edges', 'credit_wallets'],
  ...['credit_failures', 'credit_pairs', 'credit_changes', 'credit_scores'],
]

const resetTotals = `update settlement_totals set opened = 0, confirmed = 0, failed = 0
  where opened <> 0 or confirmed <> 0 or failed <> 0`

/**
 * Empties tables between tests, `settlements` with all that belongs to it. `truncate` makes new files for each table
 * and index, after which every connection plans its statements again; deleting the rows of one test costs the server
 * a tenth of that. Waits for running writes, as `truncate` does.
 */
export const emptyTables = async (pool: Pool, ...names: readonly string[]): Promise<void> => {
  const hasSettlements = names.includes('settlements')
  const tables = names.filter((name) => name !== 'consumed_authorizations')
  const emptied = hasSettlements ? [...tables, ...ofSettlements] : tables
  // Foreign keys are checked at the end of a statement, so that one statement needs no order.
  const deletes = emptied.map((name) => `delete_${name} as (delete from ${name})`)
  await pool.query(
    [
      `lock table ${tables.join()} in exclusive mode`,
      ...(tables.length < names.length ? [forgetConsumed] : []),
      `with ${deletes.join()} select`,
      ...(hasSettlements ? [resetTotals] : []),
    ].join(';\n'),
  )
}
