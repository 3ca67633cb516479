import type { Pool } from 'pg'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { AppError } from '../../../../src/errors.js'
import { mapDatabaseErrors } from '../../../../src/stores/postgres/database/databaseErrors.js'
import { openPool } from '../../../../src/stores/postgres/database/pool.js'
import { useTestDatabase } from '../../../support/postgres.js'
import { overTcp, startTcpProxy, type TcpProxy } from '../../../support/tcpProxy.js'

describe('a store with mapped database errors', () => {
  const database = useTestDatabase()
  let network: TcpProxy
  let pool: Pool
  beforeEach(async () => {
    network = await startTcpProxy(Number(new URL(database.url).port))
    pool = openPool({ url: overTcp(database.url, network.port), maxConnections: 1, onError: () => undefined })
  })
  afterEach(async () => {
    await network.close()
    await pool.end()
  })

  const store = () =>
    mapDatabaseErrors({
      ask: async (text: string) => (await pool.query({ text })).rowCount,
      askImpatiently: async (text: string) => {
        const impatient = { text, query_timeout: 500 }
        return (await pool.query(impatient)).rowCount
      },
      size: 7,
      double: (count: number) => count * 2,
      refuse: async (error: unknown) => {
        throw error
      },
    })

  const outages: readonly (readonly [string, () => Promise<unknown>])[] = [
    [
      'the server has become read-only',
      async () => {
        await pool.query('set default_transaction_read_only = on')
        await store().ask('create table refused ()')
      },
    ],
    [
      'connections are refused',
      async () => {
        await network.refuse()
        await store().ask('select 1')
      },
    ],
    [
      'an idle connection hangs',
      async () => {
        await store().ask('select 1')
        network.hang()
        await store().askImpatiently('select 1')
      },
    ],
    [
      'the connection is reset during a statement',
      async () => {
        await store().ask('select 1')
        const [answer] = await Promise.allSettled([store().ask('select pg_sleep(60)'), network.reset()])
        if (answer.status === 'rejected') throw answer.reason
      },
    ],
    [
      'the server ends the connection during a statement',
      () => store().ask('select pg_terminate_backend(pg_backend_pid())'),
    ],
    [
      "a statement exceeds the server's timeout",
      async () => {
        await store().ask('set statement_timeout = 50')
        await store().ask('select pg_sleep(60)')
      },
    ],
    [
      'the database no longer exists',
      () => store().refuse(Object.assign(new Error('x'), { code: 'ENOTFOUND' })),
    ],
  ]

  it.each(outages)('rejects with SERVICE_UNAVAILABLE when %s', async (_, fail) => {
    await expect(fail()).rejects.toMatchObject({
      name: 'AppError',
      code: 'SERVICE_UNAVAILABLE',
      retryAfterSeconds: 1,
      cause: expect.any(Error),
    })
  })

  it('passes other errors unchanged', async () => {
    await expect(store().ask('select 1 / 0')).rejects.toMatchObject({ code: '22012' })
    await expect(store().ask('select nonsense')).rejects.toMatchObject({ code: '42703' })
    const quota = new AppError('QUOTA_EXCEEDED', 'no')
    await expect(store().refuse(quota)).rejects.toBe(quota)
    const bug = new TypeError('undefined is not a function')
    await expect(store().refuse(bug)).rejects.toBe(bug)
  })

  it('passes results and synchronous values unchanged', async () => {
    expect(await store().ask('select 1')).toBe(1)
    expect(store().size).toBe(7)
    expect(store().double(4)).toBe(8)
    expect(Object.keys({ ...store() })).toEqual(['ask', 'askImpatiently', 'size', 'double', 'refuse'])
  })
})
