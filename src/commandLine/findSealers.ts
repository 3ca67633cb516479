import { existsSync } from 'node:fs'
import { join } from 'node:path'
import type { Config } from '../config.js'
import { silentLogger } from '../platform/logger.js'
import { openSealers } from '../platform/openSealers.js'
import type { Sealers } from '../platform/sealer.js'

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
