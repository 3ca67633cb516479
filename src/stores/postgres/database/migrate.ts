import { createHash } from 'node:crypto'
import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { Pool, PoolClient } from 'pg'
import { inTransaction } from './statements.js'

export interface Migration {
  readonly number: number
  readonly name: string
  readonly sql: string
  readonly sha256: string
}

interface AppliedRow {
  readonly number: number
  readonly name: string
  readonly sha256: string
}

/** Arbitrary, but unique among the advisory locks of this database. */
const lockKey = 7_140_402

// Building an index on a large table, or waiting for another instance that builds it, has no time limit.
export const withoutTimeout = (text: string, values: readonly string[] = []) => ({
  text,
  values: [...values],
  query_timeout: 2 ** 31 - 1,
})

/**
 * Applies missing files `NNNN_what.sql` in order, each in a transaction under an advisory lock: any number of
 * instances may start at once. Throws an operator-facing error when files and database do not match.
 */
export async function migrate(pool: Pool, folder: URL | string): Promise<{ applied: readonly string[] }> {
  const migrations = await readMigrations(folder)
  const applied: string[] = []
  for (;;) {
    const name = await inTransaction(pool, (client) => applyNext(client, migrations))
    if (name === null) return { applied }
    applied.push(name)
  }
}

async function applyNext(client: PoolClient, migrations: readonly Migration[]): Promise<string | null> {
  // The snapshot must not be older than the lock, to include what its previous holder committed.
  await client.query('set transaction isolation level read committed')
  await client.query('set local statement_timeout = 0; set local lock_timeout = 0')
  await client.query(withoutTimeout(`select pg_advisory_xact_lock(${lockKey})`))
  await client.query(`create table if not exists schema_migration (
    number integer primary key,
    name text not null,
    sha256 text not null,
    applied_at timestamptz not null default now()
  )`)
  const { rows } = await client.query<AppliedRow>(
    'select number, name, sha256 from schema_migration order by number',
  )
  checkHistory(rows, migrations)

  const next = migrations[rows.length]
  if (next === undefined) return null
  try {
    await client.query(withoutTimeout(next.sql))
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message : String(cause)
    throw new Error(`Migration ${next.name} failed and was rolled back: ${reason}`, { cause })
  }
  await client.query('insert into schema_migration (number, name, sha256) values ($1, $2, $3)', [
    next.number,
    next.name,
    next.sha256,
  ])
  return next.name
}

function checkHistory(rows: readonly AppliedRow[], migrations: readonly Migration[]): void {
  for (const [index, row] of rows.entries()) {
    const migration = migrations[index]
    if (migration === undefined) {
      throw new Error(
        `The database has migration ${row.name}, which this version does not know. Start the version that applied it, or a later one.`,
      )
    }
    if (row.number !== migration.number) {
      throw new Error(`The database lacks migration ${migration.name}, but has the later ${row.name}.`)
    }
    if (row.sha256 !== migration.sha256) {
      throw new Error(
        `Migration ${migration.name} was changed after it had been applied. Restore the file, and write the change as a new one.`,
      )
    }
  }
}

interface SchemaState {
  /** Names of applied migrations, oldest first. */
  readonly applied: readonly string[]
  readonly pending: readonly string[]
}

/** Changes nothing. Throws an operator-facing error when files and database do not match. */
export async function readSchemaState(pool: Pool, folder: URL | string): Promise<SchemaState> {
  const migrations = await readMigrations(folder)
  const { rows } = await pool.query<AppliedRow>(
    'select number, name, sha256 from schema_migration order by number',
  )
  checkHistory(rows, migrations)
  const names = migrations.map(({ name }) => name)
  return { applied: names.slice(0, rows.length), pending: names.slice(rows.length) }
}

export async function readMigrations(where: URL | string): Promise<readonly Migration[]> {
  const folder = typeof where === 'string' ? where : fileURLToPath(where)
  const names = (await readdir(folder)).filter((name) => name.endsWith('.sql')).sort()
  const migrations = await Promise.all(names.map((name) => readMigration(folder, name)))
  for (const [index, { number, name }] of migrations.entries()) {
    const expected = index + 1
    if (number === expected) continue
    const previous = migrations[index - 1]
    if (previous?.number === number) {
      throw new Error(`Migrations ${previous.name} and ${name} have the same number.`)
    }
    throw new Error(`Migration ${String(expected).padStart(4, '0')} is missing: the next file is ${name}.`)
  }
  return migrations
}

async function readMigration(folder: string, name: string): Promise<Migration> {
  const digits = /^(\d{4})_[a-z0-9_]+\.sql$/.exec(name)?.[1]
  if (digits === undefined) {
    throw new Error(`Migration ${name} is not named like 0001_what_it_does.sql.`)
  }
  // Git may check out other line endings; that is not a change.
  const sql = (await readFile(join(folder, name), 'utf8')).replaceAll('\r\n', '\n')
  return { number: Number(digits), name, sql, sha256: createHash('sha256').update(sql).digest('hex') }
}
