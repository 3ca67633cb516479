import { randomBytes, randomUUID } from 'node:crypto'
import { chmod, link, open, readFile, rm } from 'node:fs/promises'
import { join } from 'node:path'
import type { Logger } from '../ports/logger.js'
import { findForeignOwner, makeFolder } from './folders.js'
import { createSealers, type Sealers } from './sealer.js'
import { Secret } from './secret.js'
import { StartError } from './startError.js'

interface SealingSettings {
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

/**
 * Created on first use, with mode 0600.
 * @throws an operator-facing error if the folder is not usable or the file is invalid
 */
export const getSealingSecret = async (folder: string): Promise<Secret> => {
  const path = join(folder, 'key-encryption-secret')
  try {
    return await readSecret(path)
  } catch (error) {
    if (hasErrorCode(error, 'EACCES') || hasErrorCode(error, 'EPERM')) {
      const owner = findForeignOwner(path)
      const problem =
        owner === null
          ? `${path} cannot be read. Run as its owner.`
          : `${owner.text}. Run as its owner, or \`${owner.remedy}\`.`
      throw new StartError('DATA_FOLDER', problem, { cause: error })
    }
    if (!isMissing(error)) throw error
  }
  try {
    await makeFolder(folder)
    await createExclusively(path)
  } catch (cause) {
    const owner = findForeignOwner(folder)
    const [reason, remedy] =
      owner === null ? ['', ''] : [`, because ${owner.text}`, `, or \`${owner.remedy}\``]
    throw new StartError(
      'DATA_FOLDER',
      `Cannot store the encryption secret for API keys in ${path}${reason}. Set KEY_ENCRYPTION_SECRET, or set DATA_FOLDER to a writable folder${remedy}.`,
      { cause },
    )
  }
  return readSecret(path)
}

const readSecret = async (path: string): Promise<Secret> => {
  const text = (await readFile(path, 'utf8')).trim()
  if (!/^[0-9a-f]{64}$/.test(text))
    throw new Error(`${path} does not contain a valid secret: restore it from a backup.`)
  await chmod(path, 0o600)
  return new Secret(text)
}

/** Atomic and exclusive (write, fsync, link): of concurrent starts, the first one wins. */
const createExclusively = async (path: string): Promise<void> => {
  const temporary = `${path}.${randomUUID()}`
  const file = await open(temporary, 'wx', 0o600)
  try {
    await file.writeFile(`${randomBytes(32).toString('hex')}\n`)
    await file.sync()
  } finally {
    await file.close()
  }
  try {
    await link(temporary, path)
  } catch (error) {
    if (!hasErrorCode(error, 'EEXIST')) throw error
  } finally {
    await rm(temporary)
  }
}

const hasErrorCode = (error: unknown, code: string): boolean =>
  error instanceof Error && 'code' in error && error.code === code

const isMissing = (error: unknown): boolean => hasErrorCode(error, 'ENOENT') || hasErrorCode(error, 'ENOTDIR')
