import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { closeSync, constants, ftruncateSync, openSync, readFileSync, writeSync } from 'node:fs'
import { join } from 'node:path'
import { hasCode } from './hasCode.js'
import type { Machine } from './machine.js'

/** Proof that this process alone works on a data folder. */
export interface FolderLock {
  /** False where this machine has no way to lock, and another process may be at work all the same. */
  readonly isCertain: boolean
  release(): void
}

/**
 * Takes the data folder for this process, until it releases the lock or ends in any way.
 *
 * The kernel holds the lock (it belongs to an open file), so it cannot outlive us and no process number,
 * which a container hands out again, is ever compared. The file stays: deleting it would race.
 *
 * @throws a sentence when another process holds the folder
 */
export async function lockFolder(
  folder: string,
  { platform, tools }: Pick<Machine, 'platform' | 'tools'>,
  log: (line: string) => void,
): Promise<FolderLock> {
  const path = join(folder, 'lock')
  const descriptor = openExclusively(path, platform)
  if (descriptor === null) throw inUse(folder, path)

  let isCertain = true
  if (platform === 'linux') {
    const answer = await flock(descriptor, tools.flock)
    if (answer === 'held') {
      closeSync(descriptor)
      throw inUse(folder, path)
    }
    isCertain = answer === 'taken'
    if (!isCertain) {
      log(
        `${tools.flock} does not work here: only Postgres’ own check guards ${folder} against a second process.`,
      )
    }
  }
  // For people and for the message of the process that comes second; nothing decides by it.
  ftruncateSync(descriptor)
  writeSync(descriptor, `${process.pid}\n`, 0)
  return { isCertain, release: () => closeSync(descriptor) }
}

/** Opens the lock file; where opening can lock as well, answers null when another process has it. */
function openExclusively(path: string, platform: NodeJS.Platform): number | null {
  const flags = constants.O_RDWR | constants.O_CREAT
  try {
    // Node has no names for these: Darwin's O_EXLOCK and libuv's UV_FS_O_EXLOCK (a share mode of none).
    if (platform === 'darwin') return openSync(path, flags | constants.O_NONBLOCK | 0x20, 0o600)
    if (platform === 'win32') return openSync(path, flags | 0x10000000, 0o600)
    return openSync(path, flags | constants.O_NOFOLLOW, 0o600)
  } catch (error) {
    if (hasCode(error, 'EAGAIN', 'EWOULDBLOCK', 'EBUSY')) return null
    if (hasCode(error, 'EACCES', 'EPERM')) {
      throw new Error(`${path} belongs to another user. Run as that one, or name another data folder.`, {
        cause: error,
      })
    }
    throw error
  }
}

// Node cannot flock(2). The lock belongs to the open file, which a child shares: flock(1) takes it on
// our descriptor and ends, and it stays ours.
async function flock(descriptor: number, program: string): Promise<'taken' | 'held' | 'unknown'> {
  const child = spawn(program, ['-n', '3'], { stdio: ['ignore', 'ignore', 'ignore', descriptor] })
  try {
    const [code] = await once(child, 'exit')
    if (code === 0) return 'taken'
    return code === 1 ? 'held' : 'unknown'
  } catch {
    return 'unknown'
  }
}

function inUse(folder: string, path: string): Error {
  return new Error(
    `The data folder ${folder} is in use by another process${holderOf(path)}. Stop it, name another folder, or set DATABASE_URL.`,
  )
}

function holderOf(path: string): string {
  try {
    const holder = readFileSync(path, 'utf8').trim()
    return /^\d+$/.test(holder) ? ` (process ${holder})` : ''
  } catch {
    return ''
  }
}
