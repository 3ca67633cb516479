import { setTimeout as sleep } from 'node:timers/promises'
import { openPool } from '../src/stores/postgres/database/pool.js'
import { randomAddress } from '../test/support/evm/authorization.js'
import { type FacilitatorKey, type LocalChain, startLocalChain } from '../test/support/evm/localChain.js'
import { startRpcProxy } from '../test/support/rpcProxy.js'
import { compareWithChain } from './compareWithChain.js'
import { startOurs } from './contenders.js'
import type { Contender } from './launch.js'
import { isSettled } from './measureLoad.js'
import type { Scale } from './options.js'
import { readCpuMs } from './readUsage.js'
import { type Exchange, runLoad } from './runLoad.js'
import { createPayers, signPayments } from './signPayments.js'
import { withParts } from './stage.js'
import { type Database, startDatabase } from './startDatabase.js'
import { summarizeLoad } from './summarizeLoad.js'
import { figure, printTable, toColumns } from './table.js'
import { atLeast, atMost, noFailures, type Verdict } from './verdict.js'

const connections = 128
const settlements = 4_000
// With fewer, instances that share the load would be measured while more of their code is not compiled yet.
const warmUpOfEach = 2_000
const limitMs = 30_000
const warmUpLimitMs = 120_000
const loadedCounts = [1, 2, 4] as const
const idleCounts = [1, 2, 4, 10] as const
const idleMs = 60_000
const settleDownMs = 75_000
// All instances together stay below what a server takes by default.
const poolSizes = { loaded: '6', idle: '2' }

interface Place {
  readonly chain: LocalChain
  readonly key: FacilitatorKey
  readonly database: Database
}

/** What instances that share a database and a key cost one another: under the same load, and without any. */
export const measureInstances = async (scale: Scale): Promise<readonly Verdict[]> => [
  ...(await measureLoaded(scale)),
  ...(await measureIdle()),
]

const withPlace = async (blockTimeSeconds: number, work: (place: Place) => Promise<void>): Promise<void> =>
  await withParts(async (keep) => {
    const database = await keep(startDatabase())
    const chain = await keep(startLocalChain({ facilitatorCount: 1 }))
    const [key] = chain.facilitators
    if (key === undefined) throw new Error('keys are missing')
    await chain.control.setAutomine(false)
    await chain.control.setBlockTime(blockTimeSeconds)
    await work({ chain, key, database })
  })

const startTogether = async (
  count: number,
  { key, database }: Place,
  { rpcUrl, poolSize }: { readonly rpcUrl: string; readonly poolSize: string },
): Promise<readonly Contender[]> =>
  // The first one migrates.
  await Array.from({ length: count }).reduce<Promise<readonly Contender[]>>(
    async (started) => [
      ...(await started),
      await startOurs(
        {
          rpcUrl,
          key,
          environment: { DATABASE_POOL_SIZE: poolSize, DATABASE_READ_POOL_SIZE: '1', LOG_LEVEL: 'error' },
        },
        database.url,
      ),
    ],
    Promise.resolve([]),
  )

const stopAll = async (instances: readonly Contender[]): Promise<void> => {
  await Promise.all(instances.map((instance) => instance.stop()))
}

const mostLoaded = Math.max(...loadedCounts)

const measureLoaded = async (scale: Scale): Promise<readonly Verdict[]> => {
  const verdicts: Verdict[] = []
  await withPlace(1, async (place) => {
    const table = printTable(
      'Instances under one load',
      `${connections} connections in equal parts, 1 s blocks, one key, one Postgres. CPU is that of all instances.`,
      toColumns('instances', 'settled/s', 'p50 ms', 'p99 ms', 'CPU ms/req', 'transactions', 'payments each'),
    )
    const payers = await createPayers(place.chain, 2 * connections)
    const runs = [
      ...loadedCounts.map((count) => ({ count, share: 1 })),
      // One that has as little to do as each of the most instances: what these cost more is the price of sharing.
      { count: 1, share: mostLoaded },
    ]
    const costs: number[] = []
    for (const { count, share } of runs) {
      const instances = await startTogether(count, place, {
        rpcUrl: place.chain.url,
        poolSize: poolSizes.loaded,
      })
      await settleOn(instances, place, {
        payers,
        count: warmUpOfEach * count,
        share,
        endsAfterMs: warmUpLimitMs,
      })
      const run = await settleOn(instances, place, {
        payers,
        count: Math.ceil((settlements * scale) / share),
        share,
      })
      await stopAll(instances)
      costs.push(run.cpuMsPerRequest)
      table.row(
        ...[
          share === 1 ? String(count) : `${count} with 1/${share}`,
          figure(run.perSecond),
          figure(run.p50Ms),
          figure(run.p99Ms),
        ],
        ...[figure(run.cpuMsPerRequest), String(run.transactions), figure(run.successes / run.transactions)],
      )
      const name = `${count} instances, settle at ${connections / share} connections`
      verdicts.push(noFailures(name, run, run.mismatches))
      if (count !== mostLoaded) continue
      const each = { limit: 25, unit: 'payments a transaction' }
      verdicts.push(atLeast(name, run.successes / run.transactions, each))
    }
    const [one = Number.NaN, , most = Number.NaN, part = Number.NaN] = costs
    const name = `${mostLoaded} instances`
    verdicts.push(
      atMost(name, most / one, { limit: 1.15, unit: '× the CPU of one instance' }),
      atMost(name, most / part, {
        limit: 1.15,
        unit: `× the CPU of one instance with 1/${mostLoaded} of the load`,
      }),
    )
  })
  return verdicts
}

const settleOn = async (
  instances: readonly Contender[],
  { chain, key }: Place,
  {
    payers,
    count,
    share,
    endsAfterMs = limitMs,
  }: {
    readonly payers: Awaited<ReturnType<typeof createPayers>>
    readonly count: number
    /** Of how many parts of the connections the instances have one. */
    readonly share: number
    readonly endsAfterMs?: number
  },
) => {
  const payTo = randomAddress()
  // The first transfer to an account costs more gas.
  await chain.mint(payTo, 1n)
  const payments = await signPayments(chain, payers, { count, payTo })
  const countSent = () => chain.client.getTransactionCount({ address: key.address })
  const readCpu = () => instances.reduce((sum, { pid }) => sum + readCpuMs(pid), 0)
  const [sentBefore, cpuBefore] = [await countSent(), readCpu()]
  const parts = await Promise.all(
    instances.map(async ({ url }, part) => {
      const own = payments.flatMap(({ body }, index) =>
        index % instances.length === part ? [{ body, index }] : [],
      )
      const exchanges = await runLoad({
        url: `${url}/settle`,
        bodies: own.map(({ body }) => body),
        connections: connections / share / instances.length,
        limitMs: endsAfterMs,
      })
      return exchanges.map((exchange): Exchange => ({ ...exchange, index: own[exchange.index]?.index ?? -1 }))
    }),
  )
  const exchanges = parts.flat()
  const cpuMs = readCpu() - cpuBefore
  const mismatches = await compareWithChain(chain, {
    payTo,
    balanceBefore: 1n,
    payments,
    measurement: { exchanges },
  })
  return {
    ...summarizeLoad(exchanges, isSettled),
    cpuMsPerRequest: cpuMs / exchanges.length,
    transactions: (await countSent()) - sentBefore,
    mismatches,
  }
}

const measureIdle = async (): Promise<readonly Verdict[]> => {
  const verdicts: Verdict[] = []
  await withPlace(2, async (place) => {
    const table = printTable(
      'Instances without requests',
      `Of all instances together, 2 s blocks, over ${idleMs / 1_000} s.`,
      toColumns('instances', 'transactions of the database/s', 'RPC calls/s', 'CPU ms/s'),
    )
    const pool = openPool({ url: place.database.url, maxConnections: 1, onError: () => undefined })
    const totals: number[] = []
    for (const count of idleCounts) {
      const proxy = await startRpcProxy(place.chain.url)
      const instances = await startTogether(count, place, { rpcUrl: proxy.url, poolSize: poolSizes.idle })
      const readCpu = () => instances.reduce((sum, { pid }) => sum + readCpuMs(pid), 0)
      const readTransactions = async () => {
        const { rows } = await pool.query<{ ended: string }>(
          'select xact_commit + xact_rollback as ended from pg_stat_database where datname = current_database()',
        )
        return Number(rows[0]?.ended)
      }
      // What they do only once; and networks count as used for a minute.
      await sleep(settleDownMs)
      proxy.clearCalls()
      const [cpuBefore, before] = [readCpu(), await readTransactions()]
      await sleep(idleMs)
      const queries = ((await readTransactions()) - before) / (idleMs / 1_000)
      const calls = proxy.calls.length / (idleMs / 1_000)
      const cpu = (readCpu() - cpuBefore) / (idleMs / 1_000)
      const methods = [...new Set(proxy.calls.map(({ method }) => method))]
      await stopAll(instances)
      await proxy.stop()
      totals.push(queries + calls)
      table.row(String(count), figure(queries), figure(calls), figure(cpu))
      console.log(`calls: ${methods.map((method) => `${method} ${proxy.count(method)}`).join(', ')}`)
    }
    await pool.end()
    const [one = Number.NaN, most = Number.NaN] = [totals.at(0), totals.at(-1)]
    const others = Math.max(...idleCounts) - 1
    const bound = { limit: 1.5, unit: '× the queries and calls of one' }
    verdicts.push(
      atMost(`${idleCounts.at(-1)} idle instances`, most / one, bound),
      atMost('one idle instance', one, { limit: 8, unit: 'queries and calls a second' }),
      atMost('each further idle instance', (most - one) / others, {
        limit: 1,
        unit: 'query or call a second',
      }),
    )
  })
  return verdicts
}
