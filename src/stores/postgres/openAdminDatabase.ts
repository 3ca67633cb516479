import { existsSync } from 'node:fs'
import { join } from 'node:path'
import type { Pool } from 'pg'
import { z } from 'zod'
import type { Sealers } from '../../platform/sealer.js'
import type { AccountStore, AuditLog } from '../../ports/accountStore.js'
import type { Settlement } from '../../ports/settlementJournal.js'
import { migrationsFolder, type StoreSettings } from '../stores.js'
import { createAccountStore } from './accounts/accountStore.js'
import { createAuditLog } from './accounts/auditLog.js'
import { type ResealResult, resealSecrets } from './accounts/sealing.js'
import { migrateNamed } from './database/connectionProblem.js'
import { openPool } from './database/pool.js'
import { findSandboxDatabase } from './database/purpose.js'
import { findRunningPostgres, startEmbeddedPostgres } from './embedded/startEmbeddedPostgres.js'
import { type SettlementSearch, searchSettlements } from './journal/settlementOverview.js'
import { readSettlement, settlementColumns } from './journal/settlementRow.js'
import { nameDataFolder } from './openDatabase.js'

interface OpenAccounts {
  readonly accounts: AccountStore
  readonly audit: AuditLog
  readonly settlements: {
    /** Newest first. */
    search(search: SettlementSearch): Promise<readonly Settlement[]>
    find(id: string): Promise<Settlement | null>
  }
  reseal(): Promise<ResealResult>
  close(): Promise<void>
}

/** Migrates the database. Throws `NoDataError` when it was never used by the service. */
export const openAccounts = async (
  settings: Pick<StoreSettings, 'databaseUrl' | 'dataFolder' | 'isSandbox' | 'tiers'>,
  openSealers: () => Promise<Sealers>,
): Promise<OpenAccounts> => {
  const { pool, close } = await openAdminDatabase(settings, { creates: false })
  try {
    await migrateNamed(pool, migrationsFolder, { url: settings.databaseUrl })
  } catch (error) {
    await close()
    throw error
  }
  const reseal = async (): Promise<ResealResult> => {
    const { sealerFor, ...marks } = await openSealers()
    const sealers = { keys: sealerFor('api-key'), webhookSecrets: sealerFor('webhook-secret') }
    return await resealSecrets(pool, { ...sealers, ...marks })
  }
  const find = async (id: string): Promise<Settlement | null> => {
    const { rows } = await pool.query(`select ${settlementColumns} from settlements s where s.id = $1`, [id])
    return rows[0] === undefined ? null : readSettlement(rows[0])
  }
  return {
    accounts: createAccountStore(pool, undefined, settings.tiers),
    audit: createAuditLog(pool),
    settlements: { search: (search) => searchSettlements(pool, search), find },
    reseal,
    close,
  }
}

/** Operator-facing: the configured place holds no data of the service. Nothing was created. */
export class NoDataError extends Error {}

export interface AdminDatabase {
  readonly pool: Pool
  close(): Promise<void>
}

type AdminPlace = Pick<StoreSettings, 'databaseUrl' | 'dataFolder' | 'isSandbox'>

/**
 * Opens `databaseUrl`, or the embedded database: connects to a running one, else starts it. `creates` lets it be absent or
 * empty; otherwise throws `NoDataError`, so that a mistyped setting does not create a second, empty database.
 */
export const openAdminDatabase = async (
  place: AdminPlace,
  { creates }: { readonly creates: boolean },
): Promise<AdminDatabase> => {
  const { url, stop } = await findDatabase(place, creates)
  const pool = openPool({ url, maxConnections: 2, onError: () => undefined })
  const close = async (): Promise<void> => {
    await pool.end()
    await stop()
  }
  try {
    await checkContent(pool, place, creates)
  } catch (error) {
    await close()
    throw error
  }
  return { pool, close }
}

const findDatabase = async (
  { databaseUrl, dataFolder, isSandbox = false }: AdminPlace,
  creates: boolean,
): Promise<{ readonly url: string; stop(): Promise<void> }> => {
  const nothing = async (): Promise<void> => {}
  if (databaseUrl !== null && !isSandbox) return { url: databaseUrl.reveal(), stop: nothing }
  if (databaseUrl !== null) {
    const { url, exists } = await findSandboxDatabase(databaseUrl, { creates })
    if (exists) return { url: url.reveal(), stop: nothing }
    throw new NoDataError(
      'There is no sandbox beside the database of DATABASE_URL. Set SANDBOX=false for its real payments. Nothing was created.',
    )
  }
  const folder = join(dataFolder, 'postgres')
  if (!creates && !existsSync(join(folder, 'cluster'))) {
    throw new NoDataError(
      `The data folder ${dataFolder} holds no quittance data. Set DATA_FOLDER to the folder that the service uses, or DATABASE_URL to its database. Nothing was created.`,
    )
  }
  const running = await findRunningPostgres(folder)
  if (running !== null) return { url: running, stop: nothing }
  const embedded = await startEmbeddedPostgres({ folder, log: () => undefined }).catch(nameDataFolder)
  return { url: embedded.url, stop: embedded.stop }
}

const contentRows = z.tuple([z.object({ name: z.string(), is_ours: z.boolean(), is_foreign: z.boolean() })])

const checkContent = async (
  pool: Pool,
  { databaseUrl, dataFolder }: AdminPlace,
  creates: boolean,
): Promise<void> => {
  const { rows } = await pool
    .query(
      `select current_database() as name,
         to_regclass('schema_migration') is not null and to_regclass('settlements') is not null as is_ours,
         exists (select from pg_class where relkind = 'r' and relnamespace = current_schema()::regnamespace)
           as is_foreign`,
    )
    .catch((cause: unknown) => {
      const code = cause instanceof Error && 'code' in cause ? ` (${String(cause.code)})` : ''
      const place = databaseUrl === null ? `in ${dataFolder}` : 'of DATABASE_URL'
      throw new Error(`The database ${place} does not answer${code}.`, { cause })
    })
  const [{ name, is_ours: isOurs, is_foreign: isForeign }] = contentRows.parse(rows)
  if (isOurs || (creates && !isForeign)) return
  const place = databaseUrl === null ? `of the data folder ${dataFolder}` : `"${name}" of DATABASE_URL`
  const content = isForeign ? ', but tables of another program' : ''
  throw new NoDataError(
    `The database ${place} holds no quittance data${content}. Set DATABASE_URL or DATA_FOLDER to those of the service. Nothing was created.`,
  )
}

const rowsRows = z.tuple([z.object({ has_rows: z.boolean() })])

/**
 * Whether there is anything that commands could be meant for. Of a server: settlements or accounts, of its own kind.
 * Of a data folder: a database, which is not started for that. Changes nothing.
 */
export const hasData = async (place: AdminPlace): Promise<boolean> => {
  if (place.databaseUrl === null) return existsSync(join(place.dataFolder, 'postgres', 'cluster'))
  try {
    const { pool, close } = await openAdminDatabase(place, { creates: false })
    try {
      const { rows } = await pool.query(
        `select (exists (select from settlements) or exists (select from accounts))
           and not exists (select from database_purpose where is_sandbox <> $1) as has_rows`,
        [place.isSandbox === true],
      )
      return rowsRows.parse(rows)[0].has_rows
    } finally {
      await close()
    }
  } catch (error) {
    if (error instanceof NoDataError) return false
    // A version before sandboxes wrote it: a table is missing.
    if (error instanceof Error && 'code' in error && error.code === '42P01') return place.isSandbox !== true
    throw error
  }
}

const rowShape = z.tuple([z.object({ major: z.number(), is_read_only: z.boolean(), now_ms: z.number() })])

interface ServerState {
  readonly major: number
  readonly isReadOnly: boolean
  /** How far the server's clock is ahead of ours; the duration of the query is allowed for. */
  readonly aheadMs: number
}

export const readClock = async (pool: Pool): Promise<ServerState> => {
  // Opens the connection first, which takes longer than the query.
  await pool.query('select')
  const startedMs = Date.now()
  const { rows } = await pool.query(
    `select current_setting('server_version_num')::int / 10000 as major,
       current_setting('transaction_read_only') = 'on' as is_read_only,
       extract(epoch from clock_timestamp())::float8 * 1000 as now_ms`,
  )
  const endedMs = Date.now()
  const [{ major, is_read_only: isReadOnly, now_ms: nowMs }] = rowShape.parse(rows)
  const isWithin = nowMs >= startedMs - 1 && nowMs <= endedMs + 1
  return { major, isReadOnly, aheadMs: isWithin ? 0 : nowMs - (startedMs + endedMs) / 2 }
}
