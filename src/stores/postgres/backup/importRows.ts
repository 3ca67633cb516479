import type { Pool, PoolClient } from 'pg'
import { z } from 'zod'
import { readMigrations } from '../database/migrationFiles.js'
import { claimPurpose } from '../database/purpose.js'
import { inTransaction, withoutTimeout } from '../database/statements.js'
import { BackupFileError, type BackupHeader, listTables, quote, readBackup } from './readBackup.js'
import { refuseRunningService, writeInsertion } from './restoreBackup.js'

/* Adds rows of a file of `writeBackup`, which can also be a whole backup, to a database that has others; all or nothing. */

export interface ImportOptions {
  readonly file: string
  readonly migrationsFolder: URL
  readonly isSandbox?: boolean
}

interface ReadTables {
  /** Rows of each table. */
  readonly listed: Readonly<Record<string, number>>
  /** When the file was begun; null: it does not say. */
  readonly createdAt: Date | null
}

/** The temporary table of what the file lists of a table. */
export const listedIn = (table: string): string => `listed_${table}`

/**
 * Fills a temporary table for each table that the file must have, and has `add` take the rows from there. Not beside a service,
 * whose writes would wait for it. Throws `BackupFileError` for a file that is incomplete or of another version.
 */
export const importTables = async <Result>(
  pool: Pool,
  { file, migrationsFolder, isSandbox = false }: ImportOptions,
  {
    names,
    optional = [],
    content,
    add,
  }: {
    readonly names: readonly string[]
    /** Files of earlier versions lack them. */
    readonly optional?: readonly string[]
    readonly content: string
    readonly add: (client: PoolClient, read: ReadTables) => Promise<Result>
  },
): Promise<Result> => {
  const migrations = await readMigrations(migrationsFolder)
  return await inTransaction(pool, async (client) => {
    await client.query(
      `set local statement_timeout = 0; set local timezone = 'UTC'; set local datestyle = 'ISO, MDY'`,
    )
    await refuseRunningService(client, 'Nothing was imported.')
    await claimPurpose(client, isSandbox)
    const known = await listTables(client, migrations)
    const wanted = [...names, ...optional]
    const tables = new Map(known.filter(({ name }) => wanted.includes(name)).map((each) => [each.name, each]))
    if (tables.size < wanted.length)
      throw new Error(`The database has no ${content}: start the service once.`)
    for (const name of wanted) {
      await client.query(
        `create temporary table ${quote(listedIn(name))} (like ${quote(name)}) on commit drop`,
      )
    }
    const listed: Record<string, number> = {}
    let createdAt: Date | null = null
    for await (const part of readBackup(file)) {
      if (part.kind === 'header') {
        requirePurpose(part.header, { file, isSandbox })
        createdAt = readInstant(part.header.createdAt)
      }
      const table = part.kind === 'table' || part.kind === 'rows' ? tables.get(part.table) : undefined
      if (table === undefined) continue
      if (part.kind === 'table') {
        if (part.columns.join() !== table.columns.map(({ name }) => name).join())
          throw new BackupFileError(`${file} is of another version.`)
        listed[table.name] = 0
      }
      if (part.kind !== 'rows') continue
      listed[table.name] = (listed[table.name] ?? 0) + part.lines.length
      const insertion = writeInsertion({ ...table, name: listedIn(table.name) })
      await client.query(withoutTimeout(insertion, [`[${part.lines.join()}]`]))
    }
    if (names.some((name) => listed[name] === undefined))
      throw new BackupFileError(`${file} has no ${content}.`)
    return await add(client, { listed, createdAt })
  })
}

export const consumedTable = 'consumed_authorizations'

interface ImportedConsumed {
  /** In the file. */
  readonly listed: number
  /** Those that the database lacked. From now on they settle nothing again. */
  readonly added: number
  /** Those that another settlement, or one with other terms, has consumed here. */
  readonly contradicted: number
  /** Consumed authorizations of the database, of the file or not, whose settlement the journal lacks. */
  readonly withoutSettlement: number
}

const counted = z.tuple([
  z.object({ contradicted: z.coerce.number(), without_settlement: z.coerce.number() }),
])

export const importConsumed = async (pool: Pool, options: ImportOptions): Promise<ImportedConsumed> =>
  await importTables(pool, options, {
    names: [consumedTable],
    content: 'consumed authorizations',
    add: async (client, { listed: { [consumedTable]: listed = 0 } }) => {
      const { rowCount } = await client.query(
        withoutTimeout(
          `insert into ${consumedTable} select * from ${listedIn(consumedTable)} order by digest on conflict (digest) do nothing`,
        ),
      )
      const { rows } = await client.query(
        withoutTimeout(
          `select (select count(*) from ${listedIn(consumedTable)} l join ${consumedTable} c using (digest)
               where (l.settlement_id, l.terms) <> (c.settlement_id, c.terms)) as contradicted,
             (select count(*) from ${consumedTable} c
               where c.consumed_at >= archived_before()
                 and not exists (select 1 from settlements s where s.id = c.settlement_id)) as without_settlement`,
        ),
      )
      const [{ contradicted, without_settlement: withoutSettlement }] = counted.parse(rows)
      return { listed, added: rowCount ?? 0, contradicted, withoutSettlement }
    },
  })

const readInstant = (text: string): Date | null => {
  const at = new Date(text)
  return Number.isNaN(at.getTime()) ? null : at
}

/** What never was on a chain must not keep a payment from being settled there. */
const requirePurpose = (
  header: BackupHeader,
  { file, isSandbox }: { readonly file: string; readonly isSandbox: boolean },
): void => {
  if (header.isSandbox === null || header.isSandbox === isSandbox) return
  throw new BackupFileError(
    isSandbox
      ? `${file} is of real payments, and the database of a sandbox. Nothing was imported.`
      : `${file} is of a sandbox, and the database of real payments. Nothing was imported.`,
  )
}
