import { execFile } from 'node:child_process'
import { readFile, rm } from 'node:fs/promises'
import { basename, join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { promisify } from 'node:util'
import { type Launch, runToEnd } from './launch.js'
import type { FolderLock } from './lockFolder.js'
import type { Machine } from './machine.js'

interface StrayOptions {
  readonly cluster: string
  readonly machine: Machine
  readonly lock: Pick<FolderLock, 'isCertain'>
  readonly log: (line: string) => void
}

/**
 * Ends a server that an earlier, killed process left on this cluster, and removes what a dead one left.
 * A server found here has no owner, if the caller's lock is certain.
 *
 * Postgres believes any live process whose number stands in `postmaster.pid`; in a container that is
 * often an innocent one. Here a process counts only if its command line says that it serves this cluster.
 */
export async function stopStrayServer(
  launch: Launch,
  { cluster, machine, lock, log }: StrayOptions,
): Promise<void> {
  if (machine.platform === 'win32') {
    // Windows reaches servers by a named pipe, which no other program has, so pg_ctl cannot mistake one.
    const args = ['-D', cluster, '-m', 'fast', '-w', 'stop']
    await runToEnd(launch, { program: 'pg_ctl', args, timeoutMs: machine.stopDeadlineMs }).catch(
      () => undefined,
    )
    return
  }
  const pidFile = join(cluster, 'postmaster.pid')
  const pid = await readPid(pidFile)
  if (pid !== null && (await servesCluster(pid, cluster, machine.platform))) {
    if (!lock.isCertain) {
      throw new Error(`Postgres process ${pid} works on ${cluster}. Stop it, or set DATABASE_URL.`)
    }
    log(`A server left behind by an earlier start (process ${pid}) is being stopped.`)
    for (const signal of ['SIGINT', 'SIGQUIT', 'SIGKILL'] as const) {
      if (await endsAfter(pid, signal, { cluster, machine })) break
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

/** Answers nothing for a process that is gone, and for a dead one that nobody has waited for. */
async function readCommandLine(pid: number, platform: NodeJS.Platform): Promise<string> {
  try {
    if (platform === 'linux') return (await readFile(`/proc/${pid}/cmdline`, 'utf8')).replaceAll('\0', ' ')
    const { stdout } = await promisify(execFile)('ps', ['-ww', '-o', 'command=', '-p', String(pid)])
    return stdout
  } catch {
    return ''
  }
}

async function endsAfter(
  pid: number,
  signal: NodeJS.Signals,
  { cluster, machine }: Pick<StrayOptions, 'cluster' | 'machine'>,
): Promise<boolean> {
  try {
    process.kill(pid, signal)
  } catch {
    // It ended between the look and the signal.
  }
  const deadline = Date.now() + machine.stopDeadlineMs / 2
  while (await servesCluster(pid, cluster, machine.platform)) {
    if (Date.now() > deadline) return false
    await delay(20)
  }
  return true
}
