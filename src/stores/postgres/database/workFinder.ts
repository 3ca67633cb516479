import type { Pool } from 'pg'
import { z } from 'zod'
import type { Work, WorkFinder } from '../../../ports/job.js'
import type { Heartbeat } from './instance.js'

// Each condition is one entry of an index or of a small table, and holds wherever a round of its jobs would find a row.
const conditions: Readonly<Record<Work, string>> = {
  credit: `exists (select from credit_changes) or exists (select from credit_pairs)
    or exists (select from credit_scores where scored_at < now() - interval '1 day')`,
  holds: 'exists (select from held_payments)',
  intents: `exists (select from intents where status = 'executing')
    or exists (select from intents where status in ('pending', 'routed'))`,
  openSettlements: 'exists (select from open_settlements)',
  ownerChallenges: "exists (select from discovery_challenges where state = 'waiting')",
  queues: `exists (select from open_settlements)
    or exists (select from webhook_deliveries where state = 'waiting')`,
  streams: "exists (select from streams where state in ('active', 'paused', 'closing'))",
  unfinalSettlements: 'exists (select from unfinal_settlements)',
  webhooks: `exists (select from webhook_deliveries where state = 'waiting' and is_ready)
    or exists (select from webhook_deliveries where state = 'waiting' and not is_ready and due_at <= now())`,
}

const works = z.record(z.string(), z.boolean())
const rows = z.tuple([works])

const findWork = {
  text: `select ${Object.entries(conditions)
    .map(([work, condition]) => `(${condition}) as "${work}"`)
    .join(', ')}`,
  query_timeout: 2_000,
}

interface Found {
  readonly askedAt: number
  readonly works: Promise<z.infer<typeof works>>
}

// A resting instance does no shared job: its rounds only measure, and another instance measures the same.
const maxRestingAgeMs = 60_000

/** One statement asks for all jobs, and what heartbeats read is not asked. */
export const createWorkFinder = (
  pool: Pool,
  heartbeat: Pick<Heartbeat, 'readLast' | 'isResting'>,
): WorkFinder => {
  let last: Found | null = null

  const ask = (): Found => {
    const asked: Found = {
      askedAt: performance.now(),
      works: pool.query(findWork).then((result) => rows.parse(result.rows)[0]),
    }
    asked.works.catch(() => {
      if (last === asked) last = null
    })
    last = asked
    return asked
  }

  return {
    mayHave: async (work, maxAgeMs) => {
      const limitMs = heartbeat.isResting() ? Math.max(maxAgeMs, maxRestingAgeMs) : maxAgeMs
      const isRecent = (at: number): boolean => performance.now() - at < limitMs
      const beat = heartbeat.readLast()
      if (work === 'openSettlements' && beat !== null && isRecent(beat.sentAt)) return beat.hasOpenSettlements
      const found = last !== null && isRecent(last.askedAt) ? last : ask()
      return (await found.works)[work] ?? true
    },
  }
}
