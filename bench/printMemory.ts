import type { Contender } from './launch.js'
import { readResidentMib } from './readUsage.js'

export const printMemory = (contenders: readonly Contender[]): void => {
  const parts = contenders.map(
    ({ name, pid, idleMib }) =>
      `${name} ${format(idleMib)} idle, ${format(readResidentMib(pid))} after the load`,
  )
  console.log(`\nMemory (RSS, without the database): ${parts.join('; ')}.`)
}

const format = (mib: number): string => (Number.isFinite(mib) ? `${Math.round(mib)} MiB` : '–')
