import type { Pool } from 'pg'
import { z } from 'zod'
import type { Statistics } from '../../../ports/statistics.js'

const requestTotals = z.object({
  requests: z.coerce.number(),
  failures: z.coerce.number(),
  durationMs: z.number(),
})

const settlementTotals = z.object({
  confirmed: z.coerce.number(),
  failed: z.coerce.number(),
  pending: z.coerce.number(),
})

// No process repeats a batch after a week.
const purgeBatches = `delete from request_batches where written_at < now() - interval '7 days'`

export const createStatistics = (pool: Pool): Statistics => ({
  addRequests: async ({ source, sequence, requests, failures, durationMs }) => {
    if (sequence === 1) await pool.query(purgeBatches)
    await pool.query(
      `with fresh as (
         insert into request_batches as b (source, sequence) values ($1, $2)
         on conflict (source) do update set sequence = excluded.sequence, written_at = now()
           where b.sequence < excluded.sequence
         returning b.source
       )
       insert into request_statistics as s (day, requests, failures, duration_ms)
       select (now() at time zone 'utc')::date, $3, $4, $5 from fresh
       on conflict (day) do update set requests = s.requests + excluded.requests,
         failures = s.failures + excluded.failures, duration_ms = s.duration_ms + excluded.duration_ms`,
      [source, sequence, requests, failures, durationMs],
    )
  },

  readRequests: async () => {
    const { rows } = await pool.query(
      `select coalesce(sum(requests), 0) as requests, coalesce(sum(failures), 0) as failures,
         coalesce(sum(duration_ms), 0) as "durationMs" from request_statistics`,
    )
    return requestTotals.parse(rows[0])
  },

  countSettlements: async () => {
    const { rows } = await pool.query(
      `select sum(confirmed) as confirmed, sum(failed) as failed,
         sum(opened) - sum(confirmed) - sum(failed) as pending from settlement_totals`,
    )
    return settlementTotals.parse(rows[0])
  },
})
