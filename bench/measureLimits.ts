import { Redis } from 'ioredis'
import { openPool } from '../src/stores/postgres/database/pool.js'
import { startTestRedis, type TestRedis } from '../test/support/redis.js'
import { openConnection } from './connection.js'
import { startLimited } from './contenders.js'
import type { Contender } from './launch.js'
import type { Scale } from './options.js'
import { readCpuMs } from './readUsage.js'
import { registerAccounts } from './registerAccounts.js'
import { startDatabase } from './startDatabase.js'
import { median } from './summarizeLoad.js'
import { figure, printTable, toColumns } from './table.js'
import { atMost, type Verdict } from './verdict.js'

interface Route {
  readonly name: string
  readonly line: string
  readonly body: string
}

interface Setup {
  readonly name: string
  readonly contender: Contender
  /** Used in turn, so that no account exceeds its tier; empty: anonymous requests. */
  readonly apiKeys: readonly string[]
}

interface Round {
  readonly perSecond: number
  readonly p50Ms: number
  readonly cpuUs: number
  readonly commands: number
}

const connections = 16
const requestsPerRound = 12_000
const rounds = 7
const answerDeadlineMs = 30_000
// A run exceeds the rate of one account, even in the largest tier.
const accounts = 40
const keyAndLimits = 'key and limits on Redis'

const routes: readonly Route[] = [
  { name: 'GET /tiers, 1 window', line: 'GET /tiers', body: '' },
  // Rejected because of its body, after authentication and limits; only the difference matters.
  { name: 'POST /settle, 2 windows', line: 'POST /settle', body: '{}' },
]

/** Measures the cost of keys and limits per request, against the service without them. */
export const measureLimits = async (scale: Scale): Promise<readonly Verdict[]> => {
  const redis = await startTestRedis()
  if (redis === null) return [{ text: 'limits: not measured, there is no redis-server', isMet: false }]
  const database = await startDatabase()
  const started: Contender[] = []
  const start = async (name: string, environment: Readonly<Record<string, string>>) => {
    const shared = { DATABASE_URL: database.url, SANDBOX: 'false', KEY_ENCRYPTION_SECRET: 'k'.repeat(32) }
    const contender = await startLimited({ name, environment: { ...shared, ...environment } })
    started.push(contender)
    return contender
  }
  try {
    const free = await start('no limits', { RATE_LIMITS: 'off' })
    const inMemory = await start('in memory', {})
    const onRedis = await start('on Redis', { REDIS_URL: redis.url })
    const apiKeys = await registerAccounts(free.url, accounts)
    const pool = openPool({ url: database.url, maxConnections: 1, onError: () => undefined })
    await pool.query("update accounts set tier = 'enterprise', is_granted = true")
    await pool.end()
    const setups = [
      { name: 'none', contender: free, apiKeys: [] },
      { name: 'key', contender: free, apiKeys },
      { name: 'limits in memory', contender: inMemory, apiKeys: [] },
      { name: 'limits on Redis', contender: onRedis, apiKeys: [] },
      { name: keyAndLimits, contender: onRedis, apiKeys },
    ]
    return await compare(setups, redis, scale)
  } finally {
    await Promise.all(started.map((contender) => contender.stop()))
    await database.stop()
    await redis.stop()
  }
}

const compare = async (
  setups: readonly Setup[],
  server: TestRedis,
  scale: Scale,
): Promise<readonly Verdict[]> => {
  const table = printTable(
    'Keys and limits',
    `${connections} connections, the median of ${rounds} rounds in turn. CPU is that of the facilitator’s process; ` +
      'round trips are commands that Redis counted.',
    [
      { name: 'route', width: 24 },
      { name: 'with', width: 24 },
      ...toColumns('req/s', 'p50 ms', 'CPU µs/req', 'added µs', 'round trips/req'),
    ],
  )
  const verdicts: Verdict[] = []
  const observer = new Redis(server.url)
  for (const route of routes) {
    const results = await measureInTurn(setups, { route, observer, scale })
    const without = results[0]?.cpuUs ?? Number.NaN
    for (const [index, { perSecond, p50Ms, cpuUs, commands }] of results.entries()) {
      const { name = '' } = setups[index] ?? {}
      const added = cpuUs - without
      table.row(
        route.name,
        name,
        figure(perSecond),
        figure(p50Ms),
        figure(cpuUs),
        index === 0 ? '' : figure(added),
        figure(commands),
      )
      if (name !== keyAndLimits) continue
      verdicts.push(atMost(`${name}, ${route.name}, CPU added`, added, { limit: 60, unit: 'µs' }))
      verdicts.push(atMost(`${name}, ${route.name}, round trips`, commands, { limit: 1, unit: 'a request' }))
    }
  }
  observer.disconnect()
  return verdicts
}

interface Turn {
  readonly route: Route
  readonly observer: Redis
  readonly scale: Scale
}

/** Interleaved, so that other load on the machine affects all setups. */
const measureInTurn = async (
  setups: readonly Setup[],
  { route, observer, scale }: Turn,
): Promise<readonly Round[]> => {
  const count = Math.ceil(requestsPerRound * scale)
  for (const setup of setups) await measureRound(setup, { route, observer, count })
  const measured = setups.map((setup) => ({ setup, results: [] as Round[] }))
  for (let round = 0; round < rounds; round += 1) {
    for (const { setup, results } of measured) {
      results.push(await measureRound(setup, { route, observer, count }))
    }
  }
  return measured.map(({ results }) => ({
    perSecond: median(results.map(({ perSecond }) => perSecond)),
    p50Ms: median(results.map(({ p50Ms }) => p50Ms)),
    cpuUs: median(results.map(({ cpuUs }) => cpuUs)),
    commands: median(results.map(({ commands }) => commands)),
  }))
}

const measureRound = async (
  { contender: { url, pid }, apiKeys }: Setup,
  { route, observer, count }: { readonly route: Route; readonly observer: Redis; readonly count: number },
): Promise<Round> => {
  const target = new URL(url)
  const opened = await Promise.all(
    Array.from({ length: connections }, () => openConnection(target, answerDeadlineMs)),
  )
  const requests = toRequests(route, apiKeys)
  const latencies: number[] = []
  let left = count
  const commandsBefore = await countDraws(observer)
  const cpuBefore = readCpuMs(pid)
  const begun = performance.now()
  await Promise.all(
    opened.map(async (connection) => {
      while (left > 0) {
        left -= 1
        const sentAt = performance.now()
        await connection.exchange(requests[left % requests.length] ?? Buffer.alloc(0))
        latencies.push(performance.now() - sentAt)
      }
      connection.close()
    }),
  )
  const ms = performance.now() - begun
  const cpuMs = readCpuMs(pid) - cpuBefore
  return {
    perSecond: (count * 1_000) / ms,
    p50Ms: median(latencies),
    cpuUs: (cpuMs * 1_000) / count,
    commands: ((await countDraws(observer)) - commandsBefore) / count,
  }
}

/** Calls of EVAL and EVALSHA; commands within a script are not round trips. */
const countDraws = async (observer: Redis): Promise<number> => {
  const calls = [...(await observer.info('commandstats')).matchAll(/^cmdstat_eval(?:sha)?:calls=(\d+)/gm)]
  return calls.reduce((sum, [, count]) => sum + Number(count), 0)
}

const toRequests = ({ line, body }: Route, apiKeys: readonly string[]): readonly Buffer[] => {
  const headers = apiKeys.length === 0 ? [[]] : apiKeys.map((key) => [`x-api-key: ${key}`])
  return headers.map((own) => {
    const head = [`${line} HTTP/1.1`, 'host: 127.0.0.1', ...own]
    if (body !== '') head.push('content-type: application/json', `content-length: ${body.length}`)
    return Buffer.from([...head, '', body].join('\r\n'))
  })
}
