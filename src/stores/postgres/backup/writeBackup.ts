import { createHash, type Hash } from 'node:crypto'
import { createWriteStream, existsSync } from 'node:fs'
import { open, rename, rm, stat } from 'node:fs/promises'
import { dirname } from 'node:path'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { createGzip } from 'node:zlib'
import type { Pool, PoolClient } from 'pg'
import { readMigrations } from '../database/migrationFiles.js'
import { readSchemaState, refuseLaterSchema } from '../database/schemaHistory.js'
import { inTransaction } from '../database/statements.js'
import { backupFormat, formatVersion, listTables, quote, type RowCounts, type Table } from './readBackup.js'

interface BackupOptions {
  /** Must not exist. */
  readonly file: string
  readonly migrationsFolder: URL
  /** It is that of the service, for a reader of the file. */
  readonly version: string
  readonly createdAt: Date
  /** Default: every table. */
  readonly onlyTables?: readonly string[]
}

const rowsPerPage = 500

// Text forms that do not depend on the settings of a server.
const textForms = `set local timezone = 'UTC'; set local datestyle = 'ISO, MDY'; set local bytea_output = 'hex';
  set local extra_float_digits = 1`

/**
 * Writes every table as it was at one moment (repeatable read), while the service runs. The file appears complete or not at
 * all, readable by its owner only.
 */
export const writeBackup = async (
  pool: Pool,
  { file, migrationsFolder, version, createdAt, onlyTables }: BackupOptions,
): Promise<{ readonly rows: RowCounts; readonly bytes: number }> => {
  if (existsSync(file)) throw new Error(`${file} exists: a backup overwrites no file.`)
  refuseLaterSchema(await readSchemaState(pool, migrationsFolder))
  const migrations = await readMigrations(migrationsFolder)
  const counts: Record<string, number> = {}
  const partial = `${file}.part`
  try {
    await inTransaction(pool, async (client) => {
      await client.query('set transaction isolation level repeatable read, read only')
      await client.query(textForms)
      const { rows: applied } = await client.query(
        'select number, name, sha256 from schema_migration order by number',
      )
      const { rows: purposes } = await client.query<{ is_sandbox: boolean }>(
        'select is_sandbox from database_purpose',
      )
      const header = {
        format: backupFormat,
        formatVersion,
        version,
        createdAt: createdAt.toISOString(),
        isSandbox: purposes[0]?.is_sandbox ?? null,
        migrations: applied,
      }
      const tables = (await listTables(client, migrations)).filter(
        ({ name }) => onlyTables === undefined || onlyTables.includes(name),
      )
      const lines = writeLines(client, { header, tables, counts })
      await pipeline(
        Readable.from(lines),
        createGzip(),
        createWriteStream(partial, { flags: 'wx', mode: 0o600 }),
      )
    })
    await syncAndRename(partial, file)
  } catch (error) {
    // Another backup may be writing it.
    if (!isFileError(error, 'EEXIST')) await rm(partial, { force: true })
    throw describeFileFailure(error, file)
  }
  return { rows: counts, bytes: (await stat(file)).size }
}

async function* writeLines(
  client: PoolClient,
  {
    header,
    tables,
    counts,
  }: {
    readonly header: object
    readonly tables: readonly Table[]
    readonly counts: Record<string, number>
  },
): AsyncGenerator<string> {
  const hash = createHash('sha256')
  yield hashed(hash, `${JSON.stringify(header)}\n`)
  for (const table of tables) {
    yield hashed(
      hash,
      `${JSON.stringify({ table: table.name, columns: table.columns.map(({ name }) => name) })}\n`,
    )
    counts[table.name] = 0
    for await (const page of readPages(client, table)) {
      counts[table.name] = (counts[table.name] ?? 0) + page.length
      yield hashed(hash, `${page.join('\n')}\n`)
    }
  }
  yield `${JSON.stringify({ rows: counts, sha256: hash.digest('hex') })}\n`
}

const hashed = (hash: Hash, text: string): string => {
  hash.update(text)
  return text
}

/** Each row as a JSON array of texts: numbers keep all their digits. */
async function* readPages(client: PoolClient, { name, columns }: Table): AsyncGenerator<readonly string[]> {
  const values = columns.map((column) => `${quote(column.name)}::text`).join()
  // json_build_array may break lines only inside strings, where it escapes them.
  await client.query(
    `declare backup_page no scroll cursor for select json_build_array(${values})::text as line from ${quote(name)}`,
  )
  for (;;) {
    const { rows } = await client.query<{ readonly line: string }>(`fetch ${rowsPerPage} from backup_page`)
    if (rows.length === 0) break
    yield rows.map(({ line }) => line)
  }
  await client.query('close backup_page')
}

const syncAndRename = async (partial: string, file: string): Promise<void> => {
  await syncPath(partial)
  await rename(partial, file)
  await syncFolder(dirname(file))
}

export const syncPath = async (path: string): Promise<void> => {
  const handle = await open(path, 'r')
  try {
    await handle.sync()
  } finally {
    await handle.close()
  }
}

/** Makes a rename durable. Not every platform and file system can sync a folder; any other failure is an error. */
export const syncFolder = async (folder: string): Promise<void> => {
  await syncPath(folder).catch((error: unknown) => {
    if (!isFileError(error, 'EINVAL', 'ENOTSUP', 'ENOSYS', ...unsupportedOnWindows)) throw error
  })
}

// Windows opens no folder, and syncs nothing that is open for reading only.
const unsupportedOnWindows = process.platform === 'win32' ? ['EISDIR', 'EPERM', 'EACCES'] : []

export const isFileError = (error: unknown, ...codes: readonly string[]): boolean =>
  error instanceof Error && 'code' in error && codes.includes(String(error.code))

export const describeFileFailure = (error: unknown, file: string): unknown => {
  if (isFileError(error, 'EEXIST'))
    return new Error(`${file}.part exists: another backup writes it, or one was ended by force. Remove it.`)
  if (isFileError(error, 'ENOENT', 'ENOTDIR', 'EACCES', 'EPERM', 'EROFS', 'ENOSPC', 'EISDIR')) {
    return new Error(
      `${file} cannot be written: ${error instanceof Error && 'code' in error ? String(error.code) : 'unknown'}.`,
    )
  }
  return error
}
