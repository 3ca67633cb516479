import { randomBytes } from 'node:crypto'
import type { Pool } from 'pg'
import { afterAll, beforeAll, inject } from 'vitest'
import { openPool } from '../../src/stores/postgres/database/pool.js'
import { patientPool } from './patientPool.js'

/** Serializable, because it is passed between processes. */
export interface ProvidedPostgres {
  readonly adminUrl: string
  /** Name of the migrated template; clones use it as a prefix. */
  readonly template: string
}

declare module 'vitest' {
  export interface ProvidedContext {
    postgres: ProvidedPostgres
  }
}

export interface TestDatabase {
  readonly url: string
  /** The same pool on every call. */
  pool(): Pool
  otherPool(): Pool
  /** Closes the pools and drops the database, including open connections. Idempotent. */
  drop(): Promise<void>
}

export interface SuiteDatabase {
  readonly url: string
  readonly pool: Pool
  readonly otherPool: Pool
}

const maxConnections = 10

/** A function `now` that statements find before the built-in one, and that defaults of columns call. */
const stopClock = `
  create schema clock;
  create table clock.moment as select now() as at;
  create function clock.now() returns timestamptz stable language sql as 'select at from clock.moment';
  do $$ declare alteration text; begin
    for alteration in
      select format('alter table %s alter column %I set default clock.now()', adrelid::regclass, attname)
      from pg_attrdef join pg_attribute on (attrelid, attnum) = (adrelid, adnum)
      where pg_get_expr(adbin, adrelid) = 'now()'
    loop execute alteration; end loop;
    execute format('alter database %I set search_path = public, clock, pg_catalog', current_database());
  end $$`

/**
 * Clones the template database; its caller calls `drop`. `isSandbox` gives it a name by which a sandbox uses it, instead
 * of one beside it.
 */
export async function createTestDatabase({ isSandbox = false } = {}): Promise<TestDatabase> {
  const database = nameTestDatabase(isSandbox)
  await database.create()
  return database
}

/** Names the connections of a test, beside those of processes that it starts. */
export const testApplication = 'test'

/**
 * A clone of the template for the tests of a file, or of a `describe`. Its pools connect when they are used. With
 * `stopsClock`, `now()` stands still, so that nothing ages while the machine is busy: tests move the times that are stored.
 * Not for holds: their statements add how long a caller still waits to `now()`, and compare that with `clock_timestamp()`.
 */
export function useTestDatabase({ isSandbox = false, stopsClock = false } = {}): SuiteDatabase {
  const database = nameTestDatabase(isSandbox)
  beforeAll(async () => {
    await database.create()
    if (stopsClock) await asAdmin(database.url, stopClock)
  })
  afterAll(() => database.drop())
  return { url: database.url, pool: database.pool(), otherPool: database.otherPool() }
}

function nameTestDatabase(isSandbox: boolean): TestDatabase & { create(): Promise<void> } {
  const { adminUrl, template } = inject('postgres')
  const name = `${template}_${randomBytes(6).toString('hex')}${isSandbox ? '_sandbox' : ''}`
  const url = new URL(adminUrl)
  url.pathname = `/${name}`
  const named = new URL(url)
  named.searchParams.set('application_name', testApplication)
  const pools = new Map<'ours' | 'theirs', Pool>()
  const open = (whose: 'ours' | 'theirs'): Pool => {
    const pool = pools.get(whose) ?? openPool({ ...patientPool, url: named.href, maxConnections })
    pools.set(whose, pool)
    return pool
  }
  let dropped: Promise<void> | null = null
  const drop = async () => {
    // `end()` waits for clients that a failed test did not release; `with (force)` disconnects them.
    const closed = Promise.all([...pools.values()].map((pool) => pool.end()))
    // A sandbox that was started on it made another one.
    const drops = [name, `${name}_sandbox`].map((each) => `drop database if exists "${each}" with (force)`)
    await asAdmin(adminUrl, ...drops)
    await closed
  }
  return {
    url: url.href,
    // Copying through the WAL, the default, costs the server twice the time for a template of this size.
    create: () => asAdmin(adminUrl, `create database "${name}" template "${template}" strategy file_copy`),
    pool: () => open('ours'),
    otherPool: () => open('theirs'),
    drop() {
      dropped ??= drop()
      return dropped
    },
  }
}

async function asAdmin(url: string, ...statements: readonly string[]): Promise<void> {
  const pool = openPool({ ...patientPool, url, maxConnections: 1 })
  try {
    for (const statement of statements) await pool.query(statement)
  } finally {
    await pool.end()
  }
}
