import { readFileSync } from 'node:fs'

const clockTicksPerSecond = 100

/** User and system time; NaN without /proc. */
export const readCpuMs = (pid: number): number => {
  const fields = read(`/proc/${pid}/stat`).split(') ')[1]?.split(' ') ?? []
  return ((Number(fields[11]) + Number(fields[12])) / clockTicksPerSecond) * 1_000
}

/** Resident memory; NaN without /proc. */
export const readResidentMib = (pid: number): number =>
  Number(/VmRSS:\s+(\d+) kB/.exec(read(`/proc/${pid}/status`))?.[1]) / 1_024

interface Memory {
  readonly residentMib: number
  /** What it shares with others counts in equal parts. */
  readonly proportionalMib: number
  /** What no other process has: the end of the process gives it back. */
  readonly privateMib: number
}

/** NaN without /proc. */
export const readMemory = (pid: number): Memory => {
  const text = read(`/proc/${pid}/smaps_rollup`)
  const find = (name: string) => Number(new RegExp(`^${name}:\\s+(\\d+) kB`, 'm').exec(text)?.[1]) / 1_024
  return {
    residentMib: find('Rss'),
    proportionalMib: find('Pss'),
    privateMib: find('Private_Clean') + find('Private_Dirty'),
  }
}

/** Process ids; none without /proc. */
export const listChildren = (pid: number): readonly number[] =>
  read(`/proc/${pid}/task/${pid}/children`).split(' ').filter(Boolean).map(Number)

const read = (path: string): string => {
  try {
    return readFileSync(path, 'utf8')
  } catch {
    return ''
  }
}
