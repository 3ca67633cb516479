import { rmSync } from 'node:fs'
import { chmod, mkdtemp, readdir, rename, rm, stat, statfs } from 'node:fs/promises'
import { connect, createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

/*
 * The folders of a process are in one folder of its own, which is removed when the process exits. A process that is
 * killed cannot do that: its folder is removed by the next one that makes folders. A process that lives listens on the
 * socket in its folder; the kernel refuses connections to the socket of a dead one.
 */

const memory = '/dev/shm'
const minFreeBytes = 2 * 2 ** 30
const prefix = 'quittance-run-'
const socketName = 'alive'
const startGraceMs = 60_000

const removal = { recursive: true, force: true, maxRetries: 10, retryDelay: 50 } as const

/**
 * In memory (/dev/shm) if there is space: cloning a database takes 20 ms there instead of 250. /dev/shm may
 * be mounted noexec: use `onDisk` for programs. Every user can enter the folder. The caller removes it, at the latest
 * the end of this process does.
 */
export async function makeTemporaryFolder(name: string, { onDisk = false } = {}): Promise<string> {
  const parent = !onDisk && (await hasFreeSpace(memory)) ? memory : tmpdir()
  const owned = ownFolders.get(parent) ?? makeOwnFolder(parent)
  ownFolders.set(parent, owned)
  const folder = await mkdtemp(join(await owned, name))
  await chmod(folder, 0o755)
  return folder
}

const ownFolders = new Map<string, Promise<string>>()

const makeOwnFolder = async (parent: string): Promise<string> => {
  await removeAbandoned(parent)
  const folder = await mkdtemp(join(parent, prefix))
  process.once('exit', () => {
    try {
      rmSync(folder, removal)
    } catch {
      // A process that is just ending wrote into it: the next run removes it.
    }
  })
  await chmod(folder, 0o755)
  const server = createServer((socket) => socket.destroy()).unref()
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject)
    server.listen(join(folder, 'starting'), resolve)
  })
  // Renamed when it listens: a process that finds the name can connect.
  await rename(join(folder, 'starting'), join(folder, socketName))
  return folder
}

const removeAbandoned = async (parent: string): Promise<void> => {
  for (const name of await readdir(parent).catch(() => [])) {
    const folder = join(parent, name)
    // Others may be removing it too.
    if (name.startsWith(prefix) && (await isAbandoned(folder)))
      await rm(folder, removal).catch(() => undefined)
  }
}

const isAbandoned = async (folder: string): Promise<boolean> => {
  const problem = await connectTo(join(folder, socketName))
  if (problem === 'ECONNREFUSED') return true
  // A folder that is just being made has no socket yet.
  const { ctimeMs } = await stat(folder).catch(() => ({ ctimeMs: Number.POSITIVE_INFINITY }))
  return problem === 'ENOENT' && Date.now() - ctimeMs > startGraceMs
}

/** Returns the error code, or null if a process listens. */
const connectTo = (path: string): Promise<string | null> =>
  new Promise((resolve) => {
    const socket = connect(path)
    socket.once('connect', () => {
      socket.destroy()
      resolve(null)
    })
    socket.once('error', (error) => resolve('code' in error ? String(error.code) : error.message))
  })

async function hasFreeSpace(path: string): Promise<boolean> {
  try {
    const { bavail, bsize } = await statfs(path)
    return bavail * bsize >= minFreeBytes
  } catch {
    return false
  }
}
