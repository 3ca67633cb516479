import type { Contender } from './launch.js'
import type { Measurement } from './measureLoad.js'
import { facilitatorColumn, figure, printTable, type Table, times, toColumns } from './table.js'

/** For the rows of `compareLoads`. */
export const printLoadTable = (title: string, caption: string): Table =>
  printTable(title, `${caption} CPU is that of the process; \`limit\` asks and remembers nothing.`, [
    ...toColumns('connections'),
    facilitatorColumn,
    ...toColumns('req/s', 'p50 ms', 'p99 ms', 'CPU ms/req', 'sent', 'failures'),
  ])

/** One load on each facilitator in turn: a row for each, then ours in terms of each other one. */
export const compareLoads = async (
  table: Table,
  connections: number,
  { ours, others }: { readonly ours: Contender; readonly others: readonly Contender[] },
  run: (contender: Contender) => Promise<Measurement>,
): Promise<{ readonly us: Measurement; readonly them: readonly Measurement[] }> => {
  const measure = async (contender: Contender): Promise<Measurement> => {
    const result = await run(contender)
    const { perSecond, p50Ms, p99Ms, cpuMsPerRequest, sent, failures } = result
    const figures = [perSecond, p50Ms, p99Ms, cpuMsPerRequest].map(figure)
    table.row(String(connections), contender.name, ...figures, String(sent), String(failures))
    return result
  }
  const us = await measure(ours)
  const them: Measurement[] = []
  for (const other of others) them.push(await measure(other))
  for (const [index, result] of them.entries()) {
    table.row(
      ...[String(connections), `× ${others[index]?.name}`, times(us.perSecond, result.perSecond)],
      ...[times(us.p50Ms, result.p50Ms), times(us.p99Ms, result.p99Ms)],
      times(us.cpuMsPerRequest, result.cpuMsPerRequest),
    )
  }
  return { us, them }
}
