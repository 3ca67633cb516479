import { access, chmod, constants, mkdir, readdir, realpath } from 'node:fs/promises'
import { hasCode } from './hasCode.js'

const ours = /^(cluster|cluster\.new-.+|password|password\.new|lock|binaries-.+)$/

/**
 * Creates the data folder, closes it to other users, and answers its real path.
 *
 * @throws a sentence when the folder holds something that is not ours, or cannot be written
 */
export async function openFolder(path: string): Promise<string> {
  try {
    await mkdir(path, { recursive: true, mode: 0o700 })
    const folder = await realpath(path)
    // A folder given by mistake (/var, a home) must not lose its mode. A mounted disk brings lost+found.
    const strangers = (await readdir(folder)).filter(
      (name) => !ours.test(name) && !name.startsWith('.') && name !== 'lost+found',
    )
    if (strangers.length > 0) {
      throw new Error(
        `The data folder ${folder} holds "${strangers[0]}", which is not the embedded Postgres’. Name an empty folder.`,
      )
    }
    await close(folder)
    return folder
  } catch (cause) {
    if (!hasCode(cause, 'EACCES', 'EPERM', 'EROFS', 'ENOTDIR', 'EEXIST')) throw cause
    throw new Error(
      `The data folder ${path} is not a folder that this user can write. Name another one, run as its owner, or set DATABASE_URL.`,
      { cause },
    )
  }
}

async function close(folder: string): Promise<void> {
  try {
    await chmod(folder, 0o700)
  } catch (error) {
    // A mounted volume may belong to root and be ours by group. What is secret inside has its own mode.
    if (!hasCode(error, 'EPERM')) throw error
    await access(folder, constants.W_OK)
  }
}
