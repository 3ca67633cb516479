import { countFailureReasons } from './countFailureReasons.js'
import { createSettler, type SettleMeasurement, type Settler } from './createSettler.js'
import type { Contender } from './launch.js'
import type { Scale } from './options.js'
import { printMemory } from './printMemory.js'
import { type Stage, withStage } from './stage.js'
import {
  describeConnections,
  facilitatorColumn,
  figure,
  printTable,
  type Table,
  times,
  toColumns,
} from './table.js'
import { atLeast, atMost, noFailures, type Verdict } from './verdict.js'

export type Mining = 'automine' | '1 s blocks'

interface Row {
  readonly connections: number
  readonly ours: number
  /** Few, because it settles about ten per second; null: not run. */
  readonly reference: number | null
}

const rows: readonly Row[] = [
  { connections: 1, ours: 200, reference: 8 },
  { connections: 8, ours: 1_200, reference: 80 },
  { connections: 32, ours: 2_400, reference: 200 },
  { connections: 128, ours: 4_000, reference: 400 },
  { connections: 1_000, ours: 8_000, reference: null },
]
const leastConnectionsOnPostgres = 128
const rowMs = 8_000
const captions = [
  'Valid payments, each sent once, all to one recipient with an existing balance. Latencies are those of',
  'successes, CPU is that of the facilitator process. Each row is compared with the chain afterwards.',
] as const

/** Compares `/settle` on both databases and on the reference, and checks every response against the chain. */
export const measureSettle = async (mining: Mining, scale: Scale): Promise<readonly Verdict[]> => {
  const verdicts: Verdict[] = []
  const blocks = mining === 'automine' ? {} : { blockTimeSeconds: 1 }
  await withStage({ ...blocks, hasPostgres: true }, async (stage) => {
    const settle = createSettler(stage.chain)
    for (const contender of contendersOf(stage)) {
      await settle(contender, { connections: 4, count: 8, limitMs: rowMs })
    }
    const table = printTable(`Settle, ${mining}`, captions.join('\n'), [
      ...toColumns('connections'),
      facilitatorColumn,
      ...toColumns('success', 'settled/s', 'p50 ms', 'p99 ms', 'CPU ms/req', 'sent'),
    ])
    const notes: string[] = []
    for (const row of rows) {
      verdicts.push(...(await measureRow(stage, { row, mining, scale, settle, table, notes })))
    }
    for (const note of ['', ...notes]) console.log(note)
    printMemory(contendersOf(stage))
  })
  return verdicts
}

interface RowContext {
  readonly row: Row
  readonly mining: Mining
  readonly scale: Scale
  readonly settle: Settler
  readonly table: Table
  readonly notes: string[]
}

const contendersOf = ({ ours, oursOnPostgres, reference }: Stage): readonly Contender[] => [
  ours,
  ...(oursOnPostgres === null ? [] : [oursOnPostgres]),
  reference,
]

const measureRow = async (stage: Stage, context: RowContext): Promise<readonly Verdict[]> => {
  const { row, mining, table } = context
  const { connections } = row
  const name = `settle at ${describeConnections(connections)}, ${mining}`
  const verdicts: Verdict[] = []

  const us = await measureContender(stage.ours, row.ours, context)
  verdicts.push(noFailures(name, us, us.mismatches), ...judge(name, us, { connections, mining }))
  if (stage.oursOnPostgres !== null && connections >= leastConnectionsOnPostgres) {
    const onPostgres = await measureContender(stage.oursOnPostgres, row.ours, context)
    verdicts.push(noFailures(`${name}, on Postgres`, onPostgres, onPostgres.mismatches))
  }
  if (row.reference === null) {
    table.row(String(connections), 'reference', 'not run: it would take too long')
    return verdicts
  }
  const them = await measureContender(stage.reference, row.reference, context)
  table.row(
    ...[String(connections), 'ratio', '', times(us.perSecond, them.perSecond)],
    ...[times(us.p50Ms, them.p50Ms), times(us.p99Ms, them.p99Ms)],
    times(us.cpuMsPerRequest, them.cpuMsPerRequest),
  )
  if (connections === 128 && mining === 'automine') {
    const bound = { limit: 40, unit: '× the reference' }
    verdicts.push(atLeast(name, us.perSecond / them.perSecond, bound))
  }
  return verdicts
}

const measureContender = async (
  contender: Contender,
  count: number,
  { row: { connections }, mining, scale, settle, table, notes }: RowContext,
): Promise<SettleMeasurement> => {
  const load = { connections, count: Math.max(connections, Math.ceil(count * scale)), limitMs: rowMs * scale }
  const result = await settle(contender, load)
  table.row(
    ...[String(connections), contender.name, `${figure((100 * result.successes) / result.sent)} %`],
    ...[figure(result.perSecond), figure(result.p50Ms), figure(result.p99Ms)],
    ...[figure(result.cpuMsPerRequest), String(result.sent)],
  )
  const who = `${contender.name}, ${describeConnections(connections)}, ${mining}`
  const reasons = countFailureReasons(result.exchanges)
  if (reasons.length > 0) notes.push(`${who}, not settled: ${reasons.join(', ')}`)
  for (const mismatch of result.mismatches) notes.push(`!!! ${who}: ${mismatch} !!!`)
  return result
}

const judge = (
  name: string,
  { p50Ms, perSecond }: SettleMeasurement,
  { connections, mining }: Pick<Row, 'connections'> & Pick<RowContext, 'mining'>,
): readonly Verdict[] => {
  if (connections === 1 && mining === 'automine')
    return [atMost(`${name}, p50`, p50Ms, { limit: 60, unit: 'ms' })]
  if (connections === 1_000 && mining === '1 s blocks') {
    return [atLeast(name, perSecond, { limit: 400, unit: 'a second' })]
  }
  return []
}
