import { setTimeout as sleep } from 'node:timers/promises'
import type { DemoWorld } from '../test/demo/world.js'
import { directWorlds, worlds } from '../test/demo/worlds/index.js'
import { startService } from './contenders.js'
import { measureLoad } from './measureLoad.js'
import type { Scale } from './options.js'
import { readResidentMib } from './readUsage.js'
import { startDatabase } from './startDatabase.js'
import { figure, printTable, times, toColumns } from './table.js'
import { atMost, noFailures, type Verdict } from './verdict.js'

const starts = 5
const idleMs = 20_000
const maxStartMs = 3_000
const maxIdleMb = 260
const bytesPerMb = 1_000_000
const bytesPerMib = 1_048_576
const verifyMs = 3_000
const maxBodies = 20_000

/** Start and memory with every family beside those with EVM alone, and verify of each family whose customers send. */
export const measureFamilies = async (scale: Scale): Promise<readonly Verdict[]> => {
  const opened = new Map<string, DemoWorld>()
  const database = await startDatabase()
  try {
    for (const [family, open] of Object.entries(worlds)) opened.set(family, await open())
    const verdicts = await measureStart(opened, database.url)
    return [...verdicts, ...(await measureDirect(opened, scale))]
  } finally {
    for (const world of opened.values()) await world.close()
    await database.stop()
  }
}

const measureStart = async (
  opened: ReadonlyMap<string, DemoWorld>,
  databaseUrl: string,
): Promise<readonly Verdict[]> => {
  const table = printTable(
    'Families, start and memory',
    `Median of ${starts} starts on a migrated database; memory ${idleMs / 1_000} s after the last one, without requests.`,
    toColumns('families', 'start ms', 'idle MB', 'start', 'memory'),
  )
  const all = [...opened.values()]
  const few = await measureStarts(all.slice(0, 1), databaseUrl)
  const every = await measureStarts(all, databaseUrl)
  table.row('evm', figure(few.startMs), figure(few.idleMb), '1 ×', '1 ×')
  table.row(
    `all ${opened.size}`,
    figure(every.startMs),
    figure(every.idleMb),
    times(every.startMs, few.startMs),
    times(every.idleMb, few.idleMb),
  )
  return [
    atMost('start with every family', every.startMs, { limit: maxStartMs, unit: 'ms' }),
    atMost('idle memory with every family', every.idleMb, { limit: maxIdleMb, unit: 'MB' }),
  ]
}

const measureStarts = async (chosen: readonly DemoWorld[], databaseUrl: string) => {
  const environment = { ...environmentOf(chosen), DATABASE_URL: databaseUrl }
  const startMs: number[] = []
  let idleMb = Number.NaN
  for (let count = 1; count <= starts; count++) {
    const service = await startService(environment)
    try {
      startMs.push(service.startMs)
      if (count < starts) continue
      await sleep(idleMs)
      idleMb = (readResidentMib(service.pid) * bytesPerMib) / bytesPerMb
    } finally {
      await service.stop()
    }
  }
  return {
    startMs: startMs.toSorted((left, right) => left - right)[Math.floor(starts / 2)] ?? Number.NaN,
    idleMb,
  }
}

const environmentOf = (chosen: readonly DemoWorld[]): Readonly<Record<string, string>> =>
  Object.assign({}, ...chosen.map(({ environment }) => environment))

/** One paid transaction, verified again and again: verify consumes nothing. */
const measureDirect = async (
  opened: ReadonlyMap<string, DemoWorld>,
  scale: Scale,
): Promise<readonly Verdict[]> => {
  const table = printTable(
    'Families, verify of exact-direct',
    'Node and service share the machine; over 4 connections.',
    toColumns('family', 'verified/s', 'p50 ms', 'p99 ms', 'CPU ms/req'),
  )
  const service = await startService(environmentOf([...opened.values()]))
  const verdicts: Verdict[] = []
  try {
    for (const family of Object.keys(directWorlds)) {
      const body = JSON.stringify(await opened.get(family)?.signPayment())
      const load = await measureLoad(service, {
        path: '/verify',
        bodies: Array.from({ length: maxBodies }, () => body),
        connections: 4,
        limitMs: verifyMs * scale,
      })
      table.row(
        family,
        ...[load.perSecond, load.p50Ms, load.p99Ms, load.cpuMsPerRequest].map((value) => figure(value)),
      )
      verdicts.push(noFailures(`${family}, verify`, load))
    }
    return verdicts
  } finally {
    await service.stop()
  }
}
