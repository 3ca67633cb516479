import { execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { closeSync, constants, ftruncateSync, openSync, readFileSync, writeSync } from 'node:fs'
import { readFile, rm } from 'node:fs/promises'
import { basename, join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { promisify } from 'node:util'
import { findForeignOwner } from '../../../platform/folders.js'
import { hasErrorCode, type Launch, type Machine, runProgram } from './machine.js'

export interface FolderLock {
  /** False if this machine has no lock mechanism; another process may then use the folder. */
  readonly isExclusive: boolean
  release(): void
}

/** A kernel lock ends with the process. The file is never deleted: that would race. Pids are not compared. */
export async function lockFolder(
  folder: string,
  { platform, tools }: Pick<Machine, 'platform' | 'tools'>,
  log: (line: string) => void,
): Promise<FolderLock> {
  const path = join(folder, 'lock')
  const descriptor = openExclusively(path, platform)
  if (descriptor === null) throw folderInUse(folder, path)

  let isExclusive = true
  if (platform === 'linux') {
    const result = await flock(descriptor, tools.flock)
    if (result === 'held') {
      closeSync(descriptor)
      throw folderInUse(folder, path)
    }
    isExclusive = result === 'taken'
    if (!isExclusive) {
      log(
        `${tools.flock} is not available: only the check of Postgres itself protects ${folder} against a second process.`,
      )
    }
  }
  // For diagnosis and error messages only.
  ftruncateSync(descriptor)
  writeSync(descriptor, `${process.pid}\n`, 0)
  return { isExclusive, release: () => closeSync(descriptor) }
}

function openExclusively(path: string, platform: NodeJS.Platform): number | null {
  const flags = constants.O_RDWR | constants.O_CREAT
  try {
    // Node has no constants for Darwin's O_EXLOCK and libuv's UV_FS_O_EXLOCK.
    if (platform === 'darwin') return openSync(path, flags | constants.O_NONBLOCK | 0x20, 0o600)
    if (platform === 'win32') return openSync(path, flags | 0x10000000, 0o600)
    return openSync(path, flags | constants.O_NOFOLLOW, 0o600)
  } catch (error) {
    if (hasErrorCode(error, 'EAGAIN', 'EWOULDBLOCK', 'EBUSY')) return null
    if (hasErrorCode(error, 'EACCES', 'EPERM')) {
      throw new Error(
        `${findForeignOwner(path)?.text ?? `${path} belongs to another user`}. Run as that user, or set DATA_FOLDER to another folder.`,
        {
          cause: error,
        },
      )
    }
    throw error
  }
}

// Node has no flock(2). The lock belongs to the open file description: the child flock(1) locks our
// descriptor, and the lock remains.
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

function folderInUse(folder: string, path: string): Error {
  return new Error(
    `The data folder ${folder} is in use by another process${describeHolder(path)}. Stop it, set DATA_FOLDER to another folder, or set DATABASE_URL.`,
  )
}

function describeHolder(path: string): string {
  try {
    const holder = readFileSync(path, 'utf8').trim()
    return /^\d+$/.test(holder) ? ` (pid ${holder})` : ''
  } catch {
    return ''
  }
}

interface OrphanOptions {
  readonly cluster: string
  readonly machine: Machine
  readonly lock: Pick<FolderLock, 'isExclusive'>
  readonly log: (line: string) => void
}

/**
 * Stops the server that a killed process left running, and removes a stale postmaster.pid. Postgres trusts
 * any live process with that pid, but containers reuse pids: here the command line must match the cluster.
 */
export async function stopOrphanedServer(
  launch: Launch,
  { cluster, machine, lock, log }: OrphanOptions,
): Promise<void> {
  if (machine.platform === 'win32') {
    // On Windows pg_ctl uses a named pipe of the server, so it cannot signal another process.
    const args = ['-D', cluster, '-m', 'fast', '-w', 'stop']
    await runProgram(launch, { program: 'pg_ctl', args, timeoutMs: machine.stopDeadlineMs }).catch(
      () => undefined,
    )
    return
  }
  const pidFile = join(cluster, 'postmaster.pid')
  const pid = await readPid(pidFile)
  if (pid !== null && (await servesCluster(pid, cluster, machine.platform))) {
    if (!lock.isExclusive) {
      throw new Error(`Postgres (pid ${pid}) is running on ${cluster}. Stop it, or set DATABASE_URL.`)
    }
    log(`Stopping a Postgres server left running by an earlier start (pid ${pid}).`)
    for (const signal of ['SIGINT', 'SIGQUIT', 'SIGKILL'] as const) {
      if (await exitsAfter(pid, signal, { cluster, machine })) break
    }
  }
  await rm(pidFile, { force: true })
}

async function readPid(path: string): Promise<number | null> {
  const text = await readFile(path, 'utf8').catch(() => '')
  const pid = Number.parseInt(text, 10)
  return pid > 0 ? pid : null
}

async function servesCluster(pid: number, cluster: string, platform: NodeJS.Platform): Promise<boolean> {
  const [program = '', rest = ''] = (await readCommandLine(pid, platform)).split(' -D ')
  return basename(program) === 'postgres' && rest.startsWith(`${cluster} `)
}

/** Empty for exited processes and zombies. */
async function readCommandLine(pid: number, platform: NodeJS.Platform): Promise<string> {
  try {
    if (platform === 'linux') return (await readFile(`/proc/${pid}/cmdline`, 'utf8')).replaceAll('\0', ' ')
    const { stdout } = await promisify(execFile)('ps', ['-ww', '-o', 'command=', '-p', String(pid)])
    return stdout
  } catch {
    return ''
  }
}

async function exitsAfter(
  pid: number,
  signal: NodeJS.Signals,
  { cluster, machine }: Pick<OrphanOptions, 'cluster' | 'machine'>,
): Promise<boolean> {
  try {
    process.kill(pid, signal)
  } catch {
    // It exited between the check and the signal.
  }
  const deadline = machine.now() + machine.stopDeadlineMs / 2
  while (await servesCluster(pid, cluster, machine.platform)) {
    if (machine.now() > deadline) return false
    await delay(20)
  }
  return true
}
