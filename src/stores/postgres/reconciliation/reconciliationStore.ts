import type { Pool } from 'pg'
import { z } from 'zod'
import type { ReconciliationStore, RecordedSettlement } from '../../../ports/reconciliation.js'
import { counterNames, difference, kindCount, periodTotal } from '../../../protocol/reconciliation.js'
import { inTransaction } from '../database/statements.js'
import { newestSettlements } from '../journal/settlementOverview.js'
import { readSettlement, settlementColumns } from '../journal/settlementRow.js'
import { hasFailed, isClosedAs, isConfirmed } from '../journal/settlementStates.js'
import { findCountDifferences, readWithin } from './differences.js'
import { findMeteredDifferences, findMissingRows } from './missingRows.js'

const recordRow = z.object({
  is_event_due: z.boolean(),
  event: z
    .object({
      state: z.enum(['waiting', 'delivered', 'failed', 'stored']),
      status: z.string(),
      amount: z.string(),
      transaction: z.string(),
    })
    .nullable(),
  quota_month: z.string().nullable(),
  fee_rate: z.string().nullable(),
  fee: z.string().nullable(),
  created_microseconds: z.string().transform(BigInt),
})

const nightlyRow = z.object({
  day: z.string(),
  cursor: z.string().nullable(),
  are_pages_compared: z.boolean(),
  counted: z.array(z.enum(counterNames)),
  settlements: z.coerce.number(),
  open: z.coerce.number(),
  unchecked: z.coerce.number(),
  waiting: z.coerce.number(),
  counts: z.array(kindCount),
  listed: z.array(difference),
  started_at: z.date(),
  finished_at: z.date().nullable(),
})

// A day less than deliveries are kept: what is purged meanwhile is not missing.
const eventRetention = "interval '29 days'"

// The cursor is an id: a Date would lose microseconds.
const bounds = `s.created_at >= $1 and s.created_at < $2
  and ($3::uuid is null or (s.created_at, s.id) < ((select created_at from settlements where id = $3), $3))
  and ($5::text is null or s.network = $5)`

const listOpen = `
  with page as (
    select s.id, s.created_at from settlements s
    where s.id = any(array(select settlement_id from open_settlements)) and s.state in ('claimed', 'pending') and ${bounds}
    order by s.created_at desc, s.id desc limit $4)`

const listClosed = (state: 'confirmed' | 'failed'): string =>
  `with recursive ${newestSettlements({ scope: isClosedAs('s', state), network: null, bounds, limit: '$4' })}`

const withRecords = (page: string): string => `${page}
  select ${settlementColumns}, (extract(epoch from s.created_at) * 1000000)::bigint as created_microseconds,
    to_char(s.quota_month, 'YYYY-MM') as quota_month, s.fee_rate::text as fee_rate,
    s.caller <> 'anonymous' and s.state in ('confirmed', 'failed') and s.closed_at > now() - ${eventRetention} as is_event_due,
    (select f.fee::text from fee_ledger f where f.settlement_id = s.id) as fee,
    (select json_build_object('state', d.state, 'status', d.data ->> 'status', 'amount', d.data ->> 'amount',
        'transaction', coalesce(d.data ->> 'transaction', ''))
      from webhook_deliveries d where d.settlement_id = s.id and d.type in ('settlement.confirmed', 'settlement.failed')
      order by d.created_at desc, d.id desc limit 1) as event
  from page join settlements s on s.id = page.id order by page.created_at desc, page.id desc`

const lists = [listOpen, listClosed('confirmed'), listClosed('failed')].map(withRecords)

const sums = `
  select network, asset, count(*) filter (where state = 'confirmed') as confirmed,
    count(*) filter (where state = 'failed') as failed, count(*) filter (where state in ('claimed', 'pending')) as pending,
    coalesce(sum(coalesce(settled_amount, amount)) filter (where state = 'confirmed'), 0)::text as amount,
    trim_scale(coalesce(sum(coalesce(settled_amount, amount) * fee_rate) filter (where state = 'confirmed'), 0))::text as fees
  from settlements where created_at >= $1 and created_at < $2 group by network, asset order by network, asset`

const sumRow = periodTotal.extend({
  confirmed: z.coerce.number(),
  failed: z.coerce.number(),
  pending: z.coerce.number(),
})

const hasNetwork = `
  select exists (select 1 from settlements s where ${isConfirmed('s')} and network = $1)
    or exists (select 1 from settlements s where ${hasFailed('s')} and network = $1)
    or exists (select 1 from settlements where network = $1
      and id = any(array(select settlement_id from open_settlements))) as is_known`

const nightlyColumns = `to_char(day, 'YYYY-MM-DD') as day, cursor, are_pages_compared, counted, settlements, open, unchecked,
  waiting, counts, listed, started_at, finished_at`

// It bounds the lists of one page, which read indexes.
const pageTimeoutMs = 120_000

/** `views` reads the whole journal: it needs time, and must not delay payments. */
export const createReconciliationStore = (pool: Pool, views: Pool): ReconciliationStore => ({
  listSettlements: ({ from, to, network, after, limit }) =>
    inTransaction(views, async (client) => {
      // One snapshot: a settlement that closes meanwhile is on exactly one of the lists.
      await client.query('set transaction isolation level repeatable read, read only')
      await client.query(`set local statement_timeout = ${pageTimeoutMs}`)
      const found: Listed[] = []
      for (const list of lists) {
        const { rows } = await client.query(list, [from, to, after ?? null, limit, network ?? null])
        found.push(...rows.map(readRecord))
      }
      return found
        .sort(newestFirst)
        .slice(0, limit)
        .map(({ record }) => record)
    }),

  hasNetwork: async (network) => {
    const { rows } = await pool.query(hasNetwork, [network])
    return known.parse(rows)[0].is_known
  },

  findCountDifferences: (counter, period, limit) =>
    readWithin(views, limit, (client) => {
      if (counter === 'streams_and_intents') return findMeteredDifferences(client, period)
      if (counter === 'missing_rows') return findMissingRows(client, period)
      return findCountDifferences(client, counter, period)
    }),

  sumPeriod: ({ from, to }, limit) =>
    readWithin(views, limit, async (client) => {
      const { rows } = await client.query(sums, [from, to])
      return rows.map((value) => sumRow.parse(value))
    }),

  findNightly: async (day) => {
    const { rows } = await pool.query(
      `select ${nightlyColumns} from nightly_reconciliations where day = $1`,
      [day],
    )
    if (rows[0] === undefined) return null
    const { finished_at, started_at: _, are_pages_compared, ...progress } = nightlyRow.parse(rows[0])
    return { ...progress, arePagesCompared: are_pages_compared, isFinished: finished_at !== null }
  },

  saveNightly: async (progress) => {
    const { day, cursor, arePagesCompared, counted, settlements, open, unchecked, waiting } = progress
    await pool.query(
      `insert into nightly_reconciliations as n (day, cursor, are_pages_compared, counted, settlements, open, unchecked,
         waiting, counts, listed, finished_at)
       values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, case when $11 then now() end)
       on conflict (day) do update set cursor = excluded.cursor, are_pages_compared = excluded.are_pages_compared,
         counted = excluded.counted, counting_until = null, settlements = excluded.settlements, open = excluded.open,
         unchecked = excluded.unchecked, waiting = excluded.waiting, counts = excluded.counts,
         listed = excluded.listed, finished_at = excluded.finished_at
       where n.finished_at is null`,
      [
        day,
        cursor,
        arePagesCompared,
        counted,
        settlements,
        open,
        unchecked,
        waiting,
        JSON.stringify(progress.counts),
        JSON.stringify(progress.listed),
        progress.isFinished,
      ],
    )
  },

  claimCounting: async (day, forMs) => {
    const { rowCount } = await pool.query(
      `update nightly_reconciliations set counting_until = now() + $2 * interval '1 millisecond'
       where day = $1 and finished_at is null and (counting_until is null or counting_until < now())`,
      [day, forMs],
    )
    return rowCount === 1
  },

  findLastNightly: async () => {
    const { rows } = await pool.query(
      `select ${nightlyColumns} from nightly_reconciliations where finished_at is not null order by day desc limit 1`,
    )
    if (rows[0] === undefined) return null
    const { day, settlements, open, unchecked, waiting, counts, listed, finished_at } = nightlyRow.parse(
      rows[0],
    )
    const differences = counts.reduce((sum, { count }) => sum + count, 0)
    const finishedAt = (finished_at ?? new Date(0)).toISOString()
    return { day, finishedAt, settlements, open, unchecked, waiting, differences, counts, listed }
  },

  listUnfinishedNightlies: async () => {
    const { rows } = await pool.query(
      `select ${nightlyColumns} from nightly_reconciliations where finished_at is null
         and day > coalesce((select max(day) from nightly_reconciliations where finished_at is not null), '-infinity')
       order by day`,
    )
    return rows.map((value) => {
      const { day, counts, unchecked, started_at: startedAt } = nightlyRow.parse(value)
      return { day, counts, unchecked, startedAt }
    })
  },
})

const known = z.tuple([z.object({ is_known: z.boolean() })])

interface Listed {
  readonly record: RecordedSettlement
  /** A Date has milliseconds; the lists and the cursor are ordered by microseconds. */
  readonly createdMicroseconds: bigint
}

const readRecord = (value: unknown): Listed => {
  const { is_event_due, event, quota_month, fee_rate, fee, created_microseconds } = recordRow.parse(value)
  return {
    createdMicroseconds: created_microseconds,
    record: {
      settlement: readSettlement(value),
      isEventDue: is_event_due,
      event,
      quotaMonth: quota_month,
      feeRate: fee_rate,
      fee,
    },
  }
}

/** As the database orders ids: by bytes. */
const newestFirst = (left: Listed, right: Listed): number => {
  if (left.createdMicroseconds !== right.createdMicroseconds) {
    return left.createdMicroseconds < right.createdMicroseconds ? 1 : -1
  }
  return left.record.settlement.id < right.record.settlement.id ? 1 : -1
}
