import { existsSync } from 'node:fs'
import { connect } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { z } from 'zod'
import { openPool } from '../src/stores/postgres/database/pool.js'
import { worlds } from '../test/demo/worlds/index.js'
import { randomAddress } from '../test/support/evm/authorization.js'
import { startLocalChain } from '../test/support/evm/localChain.js'
import { exactPayment } from '../test/support/evm/payment.js'
import {
  createMoodyWallet,
  deployWallet,
  getHostileFactory,
  type PayerWallet,
} from '../test/support/evm/wallets.js'
import { startService, startWithDefaults } from './contenders.js'
import { type Attack, attacks } from './hostile/attacks.js'
import type { Scene } from './hostile/flood.js'
import { startWorker, type Worker } from './hostile/worker.js'
import type { Contender } from './launch.js'
import { fillCatalogue } from './measureDiscovery.js'
import type { Options, Scale } from './options.js'
import { readCpuMs, readResidentMib } from './readUsage.js'
import { registerAccounts } from './registerAccounts.js'
import { createPayers, signPayments } from './signPayments.js'
import { type Database, startDatabase } from './startDatabase.js'
import { figure, printTable, type Table, toColumns } from './table.js'
import type { Verdict } from './verdict.js'

const attackMs = 10_000
const minAttackMs = 3_000
const perSecond = 50
const warmUp = { requests: 800, perSecond: 200 }
const payers = 500
const defaultApiKeys = 5
const memoryEveryMs = 50
/** Loopback addresses of their own, as two clients of an operator have. */
const goodAddress = '127.10.0.1'
const hostileAddress = '127.66.0.1'
/** What an attack enters is compiled before it is measured, as in an instance that has run for a while. */
const warmUpAttack = { address: '127.67.0.1', forMs: 1_000, pauseMs: 2_000 }

const captions = [
  `One caller with an API key verifies ${perSecond} distinct payments a second, alone and beside one attacker; each has a process and a`,
  'loopback address of its own. Every attack meets a new instance with default limits, which met it for 1 s before; attackers have the',
  'lowest priority, because their machine would be another one. CPU and memory (RSS) are those of the service; CPU ms is what it took more',
  'than alone, for each hostile request.',
] as const

/** A good caller beside each attack: `--attack <name>` chooses, `--quick` takes 3 s for each instead of 10 s. */
export const measureHostile = async (
  scale: Scale,
  { attacks: names }: Pick<Options, 'attacks'>,
): Promise<readonly Verdict[]> => {
  const chosen = chooseAttacks(names)
  await requireLoopbackAddresses()
  const stage = await openStage(chosen)
  try {
    const table = printTable('Hostile callers', captions.join('\n'), [
      { name: 'attack', width: 16 },
      { name: 'per s', width: 7 },
      { name: 'answered', width: 26 },
      { name: 'alone p50, p99', width: 14 },
      { name: 'beside p50, p99', width: 15 },
      ...toColumns('refused', 'MiB before', 'MiB peak', 'CPU ms', 'goal'),
    ])
    const verdicts: Verdict[] = []
    for (const attack of chosen) verdicts.push(await measureAttack(stage, attack, { scale, table }))
    return verdicts
  } finally {
    await stage.close()
  }
}

const chooseAttacks = (names: readonly string[]): readonly Attack[] => {
  const unknown = names.filter((name) => !attacks.some((attack) => attack.name === name))
  if (unknown.length === 0)
    return names.length === 0 ? attacks : attacks.filter(({ name }) => names.includes(name))
  const list = attacks.map(({ name, what }) => `  ${name.padEnd(16)} ${what}`)
  throw new Error(`no such attack: ${unknown.join(', ')}; there are\n${list.join('\n')}`)
}

/** Linux has all of 127.0.0.0/8; other systems have one address of it. */
const requireLoopbackAddresses = async (): Promise<void> => {
  for (const localAddress of [goodAddress, hostileAddress, warmUpAttack.address]) {
    const code = await new Promise((resolve) => {
      // No program listens on port 1: the connection is refused after the address was bound.
      const socket = connect({ host: '127.0.0.1', port: 1, localAddress })
      socket.once('error', (error) => resolve('code' in error ? error.code : null))
      socket.once('connect', () => resolve(null))
      socket.once('close', () => socket.destroy())
    })
    if (code === 'EADDRNOTAVAIL' || code === 'EINVAL') {
      throw new Error(`hostile needs the loopback address ${localAddress}, which only Linux has by itself`)
    }
  }
}

interface Stage {
  /** With accounts; copied for each attack. */
  readonly database: Database
  readonly environment: (attack: Attack) => Readonly<Record<string, string>>
  readonly goodKey: string
  /** Without the service's address. */
  readonly scene: (attack: Attack) => Promise<Omit<Scene, 'url'>>
  sign(count: number): Promise<readonly string[]>
  close(): Promise<void>
}

const encryption = { KEY_ENCRYPTION_SECRET: 'k'.repeat(32) }

const openStage = async (chosen: readonly Attack[]): Promise<Stage> => {
  const opened: (() => Promise<void>)[] = []
  const close = async (): Promise<void> => {
    for (const stop of opened.reverse()) await stop()
  }
  try {
    const database = await startDatabase()
    opened.push(database.stop)
    const [goodKey = '', ...hostileKeys] = await prepareAccounts(database, countApiKeys(chosen) + 1)
    const chain = await startLocalChain({ facilitatorCount: 1 })
    opened.push(chain.stop)
    const [facilitator] = chain.facilitators
    if (facilitator === undefined) throw new Error('keys are missing')
    const burning = await deployWallet(chain, await createMoodyWallet(chain, 'burnsGas'))
    const evm = {
      network: chain.network,
      token: { ...chain.token },
      burningWallet: burning.address,
      burningFactory: await getHostileFactory(chain),
      facilitator: facilitator.address,
    }
    const wallets = await createPayers(chain, payers)
    const families = chosen.some(({ needs }) => needs === 'families') ? await openFamilies(opened) : []
    const own = {
      EVM_PRIVATE_KEY: facilitator.privateKey,
      EVM_RPC_URL_84532: chain.url,
      // The slow host of an attack is on this machine.
      WEBHOOK_ALLOW: 'loopback',
      ...encryption,
    }
    const ofFamilies = Object.assign({}, ...families.map(([, { environment }]) => environment))
    const ownPayment = async () => await exactPayment({ chain, wallet: firstOf(wallets) })
    return {
      database,
      goodKey,
      environment: ({ needs }) => (needs === 'families' ? { ...ofFamilies, ...own } : own),
      scene: async ({ needs, apiKeys = defaultApiKeys }) => {
        const payments: Record<string, unknown> = { evm: await ownPayment() }
        if (needs === 'families') {
          for (const [family, world] of families) payments[family] = await world.signPayment()
        }
        return { address: hostileAddress, apiKeys: hostileKeys.slice(0, apiKeys), payments, evm }
      },
      sign: async (count) => {
        const payments = await signPayments(chain, wallets, { count, payTo: randomAddress() })
        return payments.map(({ body }) => body)
      },
      close,
    }
  } catch (error) {
    await close()
    throw error
  }
}

const firstOf = ([first]: readonly PayerWallet[]): PayerWallet => {
  if (first === undefined) throw new Error('There are no payers')
  return first
}

const countApiKeys = (chosen: readonly Attack[]): number =>
  Math.max(...chosen.map(({ apiKeys = defaultApiKeys }) => apiKeys))

const openFamilies = async (opened: (() => Promise<void>)[]) => {
  const families = []
  for (const [family, open] of Object.entries(worlds)) {
    if (family === 'evm') continue
    const world = await open()
    opened.push(world.close)
    families.push([family, world] as const)
  }
  return families
}

/** The first account verifies for an honest shop; the others have the tier that everybody gets. */
const prepareAccounts = async (database: Database, count: number): Promise<readonly string[]> => {
  const service = await startService({
    DATABASE_URL: database.url,
    SANDBOX: 'false',
    RATE_LIMITS: 'off',
    ...encryption,
  })
  try {
    const apiKeys = await registerAccounts(service.url, count)
    await query(
      database,
      "update accounts set tier = 'enterprise', is_granted = true where email = 'bench0@bench0.example'",
    )
    return apiKeys
  } finally {
    await service.stop()
  }
}

type Pool = ReturnType<typeof openPool>

const query = async (database: Database, work: string | ((pool: Pool) => Promise<void>)): Promise<void> => {
  const pool = openPool({ url: database.url, maxConnections: 1, onError: () => undefined })
  try {
    if (typeof work === 'string') await pool.query(work)
    else await work(pool)
  } finally {
    await pool.end()
  }
}

const goodResult = z.object({
  latenciesMs: z.array(z.number()),
  refusals: z.record(z.string(), z.number()),
})
const hostileResult = z.object({
  seconds: z.number(),
  outcomes: z.record(z.string(), z.number()),
  failure: z.string().nullable(),
})

interface Run {
  readonly scale: Scale
  readonly table: Table
}

const measureAttack = async (stage: Stage, attack: Attack, { scale, table }: Run): Promise<Verdict> => {
  const database = await stage.database.copy()
  const started: { stop(): Promise<void> }[] = [database]
  const keep = <Part extends { stop(): Promise<void> }>(part: Part): Part => {
    started.push(part)
    return part
  }
  try {
    if (attack.needs === 'catalogue') await query(database, fillCatalogue)
    const environment = { DATABASE_URL: database.url, ...stage.environment(attack) }
    const service = keep(await startWithDefaults(environment))
    const target = attack.needs === 'other instance' ? keep(await startWithDefaults({})) : service
    const good = keep(await startWorker('goodCaller.ts', 0))
    const caller = { stage, service, good }
    await verifySteadily(caller, warmUp.requests, warmUp.perSecond)
    const scene = { ...(await stage.scene(attack)), url: target.url }
    await meetOnce(attack, scene)
    const count = (Math.max(minAttackMs, attackMs * scale) / 1_000) * perSecond
    const alone = await verifySteadily(caller, count, perSecond)
    const idleMib = readResidentMib(service.pid)
    const memory = watchMemory(service)
    const attacker = keep(await startWorker('attacker.ts', 19))
    await attacker.ask({ order: 'begin', attack: attack.name, scene })
    const beside = await verifySteadily(caller, count, perSecond)
    const hostile = hostileResult.parse(await attacker.ask({ order: 'end' }))
    const result = { alone, beside, hostile, idleMib, peakMib: memory.stop() }
    return report(attack, result, { table, isRunning: existsSync(`/proc/${service.pid}`) })
  } finally {
    for (const part of started.reverse()) await part.stop()
  }
}

const meetOnce = async (attack: Attack, scene: Scene): Promise<void> => {
  const attacker = await startWorker('attacker.ts', 19)
  await attacker.ask({
    order: 'begin',
    attack: attack.name,
    scene: { ...scene, address: warmUpAttack.address },
  })
  await sleep(warmUpAttack.forMs)
  await attacker.stop()
  await sleep(warmUpAttack.pauseMs)
}

interface Caller {
  readonly stage: Stage
  readonly service: Contender
  readonly good: Worker
}

interface Calls {
  readonly p50Ms: number
  readonly p99Ms: number
  readonly refusals: Readonly<Record<string, number>>
  /** CPU of the service in a second of the calls. */
  readonly cpuMsPerSecond: number
}

const verifySteadily = async (
  { stage, service, good }: Caller,
  count: number,
  rate: number,
): Promise<Calls> => {
  const bodies = await stage.sign(count)
  const cpuBefore = readCpuMs(service.pid)
  const begun = performance.now()
  const { url } = service
  const order = { url, address: goodAddress, apiKey: stage.goodKey, bodies, perSecond: rate }
  const { latenciesMs, refusals } = goodResult.parse(await good.ask(order))
  const ordered = latenciesMs.toSorted((left, right) => left - right)
  const at = (share: number): number =>
    ordered[Math.min(ordered.length - 1, Math.floor(ordered.length * share))] ?? Number.NaN
  const seconds = (performance.now() - begun) / 1_000
  const cpuMsPerSecond = (readCpuMs(service.pid) - cpuBefore) / seconds
  return { p50Ms: at(0.5), p99Ms: at(0.99), refusals, cpuMsPerSecond }
}

/** Sampled; `stop` returns the highest value. */
const watchMemory = ({ pid }: Contender) => {
  let peakMib = readResidentMib(pid)
  const timer = setInterval(() => {
    const mib = readResidentMib(pid)
    if (mib > peakMib) peakMib = mib
  }, memoryEveryMs)
  return {
    stop: () => {
      clearInterval(timer)
      return peakMib
    },
  }
}

interface Result {
  readonly alone: Calls
  readonly beside: Calls
  readonly hostile: z.infer<typeof hostileResult>
  readonly idleMib: number
  readonly peakMib: number
}

const report = (
  { name }: Attack,
  { alone, beside, hostile, idleMib, peakMib }: Result,
  { table, isRunning }: { readonly table: Table; readonly isRunning: boolean },
): Verdict => {
  const { outcomes, seconds, failure } = hostile
  const requests = sum(outcomes)
  const refused = sum(beside.refusals)
  const limitMs = alone.p99Ms * 1.05 + 5
  const isMet = isRunning && failure === null && refused === 0 && beside.p99Ms <= limitMs
  const cpuMs = ((beside.cpuMsPerSecond - alone.cpuMsPerSecond) * seconds) / requests
  table.row(
    ...[name, figure(requests / seconds), describeShares(outcomes)],
    `${figure(alone.p50Ms)}, ${figure(alone.p99Ms)}`,
    `${figure(beside.p50Ms)}, ${figure(beside.p99Ms)}`,
    ...[String(refused), figure(idleMib), figure(peakMib), figure(Math.max(0, cpuMs))],
    isMet ? 'met' : 'NOT MET',
  )
  const notes = [
    `hostile, ${name}: p99 of a good caller ${figure(beside.p99Ms)} ms, alone ${figure(alone.p99Ms)} ms, ${refused} refused ` +
      `(target: at most ${figure(limitMs)} ms, none)`,
    ...Object.entries(beside.refusals).map(([reason, count]) => `${count} × ${reason}`),
    ...(isRunning ? [] : ['the service ended']),
    ...(failure === null ? [] : [`the attack failed: ${failure}`]),
  ]
  return { text: notes.join('; '), isMet }
}

const sum = (counts: Readonly<Record<string, number>>): number =>
  Object.values(counts).reduce((total, count) => total + count, 0)

const maxShares = 3

/** Such as `429 97 %, 200 3 %`. */
const describeShares = (outcomes: Readonly<Record<string, number>>): string => {
  const total = sum(outcomes)
  return Object.entries(outcomes)
    .toSorted(([, left], [, right]) => right - left)
    .slice(0, maxShares)
    .map(([outcome, count]) => `${outcome} ${figure((100 * count) / total)} %`)
    .join(', ')
}
