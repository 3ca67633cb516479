import {
  type ChildProcess,
  type ChildProcessByStdio,
  type ChildProcessWithoutNullStreams,
  type SpawnOptions,
  type SpawnOptionsWithoutStdio,
  type SpawnOptionsWithStdioTuple,
  type StdioNull,
  type StdioPipe,
  spawn,
  spawnSync,
} from 'node:child_process'
import type { Readable } from 'node:stream'

/** TERM is for programs that must pass it on to children of their own, such as npm. */
type DeathSignal = 'KILL' | 'TERM'

let hasDeathSignal: boolean | null = null

/** The command, ended by the kernel when this process ends, however that happens (PR_SET_PDEATHSIG of Linux). */
export const boundCommand = (
  command: readonly string[],
  signal: DeathSignal = 'KILL',
): readonly [string, ...string[]] => {
  const [file = '', ...args] = command
  // Busybox's setpriv lacks this option, so it is tried.
  hasDeathSignal ??= spawnSync('setpriv', ['--pdeathsig', 'KILL', 'true'], { stdio: 'ignore' }).status === 0
  return hasDeathSignal ? ['setpriv', '--pdeathsig', signal, file, ...args] : [file, ...args]
}

const running = new Set<ChildProcess>()
const killAll = (): void => {
  for (const child of running) child.kill('SIGKILL')
}

/** Starts a process that ends with this one, also where the kernel offers no signal for that. */
export function spawnChild(
  command: readonly string[],
  options: SpawnOptionsWithoutStdio,
  signal?: DeathSignal,
): ChildProcessWithoutNullStreams
export function spawnChild(
  command: readonly string[],
  options: SpawnOptionsWithStdioTuple<StdioNull, StdioPipe, StdioPipe>,
  signal?: DeathSignal,
): ChildProcessByStdio<null, Readable, Readable>
export function spawnChild(
  command: readonly string[],
  options: SpawnOptions,
  signal?: DeathSignal,
): ChildProcess
export function spawnChild(
  command: readonly string[],
  options: SpawnOptions,
  signal?: DeathSignal,
): ChildProcess {
  const [file, ...args] = boundCommand(command, signal)
  const child = spawn(file, args, options)
  // Before the removal of temporary folders, in which children write.
  if (running.size === 0) process.prependListener('exit', killAll)
  running.add(child)
  child.once('exit', () => {
    running.delete(child)
    if (running.size === 0) process.off('exit', killAll)
  })
  return child
}
