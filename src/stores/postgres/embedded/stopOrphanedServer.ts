import { execFile } from 'node:child_process'
import { readFile, rm } from 'node:fs/promises'
import { basename, join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { promisify } from 'node:util'
import { type Launch, runProgram } from './launch.js'
import type { FolderLock } from './lockFolder.js'
import type { Machine } from './machine.js'

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
