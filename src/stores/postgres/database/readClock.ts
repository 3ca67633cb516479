import type { Pool } from 'pg'
import { z } from 'zod'

const rowShape = z.tuple([z.object({ major: z.number(), is_read_only: z.boolean(), now_ms: z.number() })])

export interface ServerState {
  readonly major: number
  readonly isReadOnly: boolean
  /** How far the server's clock is ahead of ours; the duration of the query is allowed for. */
  readonly aheadMs: number
}

export const readClock = async (pool: Pool): Promise<ServerState> => {
  // Opens the connection first, which takes longer than the query.
  await pool.query('select')
  const startedMs = Date.now()
  const { rows } = await pool.query(
    `select current_setting('server_version_num')::int / 10000 as major,
       current_setting('transaction_read_only') = 'on' as is_read_only,
       extract(epoch from clock_timestamp())::float8 * 1000 as now_ms`,
  )
  const endedMs = Date.now()
  const [{ major, is_read_only: isReadOnly, now_ms: nowMs }] = rowShape.parse(rows)
  const isWithin = nowMs >= startedMs - 1 && nowMs <= endedMs + 1
  return { major, isReadOnly, aheadMs: isWithin ? 0 : nowMs - (startedMs + endedMs) / 2 }
}
