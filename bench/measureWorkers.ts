import { setTimeout as sleep } from 'node:timers/promises'
import { randomAddress } from '../test/support/evm/authorization.js'
import { type FacilitatorKey, type LocalChain, startLocalChain } from '../test/support/evm/localChain.js'
import { startOurs } from './contenders.js'
import type { Contender } from './launch.js'
import { isSettled, isValid } from './measureLoad.js'
import type { Scale } from './options.js'
import { listChildren, readCpuMs, readMemory } from './readUsage.js'
import { runLoad } from './runLoad.js'
import { createPayers, signPayments } from './signPayments.js'
import { withParts } from './stage.js'
import { startDatabase } from './startDatabase.js'
import { median, summarizeLoad } from './summarizeLoad.js'
import { figure, printTable, toColumns } from './table.js'
import { atLeast, atMost, noFailures, type Verdict } from './verdict.js'

const workerCounts = [1, 2] as const
const loads = [
  { path: '/verify', connections: 64, count: 4_000, isGood: isValid },
  { path: '/settle', connections: 128, count: 2_000, isGood: isSettled },
] as const
// Each round of one service has a round of the other beside it, so that both meet the same other work of the machine.
const rounds = 5
// Of each worker. V8 compiles on for many thousands of requests, and a round without most of that costs half: services are
// warm once a round of warm-up costs nearly as much as the one before.
const warmUpOfEach = 4_000
const warmUpRounds = 4
const warmShare = 0.9
const limitMs = 120_000
// All workers have started, and the first rounds of their jobs are over.
const settleDownMs = 30_000

type Load = (typeof loads)[number]

/** A service, and the processes that answer for it: its workers, or itself. */
interface Service {
  readonly contender: Contender
  readonly workers: readonly number[]
}

/** CPU of one request in ms, in one round. */
interface Cost {
  readonly requests: number
  readonly failures: number
  readonly supervisorMs: number
  /** Of each worker, per request of all. */
  readonly workersMs: readonly number[]
}

/** What a second process costs and brings: memory without requests, and CPU under the load that one process has as well. */
export const measureWorkers = async (scale: Scale): Promise<readonly Verdict[]> => {
  const verdicts: Verdict[] = []
  await withParts(async (keep) => {
    const chain = await keep(startLocalChain({ facilitatorCount: workerCounts.length }))
    await chain.control.setAutomine(false)
    await chain.control.setBlockTime(1)
    const services: Service[] = []
    for (const [at, count] of workerCounts.entries()) {
      const database = await keep(startDatabase())
      const contender = await keep(
        startWith(chain.facilitators[at], { chain, count, databaseUrl: database.url }),
      )
      await sleep(settleDownMs)
      services.push({ contender, workers: count === 1 ? [contender.pid] : listChildren(contender.pid) })
    }
    verdicts.push(printIdle(services))
    verdicts.push(...(await measureLoads(services, chain, scale)))
  })
  return verdicts
}

const startWith = async (
  key: FacilitatorKey | undefined,
  {
    chain,
    count,
    databaseUrl,
  }: { readonly chain: LocalChain; readonly count: number; readonly databaseUrl: string },
): Promise<Contender> => {
  if (key === undefined) throw new Error('keys are missing')
  return await startOurs({ rpcUrl: chain.url, key, environment: { WORKERS: String(count) } }, databaseUrl)
}

const printIdle = (services: readonly Service[]): Verdict => {
  const table = printTable(
    'Memory of workers without requests',
    'MiB. Private is what the end of a process gives back; PSS is that and its part of what it shares with others.',
    toColumns('WORKERS', 'process   ', 'RSS', 'PSS', 'private'),
  )
  let lastMib = Number.NaN
  for (const { contender, workers } of services) {
    const supervisor = workers.includes(contender.pid) ? [] : [['supervisor', contender.pid] as const]
    for (const [name, pid] of [
      ...supervisor,
      ...workers.map((id, at) => [`worker ${at + 1}`, id] as const),
    ]) {
      const { residentMib, proportionalMib, privateMib } = readMemory(pid)
      table.row(String(workers.length), name, ...[residentMib, proportionalMib, privateMib].map(figure))
      lastMib = privateMib
    }
  }
  return atMost('idle second worker', lastMib, { limit: 60, unit: 'MiB of private memory' })
}

const measureLoads = async (
  services: readonly Service[],
  chain: LocalChain,
  scale: Scale,
): Promise<readonly Verdict[]> => {
  const table = printTable(
    'Workers under one load',
    `CPU ms of a request. Gain: what two workers answer on two free processors, by what one answers on one: that of the one
worker / that of the busier processor, which has the busiest worker and at least half of all. The median of ${rounds} pairs of
rounds. Chain, database and clients are elsewhere: their CPU does not count.`,
    toColumns(
      'request',
      'WORKERS',
      'sent',
      'failures',
      'all processes',
      'supervisor',
      'workers        ',
      'gain',
    ),
  )
  const verdicts: Verdict[] = []
  for (const load of loads) {
    const costs: Cost[][] = services.map(() => [])
    for (const service of services) {
      await warmUp(service, chain, load)
    }
    const count = Math.max(2 * load.connections, Math.ceil(load.count * scale))
    for (let round = 0; round < rounds; round += 1) {
      for (const [at, service] of services.entries()) {
        costs[at]?.push(await runRound(service, chain, { load, count }))
      }
    }
    const [one, two] = costs.map(sum)
    if (one === undefined || two === undefined) throw new Error('services are missing')
    const gain = median(listGains(costs))
    for (const cost of [one, two]) {
      table.row(
        ...[load.path, String(cost.workersMs.length), String(cost.requests)],
        ...[
          String(cost.failures),
          figure(total(cost)),
          figure(cost.supervisorMs),
          cost.workersMs.map(figure).join(' + '),
        ],
        cost === two ? `${figure(gain)} ×` : '',
      )
    }
    for (const { workersMs, requests: sent, failures } of [one, two]) {
      verdicts.push(noFailures(`${load.path}, WORKERS=${workersMs.length}`, { sent, failures }))
    }
    verdicts.push(
      atLeast(`${load.path}: two workers on two processors`, gain, { limit: 1.8, unit: '× one worker' }),
      atMost(`${load.path}: the supervisor`, two.supervisorMs / total(two), {
        limit: 0.02,
        unit: 'of the CPU',
      }),
    )
  }
  return verdicts
}

const warmUp = async (service: Service, chain: LocalChain, load: Load): Promise<void> => {
  let before = Number.POSITIVE_INFINITY
  for (let round = 0; round < warmUpRounds; round += 1) {
    const spent = total(
      await runRound(service, chain, { load, count: warmUpOfEach * service.workers.length }),
    )
    if (spent > before * warmShare) return
    before = spent
  }
}

/** Of each round of one worker and the round of two beside it, which met the same other work of the machine. */
const listGains = ([ones = [], twos = []]: readonly (readonly Cost[])[]): readonly number[] =>
  ones.flatMap((one, round) => twos.slice(round, round + 1).map((two) => total(one) / busierProcessor(two)))

/** Two processors share what three processes do: neither has less than half, whichever worker was busier. */
const busierProcessor = (cost: Cost): number => Math.max(...cost.workersMs, total(cost) / 2)

const total = ({ supervisorMs, workersMs }: Cost): number =>
  workersMs.reduce((all, each) => all + each, supervisorMs)

/** Weighted by requests. */
const sum = (costs: readonly Cost[]): Cost => {
  const requests = costs.reduce((all, cost) => all + cost.requests, 0)
  const weigh = (find: (cost: Cost) => number): number =>
    costs.reduce((all, cost) => all + (find(cost) * cost.requests) / requests, 0)
  return {
    requests,
    failures: costs.reduce((all, cost) => all + cost.failures, 0),
    supervisorMs: weigh(({ supervisorMs }) => supervisorMs),
    workersMs: (costs[0]?.workersMs ?? []).map((_, at) =>
      weigh(({ workersMs }) => workersMs[at] ?? Number.NaN),
    ),
  }
}

const runRound = async (
  { contender, workers }: Service,
  chain: LocalChain,
  { load, count }: { readonly load: Load; readonly count: number },
): Promise<Cost> => {
  const { path, connections, isGood } = load
  const payTo = randomAddress()
  // The first transfer to an account costs more gas.
  await chain.mint(payTo, 1n)
  const payments = await signPayments(chain, await createPayers(chain, count), { count, payTo })
  const read = () => [contender.pid, ...workers].map(readCpuMs)
  const before = read()
  const exchanges = await runLoad({
    url: `${contender.url}${path}`,
    bodies: payments.map(({ body }) => body),
    connections,
    limitMs,
  })
  const after = read()
  const [ownMs = 0, ...workersMs] = after.map((ms, at) => (ms - (before[at] ?? 0)) / exchanges.length)
  const supervisorMs = workers.includes(contender.pid) ? 0 : ownMs
  const { sent, failures } = summarizeLoad(exchanges, isGood)
  return { requests: sent, failures, supervisorMs, workersMs }
}
