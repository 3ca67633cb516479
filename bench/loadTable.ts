import type { Measurement } from './measureLoad.js'
import { facilitatorColumn, figure, printTable, type Table, times, toColumns } from './table.js'

/** For rows of `printLoads`. */
export const printLoadTable = (title: string, caption: string): Table =>
  printTable(title, caption, [
    ...toColumns('connections'),
    facilitatorColumn,
    ...toColumns('req/s', 'p50 ms', 'p99 ms', 'CPU ms/req', 'sent', 'failures'),
  ])

interface Load {
  readonly name: string
  readonly result: Measurement
}

/** One load on several facilitators: a row for each, then the first in terms of each other one. */
export const printLoads = (
  table: Table,
  connections: number,
  [us, ...others]: readonly [Load, ...Load[]],
) => {
  for (const { name, result } of [us, ...others]) {
    const { perSecond, p50Ms, p99Ms, cpuMsPerRequest, sent, failures } = result
    const figures = [perSecond, p50Ms, p99Ms, cpuMsPerRequest].map(figure)
    table.row(String(connections), name, ...figures, String(sent), String(failures))
  }
  for (const { name, result } of others) {
    table.row(
      ...[String(connections), `to ${name}`, times(us.result.perSecond, result.perSecond)],
      ...[times(us.result.p50Ms, result.p50Ms), times(us.result.p99Ms, result.p99Ms)],
      times(us.result.cpuMsPerRequest, result.cpuMsPerRequest),
    )
  }
}
