import { type Config, readConfig } from '../../config.js'
import { version } from '../../platform/version.js'
import { type CallerReport, callerReport } from '../../protocol/operatorOverview.js'
import { createSealingKeyCheck } from '../../stores/postgres/accounts/sealing.js'
import { bindingTables, importBindings } from '../../stores/postgres/backup/importBindings.js'
import { consumedTable, importConsumed } from '../../stores/postgres/backup/importRows.js'
import { checkBackup, restoreBackup } from '../../stores/postgres/backup/restoreBackup.js'
import { writeBackup } from '../../stores/postgres/backup/writeBackup.js'
import { migrateNamed } from '../../stores/postgres/database/connectionProblem.js'
import { migrate } from '../../stores/postgres/database/migrate.js'
import { refuseLaterSchema } from '../../stores/postgres/database/schemaHistory.js'
import { archiveSettlements } from '../../stores/postgres/journal/archiveSettlements.js'
import {
  hasData,
  NoDataError,
  openAccounts,
  openAdminDatabase,
} from '../../stores/postgres/openAdminDatabase.js'
import { migrationsFolder } from '../../stores/stores.js'
import { checkInstallation } from './checkInstallation.js'
import { findSealers, openConfiguredSealers, sealingKeyFile } from './checkStores.js'
import { listSettings } from './listSettings.js'
import { createTerminal, type Installation, runAdmin, type Streams } from './runAdmin.js'
import type { Archived, Transfer } from './tables.js'

interface GivenVariables {
  readonly environment: Readonly<Record<string, string | undefined>>
  /** Which of them stand in the file `.env`. Absent: none. */
  readonly namesInFile?: readonly string[]
}

const readGiven = ({ environment, namesInFile }: GivenVariables): Config =>
  readConfig(environment, undefined, namesInFile)

export const createInstallation = (given: GivenVariables): Installation => {
  const read = (): Promise<Config> => readInstalledConfig(given)
  return {
    listTiers: () => Object.keys(readGiven(given).tiers.table),
    openStores: async () => {
      const config = await read()
      return await openAccounts({ ...config.stores, tiers: config.tiers }, () =>
        openConfiguredSealers(config),
      )
    },
    check: () => checkInstallation(() => readGiven(given)),
    listSettings: () => {
      readGiven(given)
      return listSettings(given.environment)
    },
    readCallers: (url) => readCallers(readGiven(given), url),
    backUp: async (file) => backUp(await read(), file),
    restore: (file) => restore(readFilledConfig(given), file),
    archive: async (file, before) => archive(await read(), { file, before }),
    exportConsumed: async (file) =>
      (await exportTables(await read(), file, [consumedTable]))[consumedTable] ?? 0,
    importConsumed: (file) => importInto(readFilledConfig(given), file, importConsumed),
    exportBindings: async (file) => {
      const rows = await exportTables(await read(), file, bindingTables)
      return { channels: rows.channel_custody ?? 0, holds: rows.held_payments ?? 0 }
    },
    importBindings: (file) => importInto(readFilledConfig(given), file, importBindings),
  }
}

/**
 * Where SANDBOX is not set, and the variables of the chains are perhaps not at hand, commands work on the data that there
 * are. Throws an operator-facing error where there are both, real ones and those of a sandbox.
 */
const readInstalledConfig = async (given: GivenVariables): Promise<Config> => {
  const stated = readGiven(given)
  if (stated.sandbox !== 'default') return stated
  const real = readReal(given)
  const hasReal = await hasData(real.stores)
  const hasSandbox = await hasData(stated.stores)
  if (hasReal && hasSandbox) {
    throw new AmbiguousDataError(
      `${describePlace(real)} holds real payments, and there is a sandbox beside them: say which of them the command is for, with SANDBOX=false or SANDBOX=true. Nothing was done.`,
    )
  }
  return hasSandbox ? stated : real
}

/** What fills a database fills that of real payments, unless SANDBOX=true. */
const readFilledConfig = (given: GivenVariables): Config => {
  const stated = readGiven(given)
  return stated.sandbox === 'default' ? readReal(given) : stated
}

const readReal = (given: GivenVariables): Config =>
  readGiven({ ...given, environment: { ...given.environment, SANDBOX: 'false' } })

const describePlace = ({ stores }: Config): string =>
  stores.databaseUrl === null ? `The data folder ${stores.dataFolder}` : 'The database of DATABASE_URL'

/** Operator-facing: the command could be for either of two databases. */
class AmbiguousDataError extends Error {}

const callersTimeoutMs = 5_000
const callersShown = 10

/** Counts of callers are in the memory of the instance that serves them. Throws operator-facing errors. */
const readCallers = async (
  { operatorToken, server }: Pick<Config, 'operatorToken' | 'server'>,
  url: string | null,
): Promise<CallerReport> => {
  if (operatorToken === null) throw new Error('OPERATOR_TOKEN: is required; it must be that of the service')
  const base = url ?? `http://localhost:${server.port}`
  const { host } = new URL(base)
  const address = new URL(`v1/operator/callers?limit=${callersShown}`, base.endsWith('/') ? base : `${base}/`)
  const answer = await fetch(address, {
    headers: { authorization: `Bearer ${operatorToken.reveal()}` },
    // The token is for this address alone.
    redirect: 'error',
    signal: AbortSignal.timeout(callersTimeoutMs),
  }).catch((cause: unknown) => {
    throw new Error(`No instance answers at ${host}: name one with --url`, { cause })
  })
  if (answer.status === 401 || answer.status === 403) {
    throw new Error(`The instance at ${host} refuses this OPERATOR_TOKEN. It has another one, or none`)
  }
  const report = callerReport.safeParse(await answer.json().catch(() => null))
  if (!answer.ok || !report.success)
    throw new Error(`${host} answers ${answer.status}, and no list of callers`)
  return report.data
}

const nameSealingKey = (config: Config): string =>
  config.accounts.keyEncryptionSecret === null
    ? `the file ${sealingKeyFile(config)}`
    : 'KEY_ENCRYPTION_SECRET'

const backUp = async (config: Config, file: string): Promise<Transfer> => {
  const { pool, close } = await openAdminDatabase(config.stores, { creates: false })
  try {
    const { rows, bytes } = await writeBackup(pool, {
      file,
      migrationsFolder,
      version,
      createdAt: new Date(),
    })
    return {
      file,
      rows,
      advice: [
        `${bytes} bytes. The file holds e-mail addresses, encrypted API keys and signed transactions: protect it as you protect the database.`,
        `Keep ${nameSealingKey(config)} separately: without it the API keys and webhook secrets in this backup cannot be used.`,
      ],
    }
  } finally {
    await close()
  }
}

const archive = async (
  config: Config,
  options: { readonly file: string; readonly before: Date },
): Promise<Archived> => {
  const { pool, close } = await openAdminDatabase(config.stores, { creates: false })
  try {
    // A later version may need what this one deletes, and an earlier schema counts none of it.
    refuseLaterSchema(await migrateNamed(pool, migrationsFolder, { url: config.stores.databaseUrl }))
    return await archiveSettlements(pool, options)
  } finally {
    await close()
  }
}

const exportTables = async (
  config: Config,
  file: string,
  onlyTables: readonly string[],
): Promise<Transfer['rows']> => {
  const { pool, close } = await openAdminDatabase(config.stores, { creates: false })
  try {
    const options = { file, migrationsFolder, version, createdAt: new Date(), onlyTables }
    return (await writeBackup(pool, options)).rows
  } finally {
    await close()
  }
}

const importInto = async <Imported>(
  config: Config,
  file: string,
  importRows: (...to: Parameters<typeof importConsumed>) => Promise<Imported>,
): Promise<Imported> => {
  const { pool, close } = await openAdminDatabase(config.stores, { creates: false })
  try {
    return await importRows(pool, { file, migrationsFolder, isSandbox: config.stores.isSandbox })
  } finally {
    await close()
  }
}

const restore = async (config: Config, file: string): Promise<Transfer> => {
  // The file is checked before a database is created or opened.
  await checkBackup(file, migrationsFolder)
  const { pool, close } = await openAdminDatabase(config.stores, { creates: true })
  try {
    refuseLaterSchema(await migrate(pool, migrationsFolder))
    const rows = await restoreBackup(pool, { file, migrationsFolder })
    const sealers = await findSealers(config)
    const isOpened =
      sealers !== null &&
      (await createSealingKeyCheck(pool, sealers.keyCheckValue, sealers.previousKeyCheckValue)
        .check()
        .then(
          () => true,
          () => false,
        ))
    const needed = `Before the start: set KEY_ENCRYPTION_SECRET to the secret of the backed up service, or copy its file key-encryption-secret to ${sealingKeyFile(config)}.`
    return {
      file,
      rows,
      advice: [
        ...(rows.sealing_secret === 0 || isOpened ? [] : [needed]),
        'What was settled after the backup is not in it: before the start, run `consumed import` with the newest file of `consumed export`, and `bindings import` with that of `bindings export`. Do not start the service that wrote the backup beside this one: both would use the same signers.',
      ],
    }
  } finally {
    await close()
  }
}

type ExitCode = 0 | 1 | 2

/** Throws an operator-facing error if the command fails. 2: there are no data to work on, or those of two purposes, and nothing was done. */
export const runCommandLine = async (
  args: readonly string[],
  given: GivenVariables,
  streams: Streams,
): Promise<ExitCode> => {
  try {
    return await runAdmin(args, createTerminal(streams), createInstallation(given))
  } catch (error) {
    if (!(error instanceof NoDataError || error instanceof AmbiguousDataError)) throw error
    streams.prompts.write(`${error.message}\n`)
    return 2
  }
}
