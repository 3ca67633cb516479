import type { Pool } from 'pg'
import { toMonth } from '../database/day.js'

export const ensureQuotaRow = async (pool: Pool, holder: string, at: Date): Promise<void> => {
  await pool.query(
    'insert into quota_uses (account_id, month) values ($1, $2) on conflict (account_id, month) do nothing',
    [holder, toMonth(at)],
  )
}
