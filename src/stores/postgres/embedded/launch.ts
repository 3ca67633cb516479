import { execFile, type SpawnOptions } from 'node:child_process'
import { join } from 'node:path'
import { promisify } from 'node:util'

/** A user of the operating system, by number. */
export interface User {
  readonly uid: number
  readonly gid: number
}

/** How Postgres' programs are started on this machine. */
export interface Launch {
  /** The folder of the programs. */
  readonly bin: string
  /** Programs put in front: a user namespace when this process is root, a signal when it dies. */
  readonly wrap: readonly string[]
  /** Whom the programs run as, when that is not the user of this process. */
  readonly user: User | null
}

/** A program with its arguments and surroundings, ready for `spawn` or `execFile`. */
export interface Command {
  readonly file: string
  readonly args: readonly string[]
  readonly options: Pick<SpawnOptions, 'uid' | 'gid' | 'cwd' | 'env' | 'windowsHide'>
}

/** Builds the command that starts `program` under `launch`. */
export function commandOf(launch: Launch, program: string, args: readonly string[]): Command {
  const [file = program, ...rest] = [...launch.wrap, join(launch.bin, program), ...args]
  return { file, args: rest, options: { ...surroundings(), ...(launch.user ?? {}), windowsHide: true } }
}

/** Runs a program of Postgres to its end and answers what it printed; rejects when it fails. */
export async function runToEnd(
  launch: Launch,
  { program, args, timeoutMs }: { program: string; args: readonly string[]; timeoutMs: number },
): Promise<string> {
  const { file, args: all, options } = commandOf(launch, program, args)
  const limits = { timeout: timeoutMs, killSignal: 'SIGKILL' as const, maxBuffer: 8 << 20 }
  const { stdout } = await promisify(execFile)(file, all, { ...options, ...limits, encoding: 'utf8' })
  return stdout
}

// Windows programs need much of the environment to start at all. Elsewhere Postgres gets none of it:
// ours holds signing keys, and a foreign locale would translate the messages that are read here.
function surroundings(): Command['options'] {
  if (process.platform === 'win32') return {}
  const path = '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin'
  return { cwd: '/', env: { PATH: path, LC_ALL: 'C', TZ: 'UTC' } }
}
