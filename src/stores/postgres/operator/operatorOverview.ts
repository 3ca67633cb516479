import type { Pool } from 'pg'
import { z } from 'zod'
import type { OverviewStore } from '../../../ports/operatorOverview.js'
import { isAlive } from '../database/instance.js'
import { createSettlementOverview } from '../journal/settlementOverview.js'
import { isClosedAs, newestTransaction } from '../journal/settlementStates.js'
import { createReconciliationStore } from '../reconciliation/reconciliationStore.js'
import { createStreamStore } from '../streams/streamStore.js'
import { measureWaitingWebhooks } from '../webhooks/waitingWebhooks.js'

const lane = z.object({
  network: z.string(),
  signer: z.string(),
  nextNonce: z.string(),
  holder: z.string().nullable(),
  unconfirmed: z.number(),
  oldestSeconds: z.number().nullable(),
})

const maxLanes = 500

const listLanes = `
  select l.network, l.signer, l.next_nonce::text as "nextNonce",
    case when l.lease_expires_at > now() and ${isAlive('l.holder')} then l.holder end as holder,
    coalesce(q.count, 0)::int as unconfirmed, q.oldest_seconds as "oldestSeconds"
  from signer_lanes l left join (
    select b.network, b.signer, count(distinct b.nonce) as count,
      extract(epoch from now() - min(r.recorded_at))::float8 as oldest_seconds
    from open_settlements o join settlements s on s.id = o.settlement_id
      join broadcasts b on b.network = s.network and b.transaction = ${newestTransaction('s')}
      -- A nonce waits since its first transaction, however often it was replaced.
      join broadcasts r on r.network = b.network and r.signer = b.signer and r.nonce = b.nonce
    where b.signer is not null group by b.network, b.signer) q
  on q.network = l.network and q.signer = l.signer
  order by l.network, l.signer limit ${maxLanes}`

const day = z.object({
  network: z.string(),
  confirmed: z.coerce.number(),
  failed: z.coerce.number(),
  lost: z.coerce.number(),
})

const ofDay = (state: 'confirmed' | 'failed', condition = 'true'): string => `
  (select count(*) from settlements s where ${isClosedAs('s', state)} and s.network = n.network
    and s.created_at > now() - interval '1 day' and ${condition})`

const countDay = `
  select n.network, ${ofDay('confirmed')} as confirmed, ${ofDay('failed')} as failed,
    ${ofDay('failed', 's.consumed_by is not null')} as lost
  from unnest($1::text[]) as n (network)`

const maxCounted = 10_000

const backlog = z.tuple([z.object({ count: z.number(), oldest_seconds: z.number().nullable() })])

/** The count is bounded. The age is not: it is the first entry of its index. */
export const measureWebhooks = `
  select (select count(*)::int
      from (select from webhook_deliveries where state = 'waiting' limit ${maxCounted + 1}) waiting) as count,
    (select extract(epoch from now() - min(created_at))::float8
      from webhook_deliveries where state = 'waiting') as oldest_seconds`

const job = z.object({ job: z.string(), holder: z.string().nullable() })

const listJobs = `
  select l.job, case when l.expires_at > now() and ${isAlive('l.holder')} then l.holder end as holder
  from job_leases l order by l.job limit 100`

const instance = z.object({ id: z.string(), seenSecondsAgo: z.number(), isAlive: z.boolean() })

const listInstances = `
  select id, greatest(0, extract(epoch from now() - seen_at))::float8 as "seenSecondsAgo",
    seen_at > now() - interval '10 seconds' as "isAlive"
  from instances order by seen_at desc limit 50`

/** `reads` may be those of a replica, which is a little late. */
export const createOverviewStore = (reads: Pool): OverviewStore => ({
  countOpenSettlements: createSettlementOverview(reads).countOpen,
  countOpenStreams: createStreamStore(reads).countOpen,
  findLastNightly: createReconciliationStore(reads, reads).findLastNightly,

  listLanes: async () => {
    const { rows } = await reads.query(listLanes)
    return rows.map((row) => lane.parse(row))
  },

  countDay: async (networks) => {
    const { rows } = await reads.query(countDay, [networks])
    return rows.map((row) => day.parse(row))
  },

  measureWebhooks: async () => {
    const { rows } = await reads.query(measureWebhooks)
    const [{ count, oldest_seconds: oldestSeconds }] = backlog.parse(rows)
    return { waiting: Math.min(count, maxCounted), isCountLimited: count > maxCounted, oldestSeconds }
  },

  measureWaitingWebhooks: () => measureWaitingWebhooks(reads),

  listJobs: async () => {
    const { rows } = await reads.query(listJobs)
    return rows.map((row) => job.parse(row))
  },

  listInstances: async () => {
    const { rows } = await reads.query(listInstances)
    return rows.map((row) => instance.parse(row))
  },
})
