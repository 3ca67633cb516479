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

const read = (path: string): string => {
  try {
    return readFileSync(path, 'utf8')
  } catch {
    return ''
  }
}
