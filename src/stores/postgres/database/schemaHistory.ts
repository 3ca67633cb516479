import type { Pool, PoolClient } from 'pg'
import { z } from 'zod'
import { type Migration, readMigrations } from './migrationFiles.js'

const appliedRow = z.object({
  number: z.number(),
  name: z.string(),
  sha256: z.string(),
  runs_beside: z.number().nullable(),
})

export type AppliedMigration = z.infer<typeof appliedRow>

// Of a database that an older version migrated last, the column is missing.
const readApplied = `
  select number, name, sha256, (to_jsonb(m) ->> 'runs_beside')::integer as runs_beside
  from schema_migration m order by number`

export const readHistory = async (client: Pool | PoolClient): Promise<readonly AppliedMigration[]> =>
  z.array(appliedRow).parse((await client.query(readApplied)).rows)

/**
 * Throws an operator-facing error when files and database do not match. The database may have later migrations, if each
 * states that it runs beside the newest one of the files.
 */
export const checkHistory = (
  applied: readonly AppliedMigration[],
  migrations: readonly Migration[],
): void => {
  const newest = migrations.length
  for (const [index, row] of applied.entries()) {
    const migration = migrations[index]
    if (migration === undefined) {
      if (row.runs_beside !== null && row.runs_beside <= newest) continue
      throw new Error(
        `The database has migration ${row.name}, which this version does not know and cannot run beside. Start the version that applied it, or a later one.`,
      )
    }
    if (row.number !== migration.number) {
      throw new Error(`The database lacks migration ${migration.name}, but has the later ${row.name}.`)
    }
    if (row.sha256 !== migration.sha256) {
      throw new Error(
        `The database has another migration ${row.name} than this version: its file was changed after it had been applied. If you changed the file, restore it, and write the change as a new one. If not, a version from before the first release applied it: see "Upgrade" in docs/backup.md.`,
      )
    }
  }
}

export interface SchemaState {
  /** Names of applied migrations that this version has, oldest first. */
  readonly applied: readonly string[]
  readonly pending: readonly string[]
  /** Names of applied migrations of later versions. */
  readonly unknown: readonly string[]
}

/** Changes nothing. Throws an operator-facing error when files and database do not match. */
export const readSchemaState = async (pool: Pool, folder: URL | string): Promise<SchemaState> => {
  const migrations = await readMigrations(folder)
  const applied = await readHistory(pool)
  checkHistory(applied, migrations)
  const names = migrations.map(({ name }) => name)
  return {
    applied: names.slice(0, applied.length),
    pending: names.slice(applied.length),
    unknown: listUnknown(applied, migrations),
  }
}

export const listUnknown = (
  applied: readonly AppliedMigration[],
  migrations: readonly Migration[],
): readonly string[] => applied.slice(migrations.length).map(({ name }) => name)

/** For what has to know every table and column. Throws an operator-facing error. */
export const refuseLaterSchema = ({ unknown }: Pick<SchemaState, 'unknown'>): void => {
  if (unknown.length === 0) return
  throw new Error(
    `The database has migrations of a later version, which this command would leave out: ${unknown.join(', ')}. Use the command of that version.`,
  )
}

// Versions up to this migration say nothing about what runs beside what, and their instances not which one they have.
const lastUnstated = 39

const olderInstances = `
  select count(*)::integer as count from instances i
  where i.seen_at > now() - interval '10 seconds'
    and coalesce((to_jsonb(i) ->> 'newest_migration')::integer, ${lastUnstated}) < $1`

const counted = z.tuple([z.object({ count: z.number() })])

/** Living instances of versions whose newest migration is an earlier one. */
export const countInstancesBefore = async (client: Pool | PoolClient, migration: number): Promise<number> => {
  const [{ count }] = counted.parse((await client.query(olderInstances, [migration])).rows)
  return count
}

/** Instances of versions that cannot run on the database after a migration are alive. */
export class OlderInstancesError extends Error {}

export const refuseOlderInstances = async (client: Pool | PoolClient, next: Migration): Promise<void> => {
  if (next.number <= lastUnstated) return
  const { rows } = await client.query(`select to_regclass('instances') is not null as is_there`)
  if (rows[0]?.is_there !== true) return
  const count = await countInstancesBefore(client, next.runsBeside ?? next.number)
  if (count === 0) return
  throw new OlderInstancesError(
    `Migration ${next.name} cannot be applied beside instances of an older version, and ${count} of them sent a heartbeat within the last 10 seconds. Stop them, then start this version.`,
  )
}
