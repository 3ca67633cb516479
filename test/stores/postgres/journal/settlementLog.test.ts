import { beforeEach, describe, expect, it } from 'vitest'
import { z } from 'zod'
import { createSettlementJournal } from '../../../../src/stores/postgres/journal/settlementJournal.js'
import { createQuotas } from '../../../../src/stores/postgres/quota/quotas.js'
import { claimOf } from '../../../support/claimOf.js'
import { emptyTables } from '../../../support/emptyTables.js'
import { addInstance } from '../../../support/instances.js'
import { pollUntil } from '../../../support/pollUntil.js'
import { useTestDatabase } from '../../../support/postgres.js'
import { findWorkDifferences } from '../../../support/workTables.js'

const { pool, otherPool } = useTestDatabase()
beforeEach(async () => {
  await emptyTables(pool, 'consumed_authorizations', 'settlements', 'instances')
  await pool.query('create extension if not exists pg_walinspect')
})

const open = async () => createSettlementJournal(pool, await addInstance(pool))
const block = { number: 7n, hash: `0x${'7'.repeat(64)}` }
const closing = { state: 'confirmed', transaction: '0x1', block } as const

const readPosition = async (name: 'insert' | 'flush'): Promise<string> => {
  const { rows } = await pool.query<{ lsn: string }>(`select pg_current_wal_${name}_lsn()::text as lsn`)
  return rows[0]?.lsn ?? ''
}

const isFlushed = async (end: string): Promise<boolean> => {
  const { rows } = await pool.query<{ done: boolean }>(
    'select pg_current_wal_flush_lsn() >= $1::pg_lsn as done',
    [end],
  )
  return rows[0]?.done === true
}

const extra = z.array(z.object({ record: z.string() }))

/** Reads what was logged beside the rows themselves: locks, and second records of rows that an insert could have left out. */
const listExtraRecords = async (work: () => Promise<unknown>): Promise<readonly string[]> => {
  const start = await readPosition('insert')
  await work()
  const end = await readPosition('insert')
  await pollUntil(() => isFlushed(end), 'the log to be flushed')
  const { rows } = await pool.query(
    `select c.relname || ' ' || r.record_type as record
     from pg_get_wal_records_info($1, $2) r
       join pg_class c on r.block_ref like '%/' || (select oid from pg_database where datname = current_database())
         || '/' || c.relfilenode || ' %'
     where r.resource_manager = 'Heap' and r.record_type in ('LOCK', 'HEAP_CONFIRM') order by r.start_lsn`,
    [start, end],
  )
  return extra.parse(rows).map(({ record }) => record)
}

describe('a settlement that has its statements for itself', () => {
  it('logs no lock but that of a foreign key, and confirms no insert but that of its authorization', async () => {
    const journal = await open()
    const claim = async () => (await journal.claim(claimOf({ caller: 'ada' })))?.id ?? ''
    // The first one of a day inserts the count of it.
    await claim()
    let id = ''
    expect(
      await listExtraRecords(async () => {
        id = await claim()
      }),
    ).toEqual(['settlements HEAP_CONFIRM'])
    const record = () => journal.recorderFor(id).record({ transaction: '0x1', bytes: '0x' })
    expect(await listExtraRecords(record)).toEqual(['broadcasts LOCK'])
    expect(await listExtraRecords(() => journal.close(id, closing))).toEqual([])
    expect((await journal.find(id))?.state).toBe('confirmed')
    expect(await findWorkDifferences(pool)).toEqual([])
  })

  it('is closed once, however many close it at the same time', async () => {
    const [journal, theirs] = [await open(), createSettlementJournal(otherPool, await addInstance(pool))]
    const id = (await journal.claim(claimOf({ caller: 'ada' })))?.id ?? ''
    await journal.recorderFor(id).record({ transaction: '0x1', bytes: '0x' })
    const holder = await pool.connect()
    await holder.query('begin')
    await holder.query('select from settlements where id = $1 for update', [id])
    const closed = Promise.all([journal.close(id, closing), theirs.close(id, closing)])
    const waiting =
      "select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'"
    await pollUntil(async () => (await pool.query(waiting)).rowCount === 2, 'both to wait for the row')
    await holder.query('commit')
    holder.release()
    expect((await closed).toSorted()).toEqual([false, true])
    const { rows } = await pool.query('select type from webhook_deliveries where settlement_id = $1', [id])
    expect(rows).toEqual([{ type: 'settlement.confirmed' }])
    expect(await findWorkDifferences(pool)).toEqual([])
  })
})

it('entries that a counter should not have stop no payment', async () => {
  const journal = await open()
  const id = (await journal.claim(claimOf({ caller: 'ada' })))?.id ?? ''
  await journal.recorderFor(id).record({ transaction: '0x1', bytes: '0x' })
  await pool.query(
    `insert into unfinal_settlements (network, block_number, block_hash, settlement_id, scheme)
     select network, $2, $3, id, scheme from settlements where id = $1`,
    [id, block.number.toString(), block.hash],
  )
  expect(await journal.close(id, closing)).toBe(true)
  expect(await findWorkDifferences(pool)).toEqual([])
})

it('settlements of several accounts that are claimed at once are counted for each', async () => {
  const journal = await open()
  const callers = ['ada', 'bob', 'ada', 'anonymous', 'eve', 'ada']
  await Promise.all(callers.map((caller) => journal.claim(claimOf({ caller }))))
  const days = createQuotas(pool)
  const counts = await Promise.all(
    ['ada', 'bob', 'eve'].map(async (caller) => (await days.listDays(caller, 1, new Date()))[0]?.count),
  )
  expect(counts).toEqual([3, 1, 1])
  expect(await findWorkDifferences(pool)).toEqual([])
})
