import type { Pool, PoolClient } from 'pg'
import { z } from 'zod'
import { listBackfills, startBackfill } from '../database/backfills.js'
import { type Migration, readMigrations } from '../database/migrationFiles.js'
import { inTransaction, withoutTimeout } from '../database/statements.js'
import {
  BackupFileError,
  type BackupHeader,
  listTables,
  quote,
  type RowCounts,
  readBackup,
  type Table,
} from './readBackup.js'

/** Reads the whole file and changes nothing. Throws `BackupFileError` unless this version can restore it. */
export const checkBackup = async (file: string, migrationsFolder: URL): Promise<BackupHeader> => {
  const migrations = await readMigrations(migrationsFolder)
  let found: BackupHeader | null = null
  for await (const part of readBackup(file)) {
    if (part.kind !== 'header') continue
    found = part.header
    checkMigrations(part.header, migrations, file)
  }
  if (found === null) throw new BackupFileError(`${file} is empty.`)
  return found
}

const checkMigrations = (header: BackupHeader, migrations: readonly Migration[], file: string): void => {
  const isSame =
    header.migrations.length === migrations.length &&
    migrations.every(({ number, sha256 }, index) => {
      const other = header.migrations[index]
      return other?.number === number && other.sha256 === sha256
    })
  if (isSame) return
  const version = header.version.replaceAll(/[^\w.+-]/g, '').slice(0, 40)
  throw new BackupFileError(
    `${file} was written by quittance ${version} at migration ${header.migrations.length}; this version has migration ${migrations.length}. Restore it with the version that wrote it, then upgrade.`,
  )
}

/**
 * Fills an empty, migrated database in one transaction: all of the file or nothing. Throws an operator-facing error when
 * the database holds data or a service runs on it.
 */
export const restoreBackup = async (
  pool: Pool,
  { file, migrationsFolder }: { readonly file: string; readonly migrationsFolder: URL },
): Promise<RowCounts> => {
  const migrations = await readMigrations(migrationsFolder)
  return await inTransaction(pool, async (client) => {
    await client.query("set local statement_timeout = 0; set local lock_timeout = '5s'")
    await client.query(`set local timezone = 'UTC'; set local datestyle = 'ISO, MDY'`)
    const tables = await listTables(client, migrations)
    await refuseUsedDatabase(client, tables)
    const foreignKeys = await listForeignKeys(client, tables)
    // What triggers derive is in the file as well, and a row may refer to a later one.
    for (const { name } of tables) await client.query(`alter table ${quote(name)} disable trigger user`)
    for (const key of foreignKeys) await alterConstraint(client, key, 'deferrable initially deferred')

    const counts = await insertAll(client, { file, migrations, tables })

    await client.query(withoutTimeout('set constraints all immediate'))
    await refuseMissingSettlements(client)
    for (const key of foreignKeys) await alterConstraint(client, key, 'not deferrable')
    for (const { name } of tables) await client.query(`alter table ${quote(name)} enable trigger user`)
    for (const table of tables) await advanceSequences(client, table)
    // What was filled here was another content.
    for (const backfill of listBackfills(migrations)) await startBackfill(client, backfill)
    // The instances of the file do not run here: nonces need no wait for their leases.
    await client.query('update signer_lanes set holder = null, lease_expires_at = null')
    for (const { name } of tables) {
      await client.query(withoutTimeout(`analyze ${quote(name)}`))
    }
    return counts
  })
}

/** No foreign key refuses them: see `migrations/0046_unchecked_settlements.sql`. */
const refuseMissingSettlements = async (client: PoolClient): Promise<void> => {
  const { rowCount } = await client.query(
    withoutTimeout(`select from broadcast_settlements c
      where not exists (select from settlements s where s.id = c.settlement_id) limit 1`),
  )
  if (rowCount !== 0) throw new Error('The backup lacks a settlement that one of its transactions carries.')
}

const refusal = z.tuple([z.object({ is_used: z.boolean() })])

const isUsed = async (client: PoolClient, condition: string): Promise<boolean> =>
  refusal.parse((await client.query(`select exists (${condition}) as is_used`)).rows)[0].is_used

export const refuseRunningService = async (client: PoolClient, outcome: string): Promise<void> => {
  if (await isUsed(client, "select from instances where seen_at > now() - interval '10 seconds'")) {
    throw new Error(`A service runs on this database: stop it first. ${outcome}`)
  }
}

const refuseUsedDatabase = async (client: PoolClient, tables: readonly Table[]): Promise<void> => {
  const names = tables.map(({ name }) => quote(name))
  // Waits for no running service: it would write between our rows.
  await client
    .query(`lock table instances, ${names.join()} in access exclusive mode`)
    .catch((cause: unknown) => {
      throw new Error('The database is in use: stop the service first. Nothing was restored.', { cause })
    })
  await refuseRunningService(client, 'Nothing was restored.')
  for (const { name } of tables) {
    // The migrations fill this one with zeros.
    const rows = name === 'settlement_totals' ? 'where opened <> 0' : ''
    if (!(await isUsed(client, `select from ${quote(name)} ${rows}`))) continue
    throw new Error(
      `The database is not empty: its table ${name} has rows. Restore into a new database or a new DATA_FOLDER. Nothing was restored.`,
    )
  }
  await client.query('delete from settlement_totals')
}

const insertAll = async (
  client: PoolClient,
  {
    file,
    migrations,
    tables,
  }: { readonly file: string; readonly migrations: readonly Migration[]; readonly tables: readonly Table[] },
): Promise<RowCounts> => {
  let counts: RowCounts = {}
  let insertion = ''
  for await (const part of readBackup(file)) {
    switch (part.kind) {
      case 'header':
        checkMigrations(part.header, migrations, file)
        break
      case 'table': {
        const table = tables.find(({ name }) => name === part.table)
        const names = table?.columns.map(({ name }) => name)
        if (table === undefined || names?.join() !== part.columns.join()) {
          throw new BackupFileError(`${file} has another table ${JSON.stringify(part.table.slice(0, 63))}.`)
        }
        insertion = writeInsertion(table)
        break
      }
      case 'rows':
        await client.query(withoutTimeout(insertion, [`[${part.lines.join()}]`]))
        break
      case 'end':
        counts = part.rows
        break
    }
  }
  const absent = tables.filter(({ name }) => counts[name] === undefined)
  if (absent.length > 0) throw new BackupFileError(`${file} lacks the table ${absent[0]?.name}.`)
  return counts
}

/** SQL names come from the catalog, never from the file. */
export const writeInsertion = ({ name, columns }: Table): string => {
  const values = columns.map(({ type }, index) => `(r ->> ${index})::${type}`)
  return `insert into ${quote(name)} (${columns.map((column) => quote(column.name)).join()})
    overriding system value
    select ${values.join()} from json_array_elements($1::json) as rows (r)`
}

const foreignKeyShape = z.object({ table: z.string(), name: z.string() })
type ForeignKey = z.infer<typeof foreignKeyShape>

const listForeignKeys = async (
  client: PoolClient,
  tables: readonly Table[],
): Promise<readonly ForeignKey[]> => {
  const { rows } = await client.query(
    `select r.relname as table, c.conname as name from pg_constraint c join pg_class r on r.oid = c.conrelid
     where c.contype = 'f' and not c.condeferrable and r.relnamespace = current_schema()::regnamespace
       and r.relname = any($1)`,
    [tables.map(({ name }) => name)],
  )
  return rows.map((row) => foreignKeyShape.parse(row))
}

const alterConstraint = async (
  client: PoolClient,
  { table, name }: ForeignKey,
  timing: 'deferrable initially deferred' | 'not deferrable',
): Promise<void> => {
  await client.query(`alter table ${quote(table)} alter constraint ${quote(name)} ${timing}`)
}

const advanceSequences = async (client: PoolClient, { name, columns }: Table): Promise<void> => {
  for (const column of columns.filter(({ isIdentity }) => isIdentity)) {
    await client.query(
      `select setval(pg_get_serial_sequence($1, $2), coalesce(max(${quote(column.name)}), 0) + 1, false) from ${quote(name)}`,
      [quote(name), column.name],
    )
  }
}
