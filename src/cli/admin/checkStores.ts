import { existsSync } from 'node:fs'
import { join } from 'node:path'
import type { Config } from '../../config.js'
import { silentLogger } from '../../platform/logger.js'
import { openSealers } from '../../platform/openSealers.js'
import { scrubText } from '../../platform/scrub.js'
import type { Sealers } from '../../platform/sealer.js'
import type { Secret } from '../../platform/secret.js'
import { createSealingKeyCheck } from '../../stores/postgres/accounts/sealing.js'
import { findSandboxDatabase } from '../../stores/postgres/database/purpose.js'
import { readSchemaState } from '../../stores/postgres/database/schemaHistory.js'
import {
  type AdminDatabase,
  NoDataError,
  openAdminDatabase,
  readClock,
} from '../../stores/postgres/openAdminDatabase.js'
import { pingRedis } from '../../stores/redis/client.js'
import { migrationsFolder } from '../../stores/stores.js'
import type { Finding } from './tables.js'

const oldestPostgres = 15
const clockWarningMs = 2_000
const clockErrorMs = 30_000

export const checkStores = async (config: Config): Promise<readonly Finding[]> => {
  const [database, redis] = await Promise.all([checkDatabase(config), checkRedis(config.stores.redisUrl)])
  return [...database, ...redis]
}

const checkDatabase = async (config: Config): Promise<readonly Finding[]> => {
  const subject = 'database'
  try {
    const { pool, close } = await openAdminDatabase(config.stores, { creates: false })
    try {
      return [
        ...(await attempt(subject, () => checkServer(pool))),
        ...(await attempt(subject, () => checkPlace(config.stores))),
        ...(await attempt('migrations', () => checkMigrations(pool))),
        ...(await attempt('encryption', () => checkEncryption(pool, config))),
      ]
    } finally {
      await close()
    }
  } catch (error) {
    const text = describe(error)
    if (!(error instanceof NoDataError)) return [{ level: 'error', subject, text }]
    // Before the first start this is as it should be.
    return [{ level: 'warning', subject, text }, ...(await attempt(subject, () => checkPlace(config.stores)))]
  }
}

/** A failed check is a finding, so that the others still run. */
const attempt = async (
  subject: string,
  check: () => Promise<readonly Finding[]>,
): Promise<readonly Finding[]> =>
  await check().catch((error: unknown) => [{ level: 'error' as const, subject, text: describe(error) }])

const describe = (error: unknown): string =>
  scrubText(error instanceof Error ? error.message : 'unknown error')

const checkServer = async (pool: AdminDatabase['pool']): Promise<readonly Finding[]> => {
  const { major, isReadOnly, aheadMs } = await readClock(pool)
  const ahead = `${(Math.abs(aheadMs) / 1_000).toFixed(1)} s`
  const isOff = Math.abs(aheadMs) > clockWarningMs
  return [
    major < oldestPostgres
      ? {
          level: 'error',
          subject: 'database',
          text: `Postgres ${major}; ${oldestPostgres} is the oldest supported`,
        }
      : { level: 'ok', subject: 'database', text: `Postgres ${major}` },
    ...(isReadOnly
      ? [{ level: 'error', subject: 'database', text: 'refuses writes (standby or read-only)' } as const]
      : []),
    {
      level: !isOff ? 'ok' : Math.abs(aheadMs) > clockErrorMs ? 'error' : 'warning',
      subject: 'clock',
      text: isOff
        ? `this machine differs from the database by ${ahead}: synchronize both with NTP`
        : `agrees with the database within ${ahead}`,
    },
  ]
}

/** Says of a sandbox on a server which database it is, and what is beside it. */
const checkPlace = async ({ isSandbox, databaseUrl }: Config['stores']): Promise<readonly Finding[]> => {
  if (!isSandbox || databaseUrl === null) return []
  const subject = 'database'
  const { name, exists, isBesidePayments } = await findSandboxDatabase(databaseUrl, { creates: false })
  const found: Finding = {
    level: 'ok',
    subject,
    text: `the sandbox ${exists ? 'is' : 'will be'} in the database "${name}"`,
  }
  if (!isBesidePayments) return [found]
  const text =
    'DATABASE_URL holds real payments, which a sandbox does not serve: are the variables of a chain missing?'
  return [found, { level: 'warning', subject, text }]
}

const checkMigrations = async (pool: AdminDatabase['pool']): Promise<readonly Finding[]> => {
  const { applied, pending, unknown } = await readSchemaState(pool, migrationsFolder)
  const subject = 'migrations'
  if (unknown.length > 0) {
    const text = `a later version applied ${unknown.join(', ')}; this one runs beside it`
    return [{ level: 'warning', subject, text }]
  }
  return pending.length === 0
    ? [{ level: 'ok', subject, text: `${applied.length} applied` }]
    : [{ level: 'warning', subject, text: `the next start applies ${pending.join(', ')}` }]
}

const checkEncryption = async (pool: AdminDatabase['pool'], config: Config): Promise<readonly Finding[]> => {
  const subject = 'encryption'
  const sealers = await findSealers(config)
  if (sealers === null) {
    const { rowCount } = await pool.query('select from sealing_secret')
    return rowCount === 0
      ? [{ level: 'ok', subject, text: 'no secret yet: the first start creates one' }]
      : [
          {
            level: 'error',
            subject,
            text: 'the secret of the stored API keys is missing: set KEY_ENCRYPTION_SECRET or restore the file key-encryption-secret',
          },
        ]
  }
  await createSealingKeyCheck(pool, sealers.keyCheckValue, sealers.previousKeyCheckValue).check()
  return [{ level: 'ok', subject, text: 'the secret opens the stored API keys' }]
}

const checkRedis = async (url: Secret | null): Promise<readonly Finding[]> => {
  const subject = 'redis'
  if (url === null) return [{ level: 'ok', subject, text: 'not used: limits are counted per instance' }]
  return await attempt(subject, async () => {
    await pingRedis(url)
    return [{ level: 'ok', subject, text: 'takes writes' }]
  })
}

export const openConfiguredSealers = ({ accounts, stores }: Config): Promise<Sealers> =>
  openSealers(
    {
      ...accounts,
      dataFolder: stores.dataFolder,
      isDatabaseShared: stores.databaseUrl !== null,
    },
    silentLogger,
  )

/** Where a secret is generated when none is configured. */
export const sealingKeyFile = ({ stores }: Config): string => join(stores.dataFolder, 'key-encryption-secret')

/** Null when there is no secret: unlike the start of the service, commands create none. */
export const findSealers = async (config: Config): Promise<Sealers | null> =>
  config.accounts.keyEncryptionSecret === null && !existsSync(sealingKeyFile(config))
    ? null
    : await openConfiguredSealers(config)
