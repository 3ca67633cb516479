import { randomBytes } from 'node:crypto'
import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import type { Pool } from 'pg'
import { migrate } from '../../src/stores/postgres/database/migrate.js'
import { openPool } from '../../src/stores/postgres/database/pool.js'
import { type Binaries, thisMachine } from '../../src/stores/postgres/embedded/machine.js'
import { startEmbeddedPostgres } from '../../src/stores/postgres/embedded/startEmbeddedPostgres.js'
import { patientPool } from './patientPool.js'
import type { ProvidedPostgres } from './postgres.js'
import { makeTemporaryFolder } from './temporaryFolder.js'

const migrations = new URL('../../migrations/', import.meta.url)

export interface PostgresServer {
  readonly adminUrl: string
  stop(): Promise<void>
}

/** An existing server; its user must have CREATEDB. */
export const useExistingPostgres = (adminUrl: string): PostgresServer => ({
  adminUrl,
  stop: async () => undefined,
})

/** Starts a server for this run, by default with the binaries that the service would use. */
export const startPostgres = async (binaries?: Binaries): Promise<PostgresServer> => {
  const parent = await makeTemporaryFolder('test-')
  const machine = thisMachine()
  const postgres = await startEmbeddedPostgres(
    {
      folder: join(parent, 'postgres'),
      // No durability needed.
      settings: { fsync: 'off', synchronous_commit: 'off', full_page_writes: 'off', max_connections: '400' },
      initdbArgs: ['-A', 'trust', '--no-sync'],
      log: () => undefined,
    },
    binaries === undefined ? machine : { ...machine, binaries: [binaries] },
  )
  postgres.onExit((reason) => process.stderr.write(`\n*** the tests' Postgres is gone: ${reason} ***\n\n`))
  const adminUrl = new URL(postgres.url)
  adminUrl.pathname = '/postgres'
  return {
    adminUrl: adminUrl.href,
    async stop() {
      await postgres.stop()
      await rm(parent, { recursive: true, force: true })
    },
  }
}

/** `close` drops the template with all clones, and stops the server if it is ours. */
export const openTemplate = async (
  server: PostgresServer,
): Promise<{ readonly provided: ProvidedPostgres; close(): Promise<void> }> => {
  const template = `quittance_test_${randomBytes(4).toString('hex')}`
  const { adminUrl } = server
  try {
    await buildTemplate(adminUrl, template)
  } catch (error) {
    await server.stop()
    throw error
  }
  return {
    provided: { adminUrl, template },
    close: async () => {
      try {
        await dropAll(adminUrl, template)
      } finally {
        await server.stop()
      }
    },
  }
}

export const readMajor = async (url: string): Promise<number> => {
  let major = 0
  await withPool(url, async (pool) => {
    const { rows } = await pool.query<{ server_version_num: string }>('show server_version_num')
    major = Math.floor(Number(rows[0]?.server_version_num) / 10_000)
  })
  return major
}

const buildTemplate = async (adminUrl: string, template: string): Promise<void> => {
  await withPool(adminUrl, (pool) => pool.query(`create database "${template}"`))
  const url = new URL(adminUrl)
  url.pathname = `/${template}`
  await withPool(url.href, (pool) => migrate(pool, migrations))
}

const dropAll = (adminUrl: string, template: string): Promise<void> =>
  withPool(adminUrl, async (pool) => {
    const { rows } = await pool.query<{ datname: string }>(
      'select datname from pg_database where starts_with(datname, $1)',
      [template],
    )
    for (const { datname } of rows) await pool.query(`drop database if exists "${datname}" with (force)`)
  })

const withPool = async (url: string, work: (pool: Pool) => Promise<unknown>): Promise<void> => {
  const pool = openPool({ ...patientPool, url, maxConnections: 1 })
  try {
    await work(pool)
  } finally {
    await pool.end()
  }
}
