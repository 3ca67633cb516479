import { chmod, mkdtemp, readdir, statfs } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

const memory = '/dev/shm'
const roomyBytes = 2 * 2 ** 30

/**
 * Makes an empty folder that any user may enter, in memory where the machine has plenty: a cluster is a
 * thousand files, and cloning a database takes 20 ms there instead of 250. The caller removes it.
 *
 * Memory may be mounted so that programs in it do not run; `onDisk` is for folders that hold some.
 */
export async function makeTemporaryFolder(prefix: string, { onDisk = false } = {}): Promise<string> {
  const parent = !onDisk && (await isRoomy(memory)) ? memory : tmpdir()
  const folder = await mkdtemp(join(parent, prefix))
  await chmod(folder, 0o755)
  return folder
}

/** Lists the folders that this and other runs made under a prefix, wherever they are. */
export async function listTemporaryFolders(prefix: string): Promise<readonly string[]> {
  const found: string[] = []
  for (const parent of new Set([memory, tmpdir()])) {
    const names = await readdir(parent).catch(() => [])
    found.push(...names.filter((name) => name.startsWith(prefix)).map((name) => join(parent, name)))
  }
  return found
}

async function isRoomy(path: string): Promise<boolean> {
  try {
    const { bavail, bsize } = await statfs(path)
    return bavail * bsize >= roomyBytes
  } catch {
    return false
  }
}
