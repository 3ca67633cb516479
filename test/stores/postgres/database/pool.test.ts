import { once } from 'node:events'
import { createServer } from 'node:net'
import { afterEach, expect, test, vi } from 'vitest'
import { openPool } from '../../../../src/stores/postgres/database/pool.js'
import { pollUntil } from '../../../support/pollUntil.js'
import { useTestDatabase } from '../../../support/postgres.js'

const database = useTestDatabase()

const opened: { end(): Promise<void> }[] = []
afterEach(async () => {
  vi.useRealTimers()
  for (const pool of opened.splice(0)) await pool.end()
})

function open(url = database.url) {
  const onError = vi.fn<(error: Error) => void>()
  const pool = openPool({ url, maxConnections: 2, onError })
  opened.push(pool)
  return { pool, onError }
}

async function killConnection(pid: number): Promise<void> {
  await database.pool.query('select pg_terminate_backend($1, 5000)', [pid])
}

test('returns numbers that exceed a double as text', async () => {
  const { pool } = open()

  const { rows } = await pool.query(
    'select 9223372036854775807::int8 as whole, 2::numeric(78, 0) ^ 200 as amount',
  )

  expect(rows).toEqual([
    {
      whole: '9223372036854775807',
      amount: expect.stringMatching(/^1606938044258990275541962092341162602522202993782792835301376/),
    },
  ])
})

test("sets the application name and the server's timeouts", async () => {
  const { pool } = open()
  const show = async (name: string) =>
    (await pool.query({ text: `show ${name}`, rowMode: 'array' })).rows[0]?.[0]

  expect(await show('application_name')).toBe('quittance')
  expect(await show('statement_timeout')).toBe('10s')
  expect(await show('idle_in_transaction_session_timeout')).toBe('30s')
})

test.each([
  { time: 'five seconds unless told otherwise', given: {}, limitMs: 5_000 },
  { time: 'less', given: { connectionTimeoutMs: 50 }, limitMs: 50 },
  { time: 'more', given: { connectionTimeoutMs: 8_000 }, limitMs: 8_000 },
])('queues for a free connection: $time', async ({ given, limitMs }) => {
  const onError = () => undefined
  const pool = openPool({ url: database.url, maxConnections: 1, ...given, onError })
  opened.push(pool)
  // Before the first connection, whose limit is the same.
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
  const client = await pool.connect()
  const late = expect(pool.query('select 1')).rejects.toThrow('timeout exceeded when trying to connect')
  vi.advanceTimersByTime(limitMs)
  await late

  const timely = pool.query('select 1 as one')
  vi.advanceTimersByTime(limitMs - 1)
  client.release()
  expect((await timely).rows).toEqual([{ one: 1 }])
})

test('reports and replaces an idle connection that breaks', async () => {
  const { pool, onError } = open()
  const { rows } = await pool.query<{ pid: number }>('select pg_backend_pid() as pid')

  await killConnection(rows[0]?.pid ?? 0)

  await pollUntil(() => onError.mock.calls.length > 0, 'the report')
  expect(onError).toHaveBeenCalledOnce()
  const [error] = onError.mock.calls[0] ?? []
  expect(error?.message).toContain('terminating connection')
  expect(error).not.toHaveProperty('client')
  expect((await pool.query('select 1 as one')).rows).toEqual([{ one: 1 }])
})

test('rejects the next query, without a crash, when a connection breaks within a transaction', async () => {
  const { pool } = open()
  const client = await pool.connect()
  const { rows } = await client.query<{ pid: number }>('select pg_backend_pid() as pid')
  const ended = new Promise<void>((resolve) => client.once('end', resolve))

  await killConnection(rows[0]?.pid ?? 0)
  await ended

  await expect(client.query('select 1')).rejects.toThrow(/not queryable/)
  client.release()
  expect((await pool.query('select 1 as one')).rows).toEqual([{ one: 1 }])
})

test('gives up on a server that accepts connections but does not respond', async () => {
  const silent = createServer().listen(0, '127.0.0.1')
  await once(silent, 'listening')
  const address = silent.address()
  const port = typeof address === 'object' ? address?.port : 0
  const { pool } = open(`postgres://nobody@127.0.0.1:${port}/nothing`)

  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
  const refused = expect(pool.query('select 1')).rejects.toThrow(/timeout/)
  vi.advanceTimersByTime(5_000)
  await refused

  silent.close()
})
