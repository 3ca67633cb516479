import type { Pool } from 'pg'
import { toMonth } from '../database/day.js'

/** Gives an account a row in which a month's settlements are counted, unless it has one. */
export const ensureQuotaRow = async (pool: Pool, accountId: string, at: Date): Promise<void> => {
  await pool.query(
    'insert into quota_uses (account_id, month) values ($1, $2) on conflict (account_id, month) do nothing',
    [accountId, toMonth(at)],
  )
}
