import { randomUUID } from 'node:crypto'
import { beforeEach, expect, test } from 'vitest'
import { findGroup } from '../../../../src/stores/postgres/database/measuredPool.js'
import { plannedSettings, planStatement } from '../../../../src/stores/postgres/database/plannedStatement.js'
import { openPool } from '../../../../src/stores/postgres/database/pool.js'
import { inOneMessage, queryPlanned } from '../../../../src/stores/postgres/database/statements.js'
import { createHolds } from '../../../../src/stores/postgres/holds/holds.js'
import { createConfirmedBlocks } from '../../../../src/stores/postgres/journal/confirmedBlocks.js'
import { createSettlementJournal } from '../../../../src/stores/postgres/journal/settlementJournal.js'
import { emptyTables } from '../../../support/emptyTables.js'
import { addInstance } from '../../../support/instances.js'
import { patientPool } from '../../../support/patientPool.js'
import { useTestDatabase } from '../../../support/postgres.js'
import { watchQueries } from '../../../support/watchQueries.js'

const database = useTestDatabase()
beforeEach(() => emptyTables(database.pool, 'reservations', 'settlements'))

const withOneConnection = async (
  work: (pool: ReturnType<typeof openPool>) => Promise<void>,
): Promise<void> => {
  const pool = openPool({ ...patientPool, url: database.url, maxConnections: 1 })
  try {
    await work(pool)
  } finally {
    await pool.end()
  }
}

const sum = planStatement(
  `select sum(n) || $2::text as answer
     from unnest($1::int[]) n`,
)
const run = (pool: ReturnType<typeof openPool>, planned = [sum]) =>
  inOneMessage(pool, () => [sum.run(['array[1, 2]', "'; it''s'"])], { planned })

const isPreparing = (message: unknown): boolean => String(message).includes('prepare planned_')

test('is planned once on each connection', async () => {
  await withOneConnection(async (pool) => {
    const sent = await watchQueries(pool)
    for (const _time of [1, 2, 3]) expect(await run(pool)).toEqual([{ answer: "3; it's" }])
    expect(sent.map(isPreparing)).toEqual([true, false, false])
    const { rows } = await pool.query('select name, generic_plans, custom_plans from pg_prepared_statements')
    expect(rows).toMatchObject([{ generic_plans: '3', custom_plans: '0' }])
  })
})

test('is planned again where a pooler gives another connection of the server, and the work is done once', async () => {
  await withOneConnection(async (pool) => {
    await run(pool)
    await pool.query('deallocate all')
    const sent = await watchQueries(pool)
    expect(await run(pool)).toEqual([{ answer: "3; it's" }])
    expect(sent.map(isPreparing)).toEqual([false, false, true])
    expect(sent[1]).toMatchObject({ text: 'rollback' })
    expect(await run(pool)).toEqual([{ answer: "3; it's" }])
    expect(sent).toHaveLength(4)
  })
})

test('is prepared also where a pooler gives a connection on which another process has prepared it', async () => {
  await withOneConnection(async (pool) => {
    await run(pool)
    // As another process, which does not know of it.
    await pool.query(planStatement(sum.text).prepare)
    await inOneMessage(pool, () => [planStatement(sum.text).prepare, 'select 1'])
    expect((await pool.query('select name from pg_prepared_statements')).rows).toHaveLength(1)
    expect(await run(pool)).toEqual([{ answer: "3; it's" }])
  })
})

test('fails as any other statement', async () => {
  await withOneConnection(async (pool) => {
    const sent = await watchQueries(pool)
    await expect(
      inOneMessage(pool, () => [sum.run(["array['x']::int[]", "''"])], { planned: [sum] }),
    ).rejects.toThrow('invalid input syntax')
    expect(sent).toHaveLength(2)
    await expect(inOneMessage(pool, () => ['execute planned_unknown (1)'])).rejects.toThrow('does not exist')
    expect(sent).toHaveLength(4)
    expect(await run(pool)).toEqual([{ answer: "3; it's" }])
  })
})

test('has a name of its text', () => {
  const [other, same] = [planStatement(sum.text.replace('sum', 'max')), planStatement(sum.text)]
  expect(other.run([])).not.toBe(sum.run([]))
  expect(same.run([])).toBe(sum.run([]))
})

test.each([
  ['nothing', null],
  ['texts with quotes, backslashes and braces', `'"\\'' {},null $1; --`],
  ['texts of several lines', 'a\n\tb'],
  ['texts that only look like null', 'null'],
  ['empty texts', ''],
  ['characters of all planes', 'é€𝄞'],
])('takes %s as a value, and in an array, as the driver does', async (_what, text) => {
  const values = [text, [text, 'other', text], [1, null, 3], 12n, true, new Date(1_700_000_000_123)]
  const planned = planStatement(
    '/* other */ select $1::text as a, $2::text[] as b, $3::int[] as c, $4::numeric as d, $5::boolean as e, $6::timestamptz as f',
  )
  const { rows } = await database.pool.query(planned.text, values)
  expect(rows).toMatchObject([{ a: text, b: [text, 'other', text], c: [1, null, 3], d: '12', e: true }])
  expect(await queryPlanned(database.pool, planned, values)).toEqual(rows)
})

test('of one statement is planned again where a pooler gives another connection, which is kept', async () => {
  await withOneConnection(async (pool) => {
    const planned = planStatement('select pg_backend_pid() as pid where $1::text is not null')
    const first = await queryPlanned(pool, planned, ['a'])
    await pool.query('deallocate all')
    const sent = await watchQueries(pool)
    expect(await queryPlanned(pool, planned, ['a'])).toEqual(first)
    expect(await queryPlanned(pool, planned, ['a'])).toEqual(first)
    expect(sent.map(isPreparing)).toEqual([false, true, false])
  })
})

test('takes a NUL to the server as a parameter, where it fails as before', async () => {
  const planned = planStatement('select $1::text[] as a')
  const values = [['fine', 'a\0b']]
  const error = await database.pool.query(planned.text, values).catch((reason: unknown) => reason)
  await expect(queryPlanned(database.pool, planned, values)).rejects.toMatchObject({ code: '22021' })
  expect(error).toMatchObject({ code: '22021' })
})

test('is named in the first line of its message, also where it is prepared', async () => {
  await withOneConnection(async (pool) => {
    const sent = await watchQueries(pool)
    const planned = planStatement("/* claim */\n  select 1 as one\n  where 'a' <> $1::text")
    for (const _time of [1, 2]) expect(await queryPlanned(pool, planned, ['b'])).toEqual([{ one: 1 }])
    expect(sent.map(isPreparing)).toEqual([true, false])
    expect(sent.map((message) => findGroup(String(message)))).toEqual(['claim', 'claim'])
  })
})

test('is measured as work on settlements where it marks those of a final block', async () => {
  await withOneConnection(async (pool) => {
    const sent = await watchQueries(pool)
    const block = { number: 7n, hash: '0x7' }
    await createConfirmedBlocks(pool).markFinal({ scheme: 'exact', network: 'eip155:84532', block })
    expect(sent.map((message) => findGroup(String(message)))).toEqual(['settlement'])
  })
})

test('is planned anew as tables grow that no statistics exist of, ever more seldom', async () => {
  await withOneConnection(async (pool) => {
    await pool.query('create table grown (name text primary key, state text not null)')
    const planned =
      planStatement(`select a.name, exists (select from grown g where g.name = a.name) as is_found
      from unnest($1::text[]) as a (name)`)
    const sent = await watchQueries(pool)
    const runs = (count: number) =>
      Array.from({ length: count }).reduce<Promise<unknown>>(
        async (before) => await before.then(() => queryPlanned(pool, planned, [['1', 'none']])),
        Promise.resolve(),
      )
    const explain = async () =>
      JSON.stringify(
        await pool.query(
          ['begin', ...plannedSettings, `explain ${planned.run([`'{1}'`])}`, 'commit'].join('; '),
        ),
      )
    await runs(1)
    expect(await explain()).not.toContain('Index Cond')
    await pool.query(`insert into grown select n::text, 'confirmed' from generate_series(1, 20000) n`)
    await runs(16)
    expect(await explain()).toContain('Index Cond')
    await runs(2_000)
    expect(sent.filter(isPreparing).length).toBeLessThan(10)
  })
})

test('is planned anew where a migration changed what it returns, also in a transaction', async () => {
  await withOneConnection(async (pool) => {
    await pool.query('create table widened (name text)')
    const planned = planStatement(`select w.* from widened w where $1::text is not null`)
    const inMessage = () => inOneMessage(pool, () => [planned.run(["''"])], { planned: [planned] })
    await pool.query(`insert into widened values ('a')`)
    expect(await queryPlanned(pool, planned, [''])).toEqual([{ name: 'a' }])
    await pool.query('alter table widened add column size integer')
    expect(await inMessage()).toEqual([{ name: 'a', size: null }])
    await pool.query('alter table widened drop column size')
    expect(await queryPlanned(pool, planned, [''])).toEqual([{ name: 'a' }])
    expect(await inMessage()).toEqual([{ name: 'a' }])
  })
})

test('leaves no setting behind on its connection', async () => {
  await withOneConnection(async (pool) => {
    await queryPlanned(pool, sum, [[1, 2], ''])
    await run(pool)
    const settings = `select current_setting('enable_seqscan') as scans, current_setting('plan_cache_mode') as mode`
    expect((await pool.query(settings)).rows).toEqual([{ scans: 'on', mode: 'auto' }])
  })
})

test('reads no table as a whole for a hold, where it was planned while the tables were empty', async () => {
  await withOneConnection(async (pool) => {
    const holds = createHolds(pool)
    const hold = (name: string) =>
      holds.place(
        {
          authorizationId: name,
          network: 'eip155:84532',
          asset: '0xasset',
          payer: `payer ${name}`,
          spender: '0xrouter',
          payTo: '0xpayee',
          account: 'ada',
          purpose: 'verify',
          amount: 100n,
          expiresAt: new Date(Date.now() + 3_600_000),
        },
        { balance: 100n, allowance: null },
      )
    const sent = await watchQueries(pool)
    expect(await hold('first')).toMatchObject({ state: 'held' })
    expect(await hold('second')).toMatchObject({ state: 'held' })
    const [first, second] = sent.map(String)
    expect([isPreparing(first), isPreparing(second)]).toEqual([true, false])
    const explained = second?.replaceAll(/; (\/\* hold \*\/ )?execute /g, '; explain execute ') ?? ''
    const results: unknown = await pool.query(explained)
    const plan = JSON.stringify(results)
    expect(plan).toContain('reservations')
    expect(plan).toContain('Index')
    expect(plan).not.toContain('Seq Scan')
  })
})

test('finds a settlement that is closed by its id, where it was planned while the journal was empty', async () => {
  const instance = await addInstance(database.pool)
  await withOneConnection(async (pool) => {
    const journal = createSettlementJournal(pool, instance)
    const sent = await watchQueries(pool)
    for (const _time of [1, 2]) {
      expect(await journal.close(randomUUID(), { state: 'confirmed', transaction: '0x1' })).toBe(false)
    }
    const [first, second] = sent.map(String)
    expect([isPreparing(first), isPreparing(second)]).toEqual([true, false])
    const explained = second?.replace(/; \/\* close \*\/\s+execute /, '; explain execute ') ?? ''
    const plan = JSON.stringify(await pool.query(explained))
    expect(plan).toContain('settlements_pkey')
    expect(plan).not.toContain('settlements_take_authorization')
    expect(plan).not.toContain('Seq Scan')
  })
})
