import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import type { Pool } from 'pg'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { silentLogger } from '../../../../src/platform/logger.js'
import { Secret } from '../../../../src/platform/secret.js'
import { createAccountStore } from '../../../../src/stores/postgres/accounts/accountStore.js'
import { consumedTable, importConsumed } from '../../../../src/stores/postgres/backup/importRows.js'
import { writeBackup } from '../../../../src/stores/postgres/backup/writeBackup.js'
import { announceInstance } from '../../../../src/stores/postgres/database/instance.js'
import { migrate } from '../../../../src/stores/postgres/database/migrate.js'
import {
  checkPurpose,
  claimPurpose,
  findSandboxDatabase,
} from '../../../../src/stores/postgres/database/purpose.js'
import { createIntentStore } from '../../../../src/stores/postgres/intents/intentStore.js'
import { createStreamStore } from '../../../../src/stores/postgres/streams/streamStore.js'
import { viewStream } from '../../../../src/usecases/streams/viewStream.js'
import { addInstance, killInstance } from '../../../support/instances.js'
import { intentOf } from '../../../support/intentOf.js'
import { insertJournalRows } from '../../../support/journalRows.js'
import { migrateAfterOldest } from '../../../support/migrateAfterOldest.js'
import { createTestDatabase, type TestDatabase } from '../../../support/postgres.js'
import { streamOf } from '../../../support/streamOf.js'
import { makeTemporaryFolder } from '../../../support/temporaryFolder.js'

const migrations = new URL('../../../../migrations/', import.meta.url)

let database: TestDatabase
let pool: Pool
const closers: (() => Promise<void>)[] = []
beforeEach(async () => {
  database = await createTestDatabase()
  pool = database.pool()
})
afterEach(async () => {
  for (const close of closers.splice(0)) await close()
  vi.useRealTimers()
  await database.drop()
})

/** As a start does; the instance runs until it is closed. */
const start = async (isSandbox: boolean): Promise<() => Promise<void>> => {
  const instance = await announceInstance(pool, silentLogger, { isOnly: false, isSandbox })
  try {
    await checkPurpose(pool, { instanceId: instance.id, isSandbox, variable: 'DATABASE_URL' })
    await instance.admit()
  } catch (error) {
    await instance.close()
    throw error
  }
  closers.push(instance.close)
  return async () => {
    closers.splice(closers.indexOf(instance.close), 1)
    await instance.close()
  }
}

const readClaim = async (): Promise<readonly unknown[]> =>
  (await pool.query('select is_sandbox from database_purpose')).rows.map((row) => row.is_sandbox)

const insertAccount = (on: Pool) =>
  createAccountStore(on).register(
    { email: 'ada@example.com', project: 'engine' },
    { fingerprint: Buffer.from('f'), sealed: Buffer.from('s') },
  )

const openStream = (on: Pool) =>
  createStreamStore(on).open({
    stream: streamOf(),
    payment: {},
    event: { type: 'stream.opened', data: viewStream(streamOf()) },
    quota: null,
  })

const createIntent = (on: Pool) => createIntentStore(on).create({ intent: intentOf(), event: null })

const insertConsumed = `insert into consumed_authorizations (digest, terms, settlement_id)
  values (sha256('a'), sha256('b'), gen_random_uuid())`

describe.each([true, false])('a database on which an instance started (of a sandbox: %s)', (isSandbox) => {
  it('serves the other kind afterwards, because a start decides nothing', async () => {
    await (await start(isSandbox))()
    expect(await readClaim()).toEqual([])
    await (await start(!isSandbox))()
  })

  it('serves no instance of the other kind while that one runs', async () => {
    await start(isSandbox)
    await start(isSandbox)
    await expect(start(!isSandbox)).rejects.toMatchObject({
      variable: 'DATABASE_URL',
      problem: expect.stringMatching(
        isSandbox ? /of a running sandbox/ : /running instance with real payments/,
      ),
    })
  })

  it.each([
    ['settlement', (on: Pool) => insertJournalRows(on, { count: 1 })],
    ['account', insertAccount],
    ['stream', openStream],
    ['intent', createIntent],
    ['consumed authorization', (on: Pool) => on.query(insertConsumed)],
  ] as const)('never serves the other kind after its first %s', async (_name, insert) => {
    const stop = await start(isSandbox)
    await insert(pool)
    expect(await readClaim()).toEqual([isSandbox])
    await stop()
    await expect(start(!isSandbox)).rejects.toMatchObject({
      variable: 'DATABASE_URL',
      problem: expect.stringContaining('sandbox'),
    })
    await start(isSandbox)
  })
})

describe('a database without a purpose', () => {
  it('never serves both kinds, however many instances start at the same time', async () => {
    const kinds = [true, false, true, false]
    const outcomes = await Promise.allSettled(kinds.map(start))
    const started = kinds.filter((_kind, index) => outcomes[index]?.status === 'fulfilled')
    expect(new Set(started).size).toBeLessThanOrEqual(1)
  })

  it('gets one from many first rows at the same time', async () => {
    await start(true)
    await Promise.all([pool, database.otherPool(), pool].map((on) => insertJournalRows(on, { count: 1 })))
    expect(await readClaim()).toEqual([true])
  })

  it('gets that of the instance that serves, while one of the other kind is about to be refused', async () => {
    await start(true)
    const refused = await announceInstance(pool, silentLogger, { isOnly: false, isSandbox: false })
    closers.push(refused.close)
    await insertJournalRows(pool, { count: 1 })
    expect(await readClaim()).toEqual([true])
    // Which is no reason to refuse another one of the right kind.
    await start(true)
  })

  it('takes no settlement of an instance that stopped while one of the other kind was admitted', async () => {
    // Its timer never fires: no heartbeat follows.
    vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] })
    const stopped = await announceInstance(pool, silentLogger, { isOnly: false, isSandbox: true })
    await stopped.admit()
    await killInstance(pool, stopped)
    await start(false)
    const insertOf = (id: string) =>
      insertJournalRows(pool, { count: 1, columns: { owner: `'${id}'::uuid` } })
    await expect(insertOf(stopped.id)).rejects.toMatchObject({ code: '23514' })
    expect(await readClaim()).toEqual([])
    await insertJournalRows(pool, { count: 1 })
    await expect(insertOf(stopped.id)).rejects.toMatchObject({ code: '23514' })
    expect(await readClaim()).toEqual([false])
    await stopped.close()
  })

  it('gets none from a statement that inserts nothing', async () => {
    await start(true)
    await insertJournalRows(pool, { count: 0 })
    expect(await readClaim()).toEqual([])
  })

  it('gets one also from a role with another search path', async () => {
    const client = await pool.connect()
    try {
      await client.query(`set search_path = pg_catalog`)
      await client.query(
        `insert into public.consumed_authorizations ${insertConsumed.slice(insertConsumed.indexOf('('))}`,
      )
      await client.query('reset search_path')
    } finally {
      client.release()
    }
    expect(await readClaim()).toEqual([false])
  })

  it('gets that of the command that imports into it, which an instance of the other kind cannot use', async () => {
    await claimPurpose(pool, false)
    await claimPurpose(pool, false)
    await expect(claimPurpose(pool, true)).rejects.toThrow(/holds real payments/)
    await expect(start(true)).rejects.toMatchObject({ problem: expect.stringContaining('real payments') })
  })
})

describe('a database without a purpose and without an instance', () => {
  it.each([false, true])('gets that of its name (of a sandbox: %s)', async (isSandbox) => {
    const named = await createTestDatabase({ isSandbox })
    await insertJournalRows(named.pool(), { count: 1 })
    const { rows } = await named.pool().query('select is_sandbox from database_purpose')
    expect(rows).toEqual([{ is_sandbox: isSandbox }])
    await named.drop()
  })
})

describe('the upgrade of a database that a start had claimed', () => {
  const downgrade = `drop function claim_purpose, refuse_other_purpose cascade; alter table instances drop column is_sandbox, drop column is_admitted;
    delete from schema_migration where number >= 38`

  it.each([true, false])('gives the claim up where nothing is kept (of a sandbox: %s)', async (isSandbox) => {
    await pool.query(downgrade)
    await pool.query('insert into database_purpose (is_sandbox) values ($1)', [isSandbox])
    await migrate(pool, migrations)
    expect(await readClaim()).toEqual([])
    await start(!isSandbox)
  })

  it.each([true, false])(
    'keeps it for its rows, and beside an old instance (of a sandbox: %s)',
    async (isSandbox) => {
      await pool.query(downgrade)
      await pool.query('insert into database_purpose (is_sandbox) values ($1)', [isSandbox])
      await addInstance(pool)
      await migrateAfterOldest(pool, migrations)
      expect(await readClaim()).toEqual([isSandbox])
      await expect(start(!isSandbox)).rejects.toMatchObject({ variable: 'DATABASE_URL' })

      await pool.query(`delete from instances; ${downgrade}`)
      await insertJournalRows(pool, { count: 1 })
      await migrate(pool, migrations)
      expect(await readClaim()).toEqual([isSandbox])
      await start(isSandbox)
    },
  )

  it.each([
    ['stream', openStream],
    ['intent', createIntent],
  ] as const)('keeps that of a sandbox for an open %s, which no chain knows', async (_name, insert) => {
    await pool.query(downgrade)
    await pool.query('insert into database_purpose (is_sandbox) values (true)')
    await insert(pool)
    const place = await findSandboxDatabase(new Secret(database.url), { creates: false })
    expect(place).toMatchObject({ isApart: false })
    await migrate(pool, migrations)
    expect(await readClaim()).toEqual([true])
    await expect(start(false)).rejects.toMatchObject({ variable: 'DATABASE_URL' })
  })
})

describe.each([true, false])('consumed authorizations that were exported (of a sandbox: %s)', (isSandbox) => {
  it('are imported into a database of the same kind, and into no other', async () => {
    const folder = await makeTemporaryFolder('quittance-consumed-')
    const file = join(folder, 'digests')
    const others = await Promise.all([createTestDatabase(), createTestDatabase()])
    const importInto = (target: TestDatabase, purpose: boolean) =>
      importConsumed(target.pool(), { file, migrationsFolder: migrations, isSandbox: purpose })
    try {
      await start(isSandbox)
      await pool.query(insertConsumed)
      await writeBackup(pool, {
        file,
        migrationsFolder: migrations,
        version: '1.0.0',
        createdAt: new Date(0),
        onlyTables: [consumedTable],
      })
      const [same, other] = others
      await expect(importInto(other, !isSandbox)).rejects.toThrow(/Nothing was imported/)
      expect((await other.pool().query('select is_sandbox from database_purpose')).rows).toEqual([])
      expect(await importInto(same, isSandbox)).toMatchObject({ listed: 1, added: 1 })
    } finally {
      await Promise.all(others.map((each) => each.drop()))
      await rm(folder, { recursive: true })
    }
  })
})
