import { execFile, type SpawnOptions } from 'node:child_process'
import { join } from 'node:path'
import { promisify } from 'node:util'

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
