import type { Pool } from 'pg'
import { z } from 'zod'
import { readMigrations, withoutTimeout } from '../database/migrate.js'
import { claimPurpose } from '../database/purpose.js'
import { inTransaction } from '../database/statements.js'
import { BackupFileError, type BackupHeader, listTables, readBackup } from './readBackup.js'
import { refuseRunningService, writeInsertion } from './restoreBackup.js'

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

/**
 * Adds the consumed authorizations of a file, which can also be a whole backup, to those of a database; all or nothing.
 * Not beside a service, whose closes would wait for it. Throws `BackupFileError` for a file that is incomplete or has none.
 */
export const importConsumed = async (
  pool: Pool,
  {
    file,
    migrationsFolder,
    isSandbox = false,
  }: { readonly file: string; readonly migrationsFolder: URL; readonly isSandbox?: boolean },
): Promise<ImportedConsumed> => {
  const migrations = await readMigrations(migrationsFolder)
  return await inTransaction(pool, async (client) => {
    await client.query(
      `set local statement_timeout = 0; set local timezone = 'UTC'; set local datestyle = 'ISO, MDY'`,
    )
    await refuseRunningService(client, 'Nothing was imported.')
    await claimPurpose(client, isSandbox)
    const table = (await listTables(client, migrations)).find(({ name }) => name === consumedTable)
    if (table === undefined)
      throw new Error('The database has no consumed authorizations: start the service once.')
    const columns = table.columns.map(({ name }) => name)
    await client.query(`create temporary table listed_authorizations (like ${consumedTable}) on commit drop`)
    let listed: number | null = null
    for await (const part of readBackup(file)) {
      if (part.kind === 'header') requirePurpose(part.header, { file, isSandbox })
      if (part.kind === 'table' && part.table === consumedTable) {
        if (part.columns.join() !== columns.join())
          throw new BackupFileError(`${file} is of another version.`)
        listed = 0
      }
      if (part.kind !== 'rows' || part.table !== consumedTable) continue
      listed = (listed ?? 0) + part.lines.length
      const insertion = writeInsertion({ ...table, name: 'listed_authorizations' })
      await client.query(withoutTimeout(insertion, [`[${part.lines.join()}]`]))
    }
    if (listed === null) throw new BackupFileError(`${file} has no consumed authorizations.`)
    const { rowCount } = await client.query(
      withoutTimeout(
        `insert into ${consumedTable} select * from listed_authorizations order by digest on conflict (digest) do nothing`,
      ),
    )
    const { rows } = await client.query(
      withoutTimeout(
        `select (select count(*) from listed_authorizations l join ${consumedTable} c using (digest)
             where (l.settlement_id, l.terms) <> (c.settlement_id, c.terms)) as contradicted,
           (select count(*) from ${consumedTable} c
             where not exists (select 1 from settlements s where s.id = c.settlement_id)) as without_settlement`,
      ),
    )
    const [{ contradicted, without_settlement: withoutSettlement }] = counted.parse(rows)
    return { listed, added: rowCount ?? 0, contradicted, withoutSettlement }
  })
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
