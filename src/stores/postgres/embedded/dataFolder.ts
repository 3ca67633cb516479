import { randomBytes } from 'node:crypto'
import { existsSync } from 'node:fs'
import {
  access,
  chmod,
  chown,
  constants,
  lchown,
  open,
  readdir,
  readFile,
  realpath,
  rename,
} from 'node:fs/promises'
import { join } from 'node:path'
import { findForeignOwner, makeFolder } from '../../../platform/folders.js'
import { hasErrorCode, type User } from './machine.js'

const ownEntries = /^(cluster|cluster\.new-.+|password|password\.new|lock|binaries-.+)$/

/** Creates the folder with mode 0700; rejects foreign files. Returns the real path. */
export async function openDataFolder(path: string): Promise<string> {
  try {
    await makeFolder(path, 0o700)
    const folder = await realpath(path)
    // A wrong path (/var, a home directory) must keep its mode. Mounted disks contain lost+found.
    const foreignEntries = (await readdir(folder)).filter(
      (name) => !ownEntries.test(name) && !name.startsWith('.') && name !== 'lost+found',
    )
    if (foreignEntries.length > 0) {
      throw new Error(
        `The data folder ${folder} contains "${foreignEntries[0]}", which does not belong to the embedded Postgres. Set DATA_FOLDER to an empty folder.`,
      )
    }
    await restrictAccess(folder)
    return folder
  } catch (cause) {
    if (!hasErrorCode(cause, 'EACCES', 'EPERM', 'EROFS', 'ENOTDIR', 'EEXIST', 'ENOENT')) throw cause
    const owner = findForeignOwner(path)
    throw new Error(
      `The data folder ${path} is not writable for this user${owner === null ? '' : `: ${owner.text}`}. Set DATA_FOLDER to another folder, run as its owner, or set DATABASE_URL.`,
      { cause },
    )
  }
}

async function restrictAccess(folder: string): Promise<void> {
  try {
    await chmod(folder, 0o700)
  } catch (error) {
    // A mounted volume may belong to root and be writable by group. Secret files have their own mode.
    if (!hasErrorCode(error, 'EPERM')) throw error
    await access(folder, constants.W_OK)
  }
}

/** Created before the first start; readable by the server's user only. */
export async function getPassword(
  folder: string,
  user: User | null,
): Promise<{ password: string; path: string }> {
  const path = join(folder, 'password')
  if (!existsSync(path)) {
    if (existsSync(join(folder, 'cluster'))) {
      throw new Error(
        `The file ${path} is missing; without this password the existing database cannot be opened. Restore it from a backup.`,
      )
    }
    await writeAtomically(path, randomBytes(24).toString('base64url'))
  }
  await chmod(path, 0o600)
  if (user !== null) await chown(path, user.uid, user.gid)
  return { password: (await readFile(path, 'utf8')).trim(), path }
}

async function writeAtomically(path: string, text: string): Promise<void> {
  const file = await open(`${path}.new`, 'w', 0o600)
  try {
    await file.writeFile(`${text}\n`)
    await file.sync()
  } finally {
    await file.close()
  }
  await rename(`${path}.new`, path)
}

/** Changes symlinks themselves, not their targets. */
export async function chownRecursive(path: string, user: User): Promise<void> {
  for (const entry of await readdir(path, { withFileTypes: true })) {
    const inner = join(path, entry.name)
    if (entry.isDirectory()) await chownRecursive(inner, user)
    else await lchown(inner, user.uid, user.gid)
  }
  await lchown(path, user.uid, user.gid)
}
