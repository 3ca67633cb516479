import { randomBytes } from 'node:crypto'
import { existsSync, rmSync } from 'node:fs'
import { rm, stat } from 'node:fs/promises'
import { join } from 'node:path'
import type { Pool } from 'pg'
import type { TestProject } from 'vitest/node'
import { lockFolder } from '../../src/stores/postgres/embedded/lockFolder.js'
import { thisMachine } from '../../src/stores/postgres/embedded/machine.js'
import { startEmbeddedPostgres } from '../../src/stores/postgres/embedded/startEmbeddedPostgres.js'
import { migrate } from '../../src/stores/postgres/migrate.js'
import { openPool } from '../../src/stores/postgres/pool.js'
// Also declares what is provided.
import type { ProvidedPostgres } from './postgres.js'
import { listTemporaryFolders, makeTemporaryFolder } from './temporaryFolder.js'

const prefix = 'quittance-test-'
const startDeadlineMs = 60_000

interface Server {
  readonly adminUrl: string
  stop(): Promise<void>
}

const migrations = new URL('../../migrations/', import.meta.url)

/**
 * Gives the run one Postgres and one migrated template. `TEST_DATABASE_URL` names a server to use instead
 * of our own; its user must be allowed to create databases.
 */
export default async function globalSetup(project: TestProject): Promise<() => Promise<void>> {
  const url = process.env.TEST_DATABASE_URL
  const server = url ? borrow(url) : await startOwn()
  const template = `quittance_test_${randomBytes(4).toString('hex')}`
  try {
    await buildTemplate(server.adminUrl, template)
  } catch (error) {
    await server.stop()
    throw error
  }
  const facts: ProvidedPostgres = { adminUrl: server.adminUrl, template }
  project.provide('postgres', facts)
  return async () => {
    try {
      await dropAll(server.adminUrl, template)
    } finally {
      await server.stop()
    }
  }
}

function borrow(adminUrl: string): Server {
  return { adminUrl, stop: async () => undefined }
}

async function startOwn(): Promise<Server> {
  await sweep()
  const parent = await makeTemporaryFolder(prefix)
  // For an end that skips the teardown, such as Ctrl-C twice; the server then ends with us as well.
  const removeNow = () => rmSync(parent, { recursive: true, force: true, maxRetries: 5, retryDelay: 50 })
  process.once('exit', removeNow)
  const lines: string[] = []
  const postgres = await startEmbeddedPostgres({
    folder: join(parent, 'postgres'),
    // Nothing here has to survive a power cut.
    settings: { fsync: 'off', synchronous_commit: 'off', full_page_writes: 'off', max_connections: '200' },
    initdbArgs: ['-A', 'trust', '--no-sync'],
    log: (line) => void lines.push(line),
  })
  postgres.onExit((reason) => process.stderr.write(`\n*** the tests' Postgres is gone: ${reason} ***\n\n`))
  const adminUrl = new URL(postgres.url)
  adminUrl.pathname = '/postgres'
  return {
    adminUrl: adminUrl.href,
    async stop() {
      await postgres.stop()
      await rm(parent, { recursive: true, force: true })
      process.off('exit', removeNow)
    },
  }
}

/** Removes what a run left that was killed outright. A run that lives holds its folder's lock. */
async function sweep(): Promise<void> {
  for (const parent of await listTemporaryFolders(prefix)) {
    try {
      const { ctimeMs } = await stat(parent)
      // A run that has just begun has no lock yet.
      if (Date.now() - ctimeMs < startDeadlineMs) continue
      const lock = await lockFolder(join(parent, 'postgres'), thisMachine(), () => undefined)
      if (lock.isCertain) await rm(parent, { recursive: true, force: true })
      lock.release()
    } catch {
      // In use, or another sweep is at it.
    }
  }
}

async function buildTemplate(adminUrl: string, template: string): Promise<void> {
  await withPool(adminUrl, (pool) => pool.query(`create database "${template}"`))
  const url = new URL(adminUrl)
  url.pathname = `/${template}`
  await withPool(url.href, async (pool) => {
    if (existsSync(migrations)) await migrate(pool, migrations)
  })
}

/** Tests drop their own; this is for a server that outlives the run, and for tests that did not. */
async function dropAll(adminUrl: string, template: string): Promise<void> {
  await withPool(adminUrl, async (pool) => {
    const { rows } = await pool.query<{ datname: string }>(
      'select datname from pg_database where starts_with(datname, $1)',
      [template],
    )
    for (const { datname } of rows) await pool.query(`drop database if exists "${datname}" with (force)`)
  })
}

async function withPool(url: string, work: (pool: Pool) => Promise<unknown>): Promise<void> {
  const pool = openPool({ url, maxConnections: 1, onError: () => undefined })
  try {
    await work(pool)
  } finally {
    await pool.end()
  }
}
