import { randomBytes } from 'node:crypto'
import type { Pool } from 'pg'
import { inject } from 'vitest'
import { openPool } from '../../src/stores/postgres/database/pool.js'

/** What a test needs to know of the run's server. Plain strings, because it crosses processes. */
export interface ProvidedPostgres {
  /** The server's maintenance database. */
  readonly adminUrl: string
  /** A migrated database to clone; every clone's name begins with it. */
  readonly template: string
}

declare module 'vitest' {
  export interface ProvidedContext {
    postgres: ProvidedPostgres
  }
}

/** A database of one test file, with every migration applied. */
export interface TestDatabase {
  readonly url: string
  /** A pool on it, the same at each call. */
  pool(): Pool
  /** A second one, as another process has its own. */
  otherPool(): Pool
  /** Closes the pool and removes the database, whoever is still connected. May be called twice. */
  drop(): Promise<void>
}

const maxConnections = 10

/** Clones the run's template. Call it in `beforeAll`, and `drop` in `afterAll`. */
export async function createTestDatabase(): Promise<TestDatabase> {
  const { adminUrl, template } = inject('postgres')
  const name = `${template}_${randomBytes(6).toString('hex')}`
  await asAdmin(adminUrl, `create database "${name}" template "${template}"`)

  const url = new URL(adminUrl)
  url.pathname = `/${name}`
  const pools = new Map<'ours' | 'theirs', Pool>()
  const open = (whose: 'ours' | 'theirs'): Pool => {
    const pool = pools.get(whose) ?? openPool({ url: url.href, maxConnections, onError: () => undefined })
    pools.set(whose, pool)
    return pool
  }
  let dropped: Promise<void> | null = null
  const drop = async () => {
    // A client that a failed test never released would keep end() waiting; the force below ends it.
    const closed = Promise.all([...pools.values()].map((pool) => pool.end()))
    await asAdmin(adminUrl, `drop database if exists "${name}" with (force)`)
    await closed
  }
  return {
    url: url.href,
    pool: () => open('ours'),
    otherPool: () => open('theirs'),
    drop() {
      dropped ??= drop()
      return dropped
    },
  }
}

async function asAdmin(url: string, statement: string): Promise<void> {
  const pool = openPool({ url, maxConnections: 1, onError: () => undefined })
  try {
    await pool.query(statement)
  } finally {
    await pool.end()
  }
}
