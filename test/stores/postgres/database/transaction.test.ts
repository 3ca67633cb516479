import { beforeAll, beforeEach, expect, test } from 'vitest'
import { openPool } from '../../../../src/stores/postgres/database/pool.js'
import { inOneMessage, inTransaction } from '../../../../src/stores/postgres/database/statements.js'
import { patientPool } from '../../../support/patientPool.js'
import { useTestDatabase } from '../../../support/postgres.js'
import { watchQueries } from '../../../support/watchQueries.js'

const database = useTestDatabase()
beforeAll(async () => {
  await database.pool.query('create table noted (word text unique deferrable initially deferred)')
})
beforeEach(() => database.pool.query('truncate noted'))

const notedWords = async () =>
  (await database.pool.query('select word from noted')).rows.map(({ word }) => word)
const note = 'insert into noted values ($1)'

test('commits when the work resolves, and returns its value', async () => {
  const answer = await inTransaction(database.pool, async (client) => {
    await client.query(note, ['kept'])
    return 42
  })

  expect(answer).toBe(42)
  expect(await notedWords()).toEqual(['kept'])
})

test('gives the work the rows of what was sent last with its beginning; of nothing none', async () => {
  const opening = "insert into noted values ('sent'); select word from noted"
  const read = async (_: unknown, opened: readonly unknown[]) => opened

  expect(await inTransaction(database.pool, read, { opening })).toEqual([{ word: 'sent' }])
  expect(await inTransaction(database.pool, read)).toEqual([])
  expect(await notedWords()).toEqual(['sent'])
})

test('rolls back and rethrows when the work rejects, and reuses the connection', async () => {
  await withOneConnection(async (pool) => {
    const before = await pidOf(pool)
    const failure = new Error('no')

    const outcome = inTransaction(pool, async (client) => {
      await client.query(note, ['lost'])
      throw failure
    })

    await expect(outcome).rejects.toBe(failure)
    expect(await pidOf(pool)).toBe(before)
    await pool.query(note, ['next'])
    expect(await notedWords()).toEqual(['next'])
  })
})

test('rejects when the commit fails', async () => {
  const outcome = inTransaction(database.pool, async (client) => {
    await client.query(note, ['twice'])
    await client.query(note, ['twice'])
  })

  await expect(outcome).rejects.toThrow(/duplicate key/)
  expect(await notedWords()).toEqual([])
})

test('rejects when the work ignored a failed statement', async () => {
  const outcome = inTransaction(database.pool, async (client) => {
    await client.query(note, ['lost'])
    await client.query('select 1 / 0').catch(() => undefined)
  })

  await expect(outcome).rejects.toThrow(/was rolled back/)
  expect(await notedWords()).toEqual([])
})

test('closes a broken connection', async () => {
  await withOneConnection(async (pool) => {
    const before = await pidOf(pool)

    const outcome = inTransaction(pool, async (client) => {
      await client.query(note, ['lost'])
      await database.pool.query('select pg_terminate_backend($1, 5000)', [before])
      await client.query(note, ['lost too'])
    })

    await expect(outcome).rejects.toThrow()
    expect(await pidOf(pool)).not.toBe(before)
    expect(await notedWords()).toEqual([])
  })
})

test('closes a connection that is still busy when the work rejects', async () => {
  await withOneConnection(async (pool) => {
    const before = await pidOf(pool)

    const outcome = inTransaction(pool, async (client) => {
      const hurried = { text: 'select pg_sleep(600)', query_timeout: 50 }
      await client.query(hurried)
    })

    await expect(outcome).rejects.toThrow('Query read timeout')
    expect(await pidOf(pool)).not.toBe(before)
  })
})

test('sends all statements of one message together, and returns the rows of the last one', async () => {
  await withOneConnection(async (pool) => {
    const sent = await watchQueries(pool)
    const rows = await inOneMessage(pool, () => [
      "insert into noted values ('first')",
      "insert into noted values ('second') returning word",
    ])

    expect(rows).toEqual([{ word: 'second' }])
    expect(await notedWords()).toEqual(['first', 'second'])
    expect(sent).toHaveLength(1)
  })
})

test('rolls back a message of which one statement fails, or the commit, and reuses the connection', async () => {
  await withOneConnection(async (pool) => {
    const before = await pidOf(pool)
    const first = "insert into noted values ('lost')"

    await expect(inOneMessage(pool, () => [first, 'select 1 / 0'])).rejects.toThrow('division by zero')
    await expect(inOneMessage(pool, () => [first, first])).rejects.toThrow(/duplicate key/)

    expect(await pidOf(pool)).toBe(before)
    expect(await notedWords()).toEqual([])
  })
})

test('lets the statements of a message know whether its caller still waits', async () => {
  const conditions: string[] = []
  const ask = (endsAt: number) =>
    inOneMessage(
      database.pool,
      (isAwaited) => {
        conditions.push(isAwaited)
        return [`select ${isAwaited} as answer`]
      },
      { endsAt },
    )

  expect(await ask(Number.MAX_SAFE_INTEGER)).toEqual([{ answer: true }])
  // The same condition once no time is left.
  const [over = ''] = conditions.map((condition) => condition.replace(/\d+/, '0'))
  expect(await inOneMessage(database.pool, () => [`select ${over} as answer`])).toEqual([{ answer: false }])
  await expect(ask(Number.NEGATIVE_INFINITY)).rejects.toMatchObject({ code: 'SERVICE_UNAVAILABLE' })
  expect(conditions).toHaveLength(1)
})

async function withOneConnection(work: (pool: ReturnType<typeof openPool>) => Promise<void>): Promise<void> {
  const pool = openPool({ ...patientPool, url: database.url, maxConnections: 1 })
  try {
    await work(pool)
  } finally {
    await pool.end()
  }
}

async function pidOf(pool: ReturnType<typeof openPool>): Promise<number | undefined> {
  const { rows } = await pool.query<{ pid: number }>('select pg_backend_pid() as pid')
  return rows[0]?.pid
}
