import type { Pool } from 'pg'
import { z } from 'zod'
import { newestTransaction } from '../../src/stores/postgres/journal/settlementStates.js'

/* The only file of the suite that reads tables. */

const settlementRow = z.object({
  id: z.string(),
  authorization_id: z.string(),
  pay_to: z.string(),
  amount: z.string().transform(BigInt),
  state: z.enum(['claimed', 'pending', 'confirmed', 'failed']),
  transaction: z.string().nullable(),
  transactions: z.array(z.string()),
  reason: z.string().nullable(),
  consumed_by: z.string().nullable(),
  created_at: z.date(),
  recorded_at: z.date().nullable(),
  closed_at: z.date().nullable(),
})

export type SettlementRow = z.infer<typeof settlementRow>

const broadcastRow = z.object({
  transaction: z.string(),
  signer: z.string().nullable(),
  nonce: z.coerce.number().nullable(),
  recorded_at: z.date(),
})

export type BroadcastRow = z.infer<typeof broadcastRow>

const laneRow = z.object({ signer: z.string(), next_nonce: z.coerce.number() })

export type LaneRow = z.infer<typeof laneRow>

const counted = z.object({ count: z.number() })

const settlementColumns = `id, authorization_id, pay_to, amount::text as amount, state, ${newestTransaction('s')} as transaction, transactions,
  reason, consumed_by, created_at, recorded_at, closed_at`

export const readSettlements = async (
  pool: Pool,
  authorizationIds: readonly string[],
): Promise<readonly SettlementRow[]> => {
  const { rows } = await pool.query(
    `select ${settlementColumns} from settlements s where authorization_id = any($1) order by created_at`,
    [authorizationIds],
  )
  return rows.map((row) => settlementRow.parse(row))
}

const count = async (pool: Pool, from: string): Promise<number> => {
  const { rows } = await pool.query(`select count(*)::int as count from ${from}`)
  return counted.parse(rows[0]).count
}

export const countOpen = (pool: Pool): Promise<number> =>
  count(pool, "settlements where state in ('claimed', 'pending')")

export const countUnfinal = (pool: Pool): Promise<number> => count(pool, 'unfinal_settlements')

/** Any row, also those of claims and sweeps, which are of no payment of the load. */
export const describeRow = async (pool: Pool, id: string): Promise<string> => {
  const { rows } = await pool.query(
    `select ${settlementColumns}, scheme, details, closed_at - created_at as open_for,
       array(select json_build_object('transaction', b.transaction, 'signer', b.signer, 'nonce', b.nonce)
         from broadcasts b where b.network = s.network and b.transaction = any(s.transactions)) as broadcasts
     from settlements s where id = $1`,
    [id],
  )
  return JSON.stringify(rows[0] ?? null)
}

export const readAccountSettlements = async (
  pool: Pool,
): Promise<readonly Pick<SettlementRow, 'id' | 'state' | 'transaction'>[]> => {
  const { rows } = await pool.query(
    `select id, state, ${newestTransaction('s')} as transaction from settlements s where caller <> 'anonymous' order by created_at`,
  )
  return z.array(settlementRow.pick({ id: true, state: true, transaction: true })).parse(rows)
}

/** What was paid: after a reorg, a sweep can pay less than it was asked for, and two of them can be paid by one transaction. */
export const sumConfirmed = async (pool: Pool): Promise<ReadonlyMap<string, bigint>> => {
  const { rows } = await pool.query(
    `with paid as (
       select *, row_number() over (partition by transaction, details ->> 'type' order by id) as place
       from settlements where state = 'confirmed')
     select lower(pay_to) as pay_to, sum(coalesce(settled_amount, amount))::text as amount from paid
     where place = 1 or details ->> 'type' is distinct from 'settle' group by 1`,
  )
  const sums = z.array(z.object({ pay_to: z.string(), amount: z.string().transform(BigInt) })).parse(rows)
  return new Map(sums.map(({ pay_to, amount }) => [pay_to, amount]))
}

export const readBroadcasts = async (
  pool: Pool,
  transactions: readonly string[],
): Promise<readonly BroadcastRow[]> => {
  const { rows } = await pool.query(
    'select transaction, signer, nonce, recorded_at from broadcasts where transaction = any($1)',
    [transactions],
  )
  return rows.map((row) => broadcastRow.parse(row))
}

export const readLanes = async (pool: Pool): Promise<readonly LaneRow[]> => {
  const { rows } = await pool.query('select signer, next_nonce from signer_lanes')
  return rows.map((row) => laneRow.parse(row))
}
