import { join } from 'node:path'
import type { Secret } from '../platform/secret.js'
import { StartError } from '../platform/startError.js'
import type { Logger } from '../ports/logger.js'
import { findSandboxDatabase } from './postgres/database/purpose.js'
import { NoBinariesError } from './postgres/embedded/chooseLaunch.js'
import { startEmbeddedPostgres } from './postgres/embedded/startEmbeddedPostgres.js'
import type { StoreSettings } from './stores.js'

interface OpenDatabase {
  readonly url: string
  /** Null: pages are read from the database itself. */
  readonly readUrl: string | null
  /** Of a server that operators named; null: the embedded one. */
  readonly named: Secret | null
}

export const openDatabase = async (
  { databaseUrl, databaseReadUrl, dataFolder, isSandbox = false }: StoreSettings,
  logger: Logger,
  closers: (() => Promise<void>)[],
): Promise<OpenDatabase> => {
  if (databaseUrl !== null) {
    const own = { url: databaseUrl.reveal(), readUrl: databaseReadUrl?.reveal() ?? null, named: databaseUrl }
    return isSandbox ? await openSandboxDatabase(own, logger) : own
  }
  const embedded = await startEmbeddedPostgres({
    folder: join(dataFolder, 'postgres'),
    log: (line) => logger.debug({ line }, 'database.log'),
  }).catch(nameDataFolder)
  closers.push(() => embedded.stop())
  embedded.onExit((reason) => logger.error({ reason }, 'database.ended'))
  logger.info({ folder: dataFolder }, 'database.embedded')
  return { url: embedded.url, readUrl: null, named: null }
}

const openSandboxDatabase = async (
  given: OpenDatabase & { readonly named: Secret },
  logger: Logger,
): Promise<OpenDatabase> => {
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

// Words of Postgres and initdb.
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
