import { execFile, type SpawnOptions } from 'node:child_process'
import { once } from 'node:events'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { type Binaries, listBinaries } from './binaries.js'

/** Replaced by tests. */
export interface Machine {
  readonly platform: NodeJS.Platform
  /** Null on Windows, which has no numeric users. */
  readonly userId: number | null
  readonly binaries: readonly Binaries[]
  /** util-linux programs, by name or path; each may be missing. */
  readonly tools: { readonly unshare: string; readonly setpriv: string; readonly flock: string }
  /** For a new cluster and the server together; also for a program to tell its version, and for the first connection. */
  readonly startDeadlineMs: number
  /** Time for a fast shutdown before an immediate one is requested. */
  readonly stopDeadlineMs: number
  readonly pickPort: () => Promise<number>
  /** In milliseconds; what deadlines are measured by. */
  readonly now: () => number
}

export function thisMachine(): Machine {
  return {
    platform: process.platform,
    userId: process.getuid?.() ?? null,
    binaries: listBinaries(),
    tools: { unshare: 'unshare', setpriv: 'setpriv', flock: 'flock' },
    startDeadlineMs: 60_000,
    stopDeadlineMs: 20_000,
    pickPort,
    now: Date.now,
  }
}

/** Another process may take the port before it is used. */
export async function pickPort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const address = server.address()
  server.close()
  await once(server, 'close')
  if (address === null || typeof address === 'string') throw new Error('No loopback port could be opened.')
  return address.port
}

export interface User {
  readonly uid: number
  readonly gid: number
}

export interface Launch {
  readonly bin: string
  /** Wrapper command: user namespace when running as root, parent-death signal. */
  readonly prefix: readonly string[]
  /** Null: the user of this process. */
  readonly user: User | null
}

interface Command {
  readonly file: string
  readonly args: readonly string[]
  readonly options: Pick<SpawnOptions, 'uid' | 'gid' | 'cwd' | 'env' | 'windowsHide'>
}

export function buildCommand(launch: Launch, program: string, args: readonly string[]): Command {
  const [file = program, ...rest] = [...launch.prefix, join(launch.bin, program), ...args]
  return { file, args: rest, options: { ...processOptions(), ...(launch.user ?? {}), windowsHide: true } }
}

export async function runProgram(
  launch: Launch,
  { program, args, timeoutMs }: { program: string; args: readonly string[]; timeoutMs: number },
): Promise<string> {
  const { file, args: all, options } = buildCommand(launch, program, args)
  const limits = { timeout: timeoutMs, killSignal: 'SIGKILL' as const, maxBuffer: 8 << 20 }
  const { stdout } = await promisify(execFile)(file, all, { ...options, ...limits, encoding: 'utf8' })
  return stdout
}

// Windows programs need the environment. Elsewhere it is not inherited: it contains signing keys, and a
// locale would translate messages.
function processOptions(): Command['options'] {
  if (process.platform === 'win32') return {}
  const path = '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin'
  return { cwd: '/', env: { PATH: path, LC_ALL: 'C', TZ: 'UTC' } }
}
