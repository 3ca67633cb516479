import { join } from 'node:path'
import type { Pool } from 'pg'
import { z } from 'zod'
import { withTimeout } from '../../concurrency/deadline.js'
import { createFailureLog } from '../../failureLog.js'
import type { Secret } from '../../platform/secret.js'
import { StartError } from '../../platform/startError.js'
import type { Logger } from '../../ports/logger.js'
import type { PoolState } from '../../ports/operatorOverview.js'
import type { PoolName } from '../../protocol/databaseWork.js'
import { migrationsFolder, type StoreSettings } from '../stores.js'
import { migrateNamed } from './database/connectionProblem.js'
import { type AnnouncedInstance, announceInstance } from './database/instance.js'
import { createTimeoutWatch } from './database/measuredPool.js'
import { confirmSchema } from './database/migrate.js'
import { openPool, type PoolOptions } from './database/pool.js'
import { checkPurpose, findSandboxDatabase } from './database/purpose.js'
import { NoBinariesError } from './embedded/chooseLaunch.js'
import { type EmbeddedPostgres, startEmbeddedPostgres } from './embedded/startEmbeddedPostgres.js'

/** What is open so far. */
export interface Closing {
  /** Called in reverse order; a call continues after a failure. */
  readonly closers: (() => Promise<void>)[]
  /** During shutdown, connections may be closed from either side. */
  isClosing: boolean
}

/** Connections to the database of the service, which is migrated. */
export interface Database {
  readonly pool: Pool
  /** For pages that are looked at: with connections of their own, and little time. May be a replica's. */
  readonly reads: Pool
  /** As `reads`, but never those of a replica, which could lag behind what was read or written already. */
  readonly newestReads: Pool
  /** Requests of operators read the whole journal one after the other, and delay nothing else. */
  readonly audits: Pool
  /** For the nightly job, which can read for half an hour: operators do not queue behind it. */
  readonly nightlyAudits: Pool
  /** This process, announced and admitted. */
  readonly instance: AnnouncedInstance
  listPools(): readonly PoolState[]
  /** Whether it has answered too late several times in the last seconds, although it may answer a ping. */
  isSlow(): boolean
}

const auditTimeoutMs = 120_000
const auditQueueMs = 30_000
const nightlyTimeoutMs = 1_800_000

/** Finds or starts the database, migrates it, and checks that it is for payments of our kind. */
export const openDatabase = async (
  settings: StoreSettings,
  logger: Logger,
  closing: Closing,
): Promise<Database> => {
  const { url, readUrl, named } = await findDatabase(settings, logger, closing)
  // All connections break at once when the server ends.
  const losses = createFailureLog({
    logger,
    event: 'database.connection_lost',
    recovered: 'database.connection_restored',
  })
  const { onTimeout, isSlow } = createTimeoutWatch()
  const open = (poolName: PoolName, name: string, options: Omit<PoolOptions, 'onError'>): Pool => {
    const { observer } = settings
    const pool = openPool({
      ...options,
      // Pages and audits that are too slow say nothing about payments.
      ...(observer === undefined
        ? {}
        : {
            measurement: {
              name: poolName,
              observer,
              onTimeout: poolName === 'payments' ? onTimeout : () => undefined,
            },
          }),
      isTraced: settings.isTraced === true,
      onError: (error) => {
        if (!closing.isClosing) losses.failed(name, { error })
      },
    })
    closing.closers.push(() => pool.end())
    return pool
  }
  const pool = open('payments', 'database', { url, maxConnections: settings.databasePoolSize })
  pool.on('connect', () => losses.succeeded('database'))
  const readsName = settings.databaseReadUrl === null ? 'database' : 'reads'
  const reads = open('reads', readsName, {
    url: readUrl ?? url,
    maxConnections: settings.databaseReadPoolSize,
    statementTimeoutMs: settings.databaseReadTimeoutMs,
  })
  reads.on('connect', () => losses.succeeded(readsName))
  const audits = open('audits', 'audits', {
    url: readUrl ?? url,
    maxConnections: 1,
    statementTimeoutMs: auditTimeoutMs,
    connectionTimeoutMs: auditQueueMs,
  })
  // One connection reads; the other one cancels its statement when the service stops.
  const nightlyAudits = open('nightlyAudits', 'audits', {
    url: readUrl ?? url,
    maxConnections: 2,
    statementTimeoutMs: nightlyTimeoutMs,
  })
  const isSandbox = settings.isSandbox === true
  const isEmbedded = settings.databaseUrl === null
  const isOnly = isEmbedded && settings.worker?.isFirst !== false
  const migrated = await migrateNamed(pool, migrationsFolder, { url: named, logger, isAlone: isOnly })
  const { applied, unknown, newest: newestMigration } = migrated
  if (applied.length > 0) logger.info({ applied }, 'database.migrated')
  if (unknown.length > 0) logger.warn({ unknown }, 'database.is_newer')
  const instance = await announceInstance(pool, logger, {
    isOnly,
    isSandbox,
    newestMigration,
  })
  closing.closers.push(() => instance.close())
  await confirmSchema(pool, migrationsFolder)
  const variable = isEmbedded ? 'DATA_FOLDER' : 'DATABASE_URL'
  await checkPurpose(pool, { instanceId: instance.id, isSandbox, variable })
  await instance.admit()
  const pools: Readonly<Record<PoolName, Pool>> = { payments: pool, reads, audits, nightlyAudits }
  const listPools = () => Object.entries(pools).map(([name, each]) => readPoolState(name, each))
  return {
    pool,
    reads,
    newestReads: readUrl === null ? reads : pool,
    audits,
    nightlyAudits,
    instance,
    listPools,
    isSlow,
  }
}

const readPoolState = (name: string, pool: Pool): PoolState => ({
  name,
  max: pool.options.max,
  total: pool.totalCount,
  idle: pool.idleCount,
  waiting: pool.waitingCount,
})

// With its own timeout, so that the connection to a silent server is discarded.
const ping = {
  text: `select current_setting('transaction_read_only') = 'on' as is_read_only`,
  query_timeout: 2_000,
}
const pingRows = z.tuple([z.object({ is_read_only: z.boolean() })])

/** Rejects when the database does not answer. */
export const pingDatabase = async (pool: Pool): Promise<'ok' | 'read_only'> => {
  const { rows } = await withTimeout(pool.query(ping), ping.query_timeout)
  return pingRows.parse(rows)[0].is_read_only ? 'read_only' : 'ok'
}

interface FoundDatabase {
  readonly url: string
  /** Null: pages are read from the database itself. */
  readonly readUrl: string | null
  /** Of a server that operators named; null: the embedded one. */
  readonly named: Secret | null
}

const findDatabase = async (
  { databaseUrl, databaseReadUrl, embeddedUrl, dataFolder, isSandbox = false }: StoreSettings,
  logger: Logger,
  { closers }: Closing,
): Promise<FoundDatabase> => {
  if (databaseUrl !== null) {
    const own = { url: databaseUrl.reveal(), readUrl: databaseReadUrl?.reveal() ?? null, named: databaseUrl }
    return isSandbox ? await findBeside(own, logger) : own
  }
  if (embeddedUrl !== undefined) return { url: embeddedUrl.reveal(), readUrl: null, named: null }
  const embedded = await startEmbeddedDatabase(dataFolder, logger)
  closers.push(() => embedded.stop())
  return { url: embedded.url, readUrl: null, named: null }
}

export const startEmbeddedDatabase = async (
  dataFolder: string,
  logger: Logger,
  settings: Readonly<Record<string, string>> = {},
): Promise<Pick<EmbeddedPostgres, 'url' | 'stop'>> => {
  const embedded = await startEmbeddedPostgres({
    folder: join(dataFolder, 'postgres'),
    settings,
    log: (line) => logger.debug({ line }, 'database.log'),
  }).catch(nameDataFolder)
  embedded.onExit((reason) => logger.error({ reason }, 'database.ended'))
  logger.info({ folder: dataFolder }, 'database.embedded')
  return embedded
}

const findBeside = async (
  given: FoundDatabase & { readonly named: Secret },
  logger: Logger,
): Promise<FoundDatabase> => {
  const { url, name, isApart, isBesidePayments } = await findSandboxDatabase(given.named, { creates: true })
  logger.info({ database: name }, 'sandbox.database')
  if (isBesidePayments) {
    logger.warn(
      { database: name, hint: 'DATABASE_URL holds real payments, which this instance does not serve' },
      'sandbox.beside_real_payments',
    )
  }
  // A replica that is named belongs to the other database.
  return isApart ? { url: url.reveal(), readUrl: null, named: url } : given
}

/** For `catch`: what the embedded database lacks is a matter of its folder, unless it is not installed at all. */
export const nameDataFolder = (cause: unknown): never => {
  const message = cause instanceof Error ? cause.message : String(cause)
  if (cause instanceof NoBinariesError) {
    throw new StartError('DATABASE_URL', `is missing, and there is no embedded database. ${message}`, {
      cause,
    })
  }
  const known = folderProblems.find(({ pattern }) => pattern.test(message))
  throw new StartError('DATA_FOLDER', known === undefined ? message : `${known.advice} (${message})`, {
    cause,
  })
}

// The words are those of Postgres and initdb.
const folderProblems: readonly { readonly pattern: RegExp; readonly advice: string }[] = [
  {
    pattern: /No space left on device|Disk quota exceeded|ENOSPC/,
    advice: 'the disk is full: free some space, or set DATA_FOLDER to another disk.',
  },
  {
    pattern: /Permission denied|Read-only file system|wrong ownership/,
    advice: 'the embedded Postgres may not write there: make its user the owner of all files in the folder.',
  },
]
