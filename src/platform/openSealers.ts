import type { Logger } from '../ports/logger.js'
import { createSealers, type Sealers } from './sealer.js'
import { getSealingSecret } from './sealingSecret.js'
import type { Secret } from './secret.js'

export interface SealingSettings {
  /** Null: a generated secret in the data folder. */
  readonly keyEncryptionSecret: Secret | null
  /** Opens what is not yet sealed again after a rotation. */
  readonly previousKeyEncryptionSecret: Secret | null
  readonly dataFolder: string
  /** Whether other instances may share the database. */
  readonly isDatabaseShared: boolean
}

export const openSealers = async (settings: SealingSettings, logger: Logger): Promise<Sealers> => {
  const {
    keyEncryptionSecret,
    previousKeyEncryptionSecret: previous,
    dataFolder,
    isDatabaseShared,
  } = settings
  if (keyEncryptionSecret !== null) return createSealers(keyEncryptionSecret, previous)
  if (isDatabaseShared) {
    logger.warn(
      {
        folder: dataFolder,
        hint: 'API keys are encrypted with a secret of this data folder, which no other instance has: set KEY_ENCRYPTION_SECRET',
      },
      'encryption.secret_of_instance',
    )
  }
  return createSealers(await getSealingSecret(dataFolder), previous)
}
