import { rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import type { Pool } from 'pg'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { migrate } from '../../../../src/stores/postgres/database/migrate.js'
import { openPool } from '../../../../src/stores/postgres/database/pool.js'
import { createMemoryLogger } from '../../../support/memoryLogger.js'
import { patientPool } from '../../../support/patientPool.js'
import { pollUntil } from '../../../support/pollUntil.js'
import { createTestDatabase, type TestDatabase } from '../../../support/postgres.js'
import { makeTemporaryFolder } from '../../../support/temporaryFolder.js'

let database: TestDatabase
let pool: Pool
const folders: string[] = []

beforeEach(async () => {
  database = await createTestDatabase()
  pool = database.pool()
  // The template database already has the project's migrations.
  await pool.query('drop schema public cascade; create schema public')
})
afterEach(async () => {
  vi.useRealTimers()
  await database.drop()
  for (const folder of folders.splice(0)) await rm(folder, { recursive: true })
})

const one = { '0001_make_a.sql': 'create table a (n int);\ninsert into a values (1);\n' }
const two = { ...one, '0002_make_b.sql': 'create table b (n int);' }

async function folderWith(files: Readonly<Record<string, string>>): Promise<string> {
  const folder = await makeTemporaryFolder('migrations-')
  folders.push(folder)
  for (const [name, text] of Object.entries(files)) await writeFile(join(folder, name), text)
  return folder
}

const applyFiles = async (files: Readonly<Record<string, string>>) => migrate(pool, await folderWith(files))
const hasTable = async (name: string) =>
  (await pool.query('select to_regclass($1) is not null as yes', [name])).rows[0]?.yes

test('applies the files in order, once, and new files later', async () => {
  expect(await applyFiles(one)).toMatchObject({ applied: ['0001_make_a.sql'] })
  expect(await applyFiles(two)).toMatchObject({ applied: ['0002_make_b.sql'] })
  expect(await applyFiles(two)).toMatchObject({ applied: [] })

  expect((await pool.query('select n from a')).rows).toEqual([{ n: 1 }])
  expect(await hasTable('b')).toBe(true)
})

test('accepts the folder as a URL, and ignores files that are not SQL', async () => {
  const folder = await folderWith({ ...one, 'README.md': 'why' })

  expect(await migrate(pool, pathToFileURL(`${folder}/`))).toMatchObject({ applied: ['0001_make_a.sql'] })
})

/** A file that ends once the gate is open. */
const gated = 'select pg_advisory_xact_lock(1)'

const closeGate = async () => {
  const gatekeeper = await pool.connect()
  await gatekeeper.query('select pg_advisory_lock(1)')
  return {
    open: async () => {
      await gatekeeper.query('select pg_advisory_unlock(1)')
      gatekeeper.release()
    },
  }
}

const waitForLocked = () =>
  pollUntil(async () => {
    const { rowCount } = await pool.query(
      "select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'",
    )
    return rowCount === 1
  }, 'one instance to wait for the gate')

// Longer than the gate is closed.
const lockTimeoutMs = 600_000

test('applies each file once when four instances start concurrently', async () => {
  const files = { ...two, '0003_wait.sql': gated }
  const folder = await folderWith(files)
  const pools = [1, 2, 3, 4].map(() => openPool({ ...patientPool, url: database.url, maxConnections: 1 }))
  const logger = createMemoryLogger()
  const gate = await closeGate()

  const migrating = Promise.all(pools.map((each) => migrate(each, folder, { logger, lockTimeoutMs })))
  await waitForLocked()
  const countWaiting = () =>
    logger.lines.filter(({ message }) => message === 'database.migration_waits').length
  await pollUntil(() => countWaiting() === 3, 'the others to wait', countWaiting)
  await gate.open()
  const outcomes = await migrating

  await Promise.all(pools.map((each) => each.end()))
  expect(outcomes.flatMap(({ applied }) => applied).sort()).toEqual(Object.keys(files))
  expect((await pool.query('select n from a')).rows).toEqual([{ n: 1 }])
})

test('takes as long as a file needs, without a timeout of the client or the server', async () => {
  const folder = await folderWith({
    '0001_wait.sql': `create table limits as select current_setting('statement_timeout') as statement; ${gated};`,
  })
  const gate = await closeGate()

  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
  const migrating = migrate(pool, folder, { lockTimeoutMs })
  await waitForLocked()
  vi.advanceTimersByTime(86_400_000)
  await gate.open()

  expect(await migrating).toMatchObject({ applied: ['0001_wait.sql'] })
  expect((await pool.query('select * from limits')).rows).toEqual([{ statement: '0' }])
})

test('does not change the timeouts of a pooled connection', async () => {
  const single = openPool({ url: database.url, maxConnections: 1, onError: () => undefined })
  await migrate(single, await folderWith(one))

  const { rows } = await single.query('show statement_timeout')

  await single.end()
  expect(rows).toEqual([{ statement_timeout: '10s' }])
})

test('rolls back a failed file and keeps the earlier ones', async () => {
  const broken = { ...one, '0002_break.sql': 'create table half (n int); select 1 / 0;' }

  await expect(applyFiles(broken)).rejects.toThrow(
    'Migration 0002_break.sql failed and was rolled back: division by zero',
  )

  expect(await hasTable('half')).toBe(false)
  expect(await applyFiles(two)).toMatchObject({ applied: ['0002_make_b.sql'] })
})

test('refuses a file that changed after it was applied', async () => {
  await applyFiles(one)

  await expect(applyFiles({ '0001_make_a.sql': 'create table other (n int);' })).rejects.toThrow(
    /another migration 0001_make_a.sql than this version: its file was changed after it had been applied/,
  )
})

test('ignores changed line endings', async () => {
  await applyFiles(one)
  const windows = { '0001_make_a.sql': one['0001_make_a.sql'].replaceAll('\n', '\r\n') }

  expect(await applyFiles(windows)).toMatchObject({ applied: [] })
})

test('refuses a database that is ahead of the files', async () => {
  await applyFiles(two)

  await expect(applyFiles(one)).rejects.toThrow(
    /database has migration 0002_make_b.sql, which this version does not know/,
  )
})

test('refuses a database with a later file but without an earlier one', async () => {
  await applyFiles(two)
  await pool.query('delete from schema_migration where number = 1')

  await expect(applyFiles(two)).rejects.toThrow(
    'lacks migration 0001_make_a.sql, but has the later 0002_make_b.sql',
  )
})

test.each([
  [
    'a number is missing',
    { ...one, '0003_c.sql': '' },
    'Migration 0002 is missing: the next file is 0003_c.sql',
  ],
  ['the first number is not 1', { '0002_b.sql': '' }, 'Migration 0001 is missing'],
  [
    'a number is doubled',
    { ...one, '0001_other.sql': '' },
    '0001_make_a.sql and 0001_other.sql have the same number',
  ],
  [
    'a name is malformed',
    { ...one, '2_b.sql': '' },
    'Migration 2_b.sql is not named like 0001_what_it_does.sql',
  ],
])('applies nothing when %s', async (_, files, sentence) => {
  await expect(applyFiles(files)).rejects.toThrow(sentence)

  expect(await hasTable('a')).toBe(false)
})

test('refuses a folder that does not exist', async () => {
  await expect(migrate(pool, '/nowhere/migrations')).rejects.toThrow(/\/nowhere\/migrations/)
})
