import { chmod, mkdtemp, readdir, statfs } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

const memory = '/dev/shm'
const minFreeBytes = 2 * 2 ** 30

/**
 * In memory (/dev/shm) if there is space: cloning a database takes 20 ms there instead of 250. /dev/shm may
 * be mounted noexec: use `onDisk` for programs. Every user can enter the folder; the caller removes it.
 */
export async function makeTemporaryFolder(prefix: string, { onDisk = false } = {}): Promise<string> {
  const parent = !onDisk && (await hasFreeSpace(memory)) ? memory : tmpdir()
  const folder = await mkdtemp(join(parent, prefix))
  await chmod(folder, 0o755)
  return folder
}

/** Lists folders of this and other runs, in memory and on disk. */
export async function listTemporaryFolders(prefix: string): Promise<readonly string[]> {
  const found: string[] = []
  for (const parent of new Set([memory, tmpdir()])) {
    const names = await readdir(parent).catch(() => [])
    found.push(...names.filter((name) => name.startsWith(prefix)).map((name) => join(parent, name)))
  }
  return found
}

async function hasFreeSpace(path: string): Promise<boolean> {
  try {
    const { bavail, bsize } = await statfs(path)
    return bavail * bsize >= minFreeBytes
  } catch {
    return false
  }
}
