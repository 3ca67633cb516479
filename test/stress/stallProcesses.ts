import { readdir, readFile } from 'node:fs/promises'
import { sleep } from '../../src/concurrency/deadline.js'

/* Stops processes for a moment, as a busy machine does: what waits for less than that shows. Linux only. */

export interface RunningProcess {
  readonly pid: number
  readonly parent: number
  readonly name: string
  /** It is a letter of /proc: `R` runs, `S` sleeps, `T` is stopped. */
  readonly state: string
}

/** Reads a line of /proc/<pid>/stat, whose name may hold spaces and parentheses. */
export const parseStat = (line: string): RunningProcess | null => {
  const [, pid, name = '', state = '', parent] = /^(\d+) \((.*)\) (\S) (\d+) /s.exec(line) ?? []
  return pid === undefined ? null : { pid: Number(pid), parent: Number(parent), name, state }
}

export const listProcesses = async (): Promise<readonly RunningProcess[]> => {
  const entries = (await readdir('/proc')).filter((name) => /^\d+$/.test(name))
  // One that has ended meanwhile has none.
  const lines = await Promise.all(entries.map((pid) => readFile(`/proc/${pid}/stat`, 'utf8').catch(() => '')))
  return lines.flatMap((line) => parseStat(line) ?? [])
}

/** Lists what a process has started, and what that has. */
export const listDescendants = (
  processes: readonly RunningProcess[],
  ancestor: number,
): readonly RunningProcess[] => {
  const children = processes.filter(({ parent }) => parent === ancestor)
  return children.flatMap((child) => [child, ...listDescendants(processes, child.pid)])
}

const pick = <Item>(items: readonly Item[]): Item | undefined =>
  items[Math.floor(Math.random() * items.length)]

/** Each name counts once: most processes are idle ones of the database. */
const choose = (processes: readonly RunningProcess[]): RunningProcess | undefined => {
  // One that a test has stopped itself stays so.
  const running = processes.filter(({ state }) => state !== 'T')
  const name = pick([...new Set(running.map((each) => each.name))])
  return pick(running.filter((each) => each.name === name))
}

const signal = (pid: number, name: NodeJS.Signals): void => {
  try {
    process.kill(pid, name)
  } catch {
    // It has ended.
  }
}

/**
 * Stops one descendant after the other, for up to `maxMs` each and a third of the time, until `ended` aborts. The last one goes on
 * before it resolves.
 */
export const stallProcesses = async (ancestor: number, maxMs: number, ended: AbortSignal): Promise<void> => {
  while (await sleep(Math.random() * maxMs * 2, ended)) {
    const stalled = choose(listDescendants(await listProcesses(), ancestor))
    if (stalled !== undefined) signal(stalled.pid, 'SIGSTOP')
    await sleep(Math.random() * maxMs, ended)
    if (stalled !== undefined) signal(stalled.pid, 'SIGCONT')
  }
}
