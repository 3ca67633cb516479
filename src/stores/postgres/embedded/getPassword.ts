import { randomBytes } from 'node:crypto'
import { existsSync } from 'node:fs'
import { chmod, chown, open, readFile, rename } from 'node:fs/promises'
import { join } from 'node:path'
import type { User } from './launch.js'

/**
 * Reads the database's password, or makes one before the first start; only the server's user can read it.
 *
 * @throws a sentence when a cluster exists and its password is gone
 */
export async function getPassword(
  folder: string,
  user: User | null,
): Promise<{ password: string; path: string }> {
  const path = join(folder, 'password')
  if (!existsSync(path)) {
    if (existsSync(join(folder, 'cluster'))) {
      throw new Error(`The file ${path} is missing, and the database beside it cannot be opened without it.`)
    }
    await writeOnce(path, randomBytes(24).toString('base64url'))
  }
  await chmod(path, 0o600)
  if (user !== null) await chown(path, user.uid, user.gid)
  return { password: (await readFile(path, 'utf8')).trim(), path }
}

async function writeOnce(path: string, text: string): Promise<void> {
  const half = await open(`${path}.new`, 'w', 0o600)
  try {
    await half.writeFile(`${text}\n`)
    await half.sync()
  } finally {
    await half.close()
  }
  await rename(`${path}.new`, path)
}
