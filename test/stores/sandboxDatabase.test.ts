import { randomUUID } from 'node:crypto'
import { mkdir, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { Redis } from 'ioredis'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { Secret } from '../../src/platform/secret.js'
import { openPool } from '../../src/stores/postgres/database/pool.js'
import { findSandboxDatabase } from '../../src/stores/postgres/database/purpose.js'
import { runAdminCommand } from '../support/adminCommand.js'
import { openCore } from '../support/core.js'
import { addInstance } from '../support/instances.js'
import { insertJournalRows } from '../support/journalRows.js'
import { createMemoryLogger } from '../support/memoryLogger.js'
import { findPgBouncer, startPgBouncer } from '../support/pgbouncer.js'
import { pollUntil } from '../support/pollUntil.js'
import { createTestDatabase, type TestDatabase } from '../support/postgres.js'
import { startTestRedis } from '../support/redis.js'
import { registerAccount } from '../support/registerAccount.js'
import { startService } from '../support/service.js'
import { makeTemporaryFolder } from '../support/temporaryFolder.js'

const databases: TestDatabase[] = []
const create = async (options?: { readonly isSandbox: boolean }): Promise<TestDatabase> => {
  const database = await createTestDatabase(options)
  databases.push(database)
  return database
}
afterAll(async () => {
  for (const database of databases) await database.drop()
})

const nameOf = (url: string): string => new URL(url).pathname.slice(1)
const find = async (url: string, creates = false) => {
  const found = await findSandboxDatabase(new Secret(url), { creates })
  return { ...found, url: found.url.reveal() }
}
const start = (database: TestDatabase, SANDBOX: string) =>
  startService({ databaseUrl: database.url, environment: { SANDBOX, DISCOVERY: 'off' } })

describe('the database of a sandbox', () => {
  it('is beside the one that is named, and is created once by instances that start together', async () => {
    const database = await create()
    expect(await find(database.url)).toMatchObject({ isApart: true, exists: false })
    const all = await Promise.all(Array.from({ length: 4 }, () => find(database.url, true)))
    for (const { url } of all) expect(nameOf(url)).toBe(`${nameOf(database.url)}_sandbox`)
    expect(await find(database.url)).toMatchObject({ isApart: true, exists: true, isBesidePayments: false })
  })

  it('is the named one where its name says so', async () => {
    const named = await create({ isSandbox: true })
    expect(await find(named.url)).toMatchObject({ url: named.url, isApart: false })
  })

  it('is the named one of an older version where anything is kept, or an instance runs', async () => {
    const old = await create()
    await old.pool().query('insert into database_purpose (is_sandbox) values (true)')
    expect(await find(old.url)).toMatchObject({ isApart: true })
    await addInstance(old.pool())
    expect(await find(old.url)).toMatchObject({ url: old.url, isApart: false })
    await old.pool().query('delete from instances')
    await insertJournalRows(old.pool(), { count: 1 })
    expect(await find(old.url)).toMatchObject({ url: old.url, isApart: false, isBesidePayments: false })
  })

  it('is named by the server where the URL has no name', async () => {
    const { url } = await create()
    const bare = new URL(url)
    bare.pathname = ''
    const found = await find(bare.href).catch((error: unknown) => error)
    // Libpq's default is the name of the user, whose database may be absent.
    if (found instanceof Error) expect(found.message).toMatch(/^DATABASE_URL: the database "" does not exist/)
    else expect(found).toMatchObject({ isApart: true })
  })

  it('must have a name that Postgres does not cut', async () => {
    const { url } = await create()
    const long = `${'x'.repeat(56)}`
    const admin = openPool({ url, maxConnections: 1, onError: () => undefined })
    try {
      await admin.query(`create database "${long}"`)
      await expect(find(url.replace(nameOf(url), long), true)).rejects.toMatchObject({
        variable: 'DATABASE_URL',
        problem: expect.stringContaining('is too long'),
      })
    } finally {
      await admin.query(`drop database if exists "${long}"`)
      await admin.end()
    }
  })

  it('has to be created by an administrator where the user may not', async () => {
    const database = await create()
    const role = `limited_${nameOf(database.url).slice(-12)}`
    const pool = database.pool()
    await pool.query(`create role "${role}" login password 'limited'`)
    try {
      const limited = new URL(database.url)
      limited.username = role
      limited.password = 'limited'
      await expect(find(limited.href, true)).rejects.toMatchObject({
        variable: 'DATABASE_URL',
        problem: expect.stringMatching(
          /"\w+_sandbox", which does not exist, and this user may not create it/,
        ),
      })
    } finally {
      await pool.query(`drop role "${role}"`)
    }
  })
})

const place = ({ url }: TestDatabase) => ({
  DATABASE_URL: url,
  DATA_FOLDER: '/nonexistent',
  KEY_ENCRYPTION_SECRET: 'instances-of-a-test-share-this-secret',
})

/** A payment that needs no signature. */
const settleFixed = async (url: string, headers: Readonly<Record<string, string>> = {}): Promise<unknown> => {
  const payment = await (await fetch(`${url}/sandbox/payments/CAFE11`)).text()
  const settled = await fetch(`${url}/settle`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    body: payment,
  })
  return await settled.json()
}

describe('a sandbox and real payments at one DATABASE_URL', () => {
  let database: TestDatabase
  beforeAll(async () => {
    database = await create()
  })
  const admin = (environment: Readonly<Record<string, string>>, ...words: readonly string[]) =>
    runAdminCommand(words, { ...place(database), ...environment })
  const register = (url: string, email: string) => registerAccount(url, { email, projectName: 'shop' })

  it('start after each other, and beside each other, and share nothing', async () => {
    const sandbox = await start(database, 'true')
    const real = await start(database, 'false')
    await register(sandbox.url, 'sandbox@example.com')
    await register(real.url, 'real@example.com')
    await sandbox.close()
    await real.close()
    await (await start(database, 'false')).close()
    await (await start(database, 'true')).close()
    const { rows } = await database.pool().query('select email from accounts')
    expect(rows).toEqual([{ email: 'real@example.com' }])
  })

  it('make a command without SANDBOX ask which of them it is for, and do nothing', async () => {
    for (const words of [
      ['keys', 'list'],
      ['backup', '/nonexistent/file'],
      ['consumed', 'export', '/nonexistent/file'],
    ]) {
      expect(await admin({}, ...words)).toEqual({
        code: 2,
        output: expect.stringMatching(
          /DATABASE_URL holds real payments, and there is a sandbox beside them: .*SANDBOX=/,
        ),
      })
    }
    expect((await admin({ SANDBOX: 'true' }, 'keys', 'list')).output).toMatch(/sandbox@example\.com/)
    const real = await admin({ SANDBOX: 'false' }, 'keys', 'list')
    expect(real.output).toMatch(/real@example\.com/)
    expect(real.output).not.toMatch(/sandbox@example\.com/)
  })

  it('are told apart by `check`, which warns of real payments that the sandbox does not serve', async () => {
    const before = await admin({}, 'check')
    expect(before.output).toMatch(/^ok +database +the sandbox is in the database "\w+_sandbox"$/m)
    expect(before.output).not.toMatch(/holds real payments/)
    await insertJournalRows(database.pool(), { count: 1 })
    const { code, output } = await admin({}, 'check')
    expect(code).toBe(0)
    expect(output).toMatch(
      /^warning +database +DATABASE_URL holds real payments, which a sandbox does not serve/m,
    )
  })

  it('are warned of by the start of the sandbox, in whose log a chain may be found missing', async () => {
    const logger = createMemoryLogger()
    const core = await openCore({ databaseUrl: database.url, environment: { SANDBOX: 'true' }, logger })
    await core.close()
    const lines = logger.lines.filter(({ message }) => /^sandbox\.(?:database|beside)/.test(message))
    expect(lines).toMatchObject([
      { level: 'info', message: 'sandbox.database', fields: { database: `${nameOf(database.url)}_sandbox` } },
      { level: 'warn', message: 'sandbox.beside_real_payments' },
    ])
  })

  it('are warned of by `check` also before the first start of the sandbox', async () => {
    const lone = await create()
    await insertJournalRows(lone.pool(), { count: 1 })
    const { code, output } = await runAdminCommand(['check'], place(lone))
    expect(code).toBe(0)
    expect(output).toMatch(/^ok +database +the sandbox will be in the database "\w+_sandbox"$/m)
    expect(output).toMatch(/^warning +database +DATABASE_URL holds real payments/m)
  })

  it('leave a command to the only one that has data', async () => {
    const only = await create()
    const run = () => runAdminCommand(['keys', 'list'], place(only))
    // Nothing at all: that of real payments.
    expect(await run()).toMatchObject({ code: 0 })
    const sandbox = await start(only, 'true')
    await register(sandbox.url, 'only@example.com')
    expect((await run()).output).toContain('only@example.com')
    await sandbox.close()
  })
})

describe('consumed authorizations', () => {
  it('of real payments are not imported into the database of a sandbox', async () => {
    const folder = await makeTemporaryFolder('quittance-consumed-')
    const [source, sandbox] = [await create(), await create()]
    await insertJournalRows(source.pool(), { count: 1 })
    await sandbox.pool().query('insert into database_purpose (is_sandbox) values (true)')
    const file = join(folder, 'consumed')
    const run = (verb: string, database: TestDatabase) =>
      runAdminCommand(['consumed', verb, file], place(database))
    expect(await run('export', source)).toMatchObject({ code: 0 })
    expect(await run('import', sandbox)).toEqual({
      code: 1,
      output: expect.stringMatching(/^The database is that of a sandbox/),
    })
    expect((await sandbox.pool().query('select from consumed_authorizations')).rowCount).toBe(0)
    await rm(folder, { recursive: true })
  })
})

const redis = await startTestRedis()
afterAll(() => redis?.stop())

describe.skipIf(redis?.isOwn !== true)('a sandbox and real payments at one REDIS_URL', () => {
  it('share no key: an answer of the sandbox is never replayed for a payment', async () => {
    if (redis === null) throw new Error('skipped')
    const database = await create({ isSandbox: true })
    const client = new Redis(redis.url)
    const service = await startService({
      databaseUrl: database.url,
      environment: {
        SANDBOX: 'true',
        DISCOVERY: 'off',
        REDIS_URL: redis.url,
        RATE_LIMITS: 'on',
        ANONYMOUS_SETTLES_PER_MINUTE: '100000',
      },
    })
    try {
      const listPrefixes = async () => {
        const keys = await client.keys('quittance:*')
        // The probe says nothing of a payment.
        const ofRequests = keys.filter((key) => key !== 'quittance:probe')
        return new Set(ofRequests.map((key) => key.split(':').slice(0, 3).join(':')))
      }
      // A service goes on without a Redis that is slow to answer: it then leaves no key of that request.
      const prefixes = await pollUntil(
        async () => {
          const settled = await settleFixed(service.url, { 'idempotency-key': randomUUID() })
          expect(settled).toMatchObject({ success: true })
          const present = await listPrefixes()
          const expected = ['quittance:sandbox:idempotency', 'quittance:sandbox:limits']
          return expected.every((prefix) => present.has(prefix)) && present
        },
        'keys of requests and of limits',
        listPrefixes,
      )
      expect([...prefixes].filter((prefix) => !prefix.startsWith('quittance:sandbox:'))).toEqual([])
    } finally {
      client.disconnect()
      await service.close()
    }
  })
})

describe('a data folder with real payments and a sandbox', () => {
  it('makes a command without SANDBOX ask which of them it is for', async () => {
    const folder = await makeTemporaryFolder('quittance-both-')
    for (const data of ['.', 'sandbox'])
      await mkdir(join(folder, data, 'postgres', 'cluster'), { recursive: true })
    expect(await runAdminCommand(['keys', 'list'], { DATA_FOLDER: folder })).toEqual({
      code: 2,
      output: expect.stringMatching(
        /^The data folder \S+ holds real payments, and there is a sandbox beside them: /,
      ),
    })
    await rm(folder, { recursive: true })
  })
})

const program = await findPgBouncer()

describe.skipIf(program === null)('a sandbox behind PgBouncer', () => {
  it('keeps to its own database, without a search path that a pooler would lose', async () => {
    if (program === null) throw new Error('skipped')
    const database = await create()
    const pooler = await startPgBouncer(program, database.url)
    const service = await startService({
      databaseUrl: pooler.urlOf(database.url),
      environment: { SANDBOX: 'true', DISCOVERY: 'off' },
    })
    try {
      expect(await settleFixed(service.url)).toMatchObject({ success: true, sandbox: true })
      expect((await database.pool().query('select from settlements')).rowCount).toBe(0)
    } finally {
      await service.close()
      await pooler.stop()
    }
  })
})
