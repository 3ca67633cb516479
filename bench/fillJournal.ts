import { statfs } from 'node:fs/promises'
import { isDeepStrictEqual } from 'node:util'
import type { Pool } from 'pg'
import { insertJournalRows } from '../test/support/journalRows.js'
import { makeFolder } from './makeFolder.js'

const rowsAtOnce = 50_000
const paymentsPerBlock = 10
// 920 bytes are kept, with indexes; sorting for an index takes as much again as the largest one.
const bytesOfRow = 1_500
// WAL, and what the statements and steps that are measured afterwards write.
const otherBytes = 4_000_000_000

/** One million payments a day: the last minutes of them are not final, and one in two belongs to an account. */
const columns = {
  caller: `case when n % 2 = 0 then 'account ' || n % 1000 else 'anonymous' end`,
  network: `case n % 10 when 0 then 'solana:devnet' when 1 then 'eip155:8453' else 'eip155:84532' end`,
  transaction: `'0x' || md5(n::text) || md5(n::text)`,
  is_final: 'n > 2000',
  created_at: `now() - n * interval '0.0864 seconds'`,
} as const

/** Throws where a journal of this size does not fit on the disk of a local server. */
export const requireDisk = async (rows: number): Promise<void> => {
  if (process.env.BENCH_DATABASE_URL) return
  const folder = await makeFolder()
  const { bavail, bsize } = await statfs(folder.path)
  await folder.remove()
  const needed = rows * bytesOfRow + otherBytes
  if (bavail * bsize >= needed) return
  const [needs, has] = [needed, bavail * bsize].map((bytes) => (bytes / 1e9).toFixed(1))
  throw new Error(`${rows} settlements need ${needs} GB of disk; ${has} GB are free`)
}

/** Also an endpoint and a delivered message for every hundredth settlement. */
export const fillJournal = async (pool: Pool, from: number, to: number): Promise<void> => {
  await withoutIndexes(pool, async () => {
    for (let rows = from; rows < to; rows += rowsAtOnce)
      await insertRows(pool, rows, Math.min(rows + rowsAtOnce, to))
    await addConsumed(pool)
  })
  const endpoints = `generate_series(${from / 100 + 1}, ${to / 100}) n`
  await pool.query(
    `insert into webhook_endpoints (account_id, url, sealed_secret)
     select 'account ' || n, 'https://a.example/', '\\x00' from ${endpoints} on conflict do nothing`,
  )
  await pool.query(
    `insert into webhook_deliveries (account_id, type, data, state, due_at)
     select 'account ' || n, 'settlement.confirmed', '{}', 'delivered', null from ${endpoints}`,
  )
  for (const table of [
    'settlements',
    'consumed_authorizations',
    'webhook_deliveries',
    'webhook_endpoints',
    'unfinal_settlements',
  ]) {
    await pool.query(`vacuum analyze ${table}`)
  }
  await pool.query('checkpoint')
}

/** Later rows are older, as if the service had run for longer. */
const shifted = (rows: number): Readonly<Record<string, string>> =>
  Object.fromEntries(
    Object.entries({
      ...columns,
      block_number: `2000000000 - n / ${paymentsPerBlock}`,
      block_hash: `'0x' || lpad((n / ${paymentsPerBlock})::text, 64, '0')`,
    }).map(([name, value]) => [name, value.replaceAll(/\bn\b/g, `(n + ${rows})`)]),
  )

/** Without the digest of each row: they are added together. */
const insertRows = async (pool: Pool, from: number, to: number): Promise<void> => {
  await pool.query('alter table settlements disable trigger settlements_inserted_consumed')
  await insertJournalRows(pool, { count: to - from, columns: shifted(from) })
  await pool.query('alter table settlements enable trigger settlements_inserted_consumed')
}

/** What the trigger would have added, with the condition and the values of migration 0032. */
const addConsumed = async (pool: Pool): Promise<void> => {
  await pool.query(
    `insert into consumed_authorizations (digest, terms, settlement_id)
     select digest_authorization(authorization_id), digest_terms(authorization_id, caller, scheme, network, asset, payer,
       pay_to, amount, authorized_amount, details), id from settlements
     where is_consumed_for_good(state, consumed_by, block_hash, is_final)
       and not exists (select from consumed_authorizations known where known.settlement_id = settlements.id)`,
  )
}

interface Definition {
  readonly drop: string
  readonly create: string
}

/**
 * Builds indexes afterwards, by sorting: entries in random order would each read and write a page that is not in memory, and
 * most of the time of ten million rows goes there. The indexes are the same as before, or this throws.
 */
const withoutIndexes = async (pool: Pool, work: () => Promise<void>): Promise<void> => {
  const definitions = await listDefinitions(pool)
  await pool.query('set statement_timeout = 0')
  for (const { drop } of definitions) await pool.query(drop)
  await work()
  await pool.query("set maintenance_work_mem = '1GB'")
  for (const { create } of definitions.toReversed()) await pool.query(create)
  await pool.query('reset maintenance_work_mem')
  await pool.query('reset statement_timeout')
  if (!isDeepStrictEqual(await listDefinitions(pool), definitions))
    throw new Error('The indexes have changed')
}

/** In the order in which they can be dropped: foreign keys, then what they need. */
const listDefinitions = async (pool: Pool): Promise<readonly Definition[]> => {
  const filled = "('settlements'::regclass, 'consumed_authorizations'::regclass)"
  const { rows } = await pool.query<Definition>(
    `select format('alter table %s drop constraint %I', conrelid::regclass, conname) as drop,
       format('alter table %s add constraint %I %s', conrelid::regclass, conname, pg_get_constraintdef(oid)) as create,
       case contype when 'f' then 1 else 2 end as step
     from pg_constraint where (contype = 'f' and confrelid in ${filled}) or (contype in ('p', 'u') and conrelid in ${filled})
     union all
     select format('drop index %s', indexrelid::regclass), pg_get_indexdef(indexrelid), 3
     from pg_index where indrelid in ${filled}
       and not exists (select from pg_constraint where conindid = indexrelid and contype in ('p', 'u'))
     order by step, drop`,
  )
  return rows
}
