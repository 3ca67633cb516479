import { randomBytes, randomUUID } from 'node:crypto'
import { chmod, link, mkdir, open, readFile, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { Secret } from './secret.js'

/**
 * The secret of a data folder: made at the first call, the same ever after, readable by its owner alone.
 *
 * @throws a sentence when the folder cannot be used or the file holds something else
 */
export const getSealingSecret = async (folder: string): Promise<Secret> => {
  const path = join(folder, 'key-encryption-secret')
  try {
    return await readSecret(path)
  } catch (error) {
    if (!isMissing(error)) throw error
  }
  try {
    await mkdir(folder, { recursive: true })
    await writeOnce(path)
  } catch (cause) {
    const advice = 'Set KEY_ENCRYPTION_SECRET, or name a DATA_FOLDER that can be written.'
    throw new Error(`The secret that API keys are encrypted with cannot be kept in ${path}. ${advice}`, {
      cause,
    })
  }
  return readSecret(path)
}

const readSecret = async (path: string): Promise<Secret> => {
  const text = (await readFile(path, 'utf8')).trim()
  if (!/^[0-9a-f]{64}$/.test(text))
    throw new Error(`${path} holds no secret of ours: restore it from a backup.`)
  await chmod(path, 0o600)
  return new Secret(text)
}

/** It appears whole or not at all, and only once: of two that start together one is first. */
const writeOnce = async (path: string): Promise<void> => {
  const half = `${path}.${randomUUID()}`
  const file = await open(half, 'wx', 0o600)
  try {
    await file.writeFile(`${randomBytes(32).toString('hex')}\n`)
    await file.sync()
  } finally {
    await file.close()
  }
  try {
    await link(half, path)
  } catch (error) {
    if (!hasCode(error, 'EEXIST')) throw error
  } finally {
    await rm(half)
  }
}

const hasCode = (error: unknown, code: string): boolean =>
  error instanceof Error && 'code' in error && error.code === code

const isMissing = (error: unknown): boolean => hasCode(error, 'ENOENT') || hasCode(error, 'ENOTDIR')
