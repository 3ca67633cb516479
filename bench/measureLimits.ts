import { Redis } from 'ioredis'
import { startTestRedis, type TestRedis } from '../test/support/redis.js'
import { openConnection } from './connection.js'
import type { Contender } from './launch.js'
import type { Scale } from './options.js'
import { readCpuMs } from './readUsage.js'
import { startLimited } from './startLimited.js'
import { figure, printTable, toColumns } from './table.js'
import { atMost, type Verdict } from './verdict.js'

interface Route {
  readonly name: string
  readonly request: Buffer
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

const routes: readonly Route[] = [
  { name: 'GET /tiers, 1 window', request: toRequest('GET /tiers') },
  // Refused for its body, after the limits: what is measured is the difference.
  { name: 'POST /settle, 2 windows', request: toRequest('POST /settle', '{}') },
]

/** Measures what limits add to a request: our service on Redis and in memory beside itself without any. */
export const measureLimits = async (scale: Scale): Promise<readonly Verdict[]> => {
  const redis = await startTestRedis()
  if (redis === null) return [{ text: 'limits: not measured, there is no redis-server', isMet: false }]
  const contenders = [
    await startLimited({ name: 'no limits', environment: { RATE_LIMITS: 'off' } }),
    await startLimited({ name: 'in memory', environment: {} }),
    await startLimited({ name: 'on Redis', environment: { REDIS_URL: redis.url } }),
  ]
  try {
    return await compare(contenders, redis, scale)
  } finally {
    await Promise.all(contenders.map((contender) => contender.stop()))
    await redis.stop()
  }
}

const compare = async (
  contenders: readonly Contender[],
  server: TestRedis,
  scale: Scale,
): Promise<readonly Verdict[]> => {
  const table = printTable(
    'Limits',
    `${connections} connections, the median of ${rounds} rounds in turn. CPU is that of the facilitator’s process; ` +
      'round trips are commands that Redis counted.',
    [
      { name: 'route', width: 24 },
      ...toColumns('limits', 'req/s', 'p50 ms', 'CPU µs/req', 'added µs', 'round trips/req'),
    ],
  )
  const verdicts: Verdict[] = []
  const observer = new Redis(server.url)
  for (const route of routes) {
    const results = await measureInTurn(contenders, { route, observer, scale })
    const without = results[0]?.cpuUs ?? Number.NaN
    for (const [index, { perSecond, p50Ms, cpuUs, commands }] of results.entries()) {
      const { name = '' } = contenders[index] ?? {}
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
      if (name !== 'on Redis') continue
      verdicts.push(atMost(`limits on Redis, ${route.name}, CPU added`, added, { limit: 60, unit: 'µs' }))
      verdicts.push(
        atMost(`limits on Redis, ${route.name}, round trips`, commands, { limit: 1, unit: 'a request' }),
      )
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

/** In turn, so that whatever else the machine does meets all of them. */
const measureInTurn = async (
  contenders: readonly Contender[],
  { route, observer, scale }: Turn,
): Promise<readonly Round[]> => {
  const count = Math.ceil(requestsPerRound * scale)
  for (const contender of contenders) await measureRound(contender, { route, observer, count })
  const measured = contenders.map((contender) => ({ contender, results: [] as Round[] }))
  for (let round = 0; round < rounds; round += 1) {
    for (const { contender, results } of measured) {
      results.push(await measureRound(contender, { route, observer, count }))
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
  { url, pid }: Contender,
  { route, observer, count }: { readonly route: Route; readonly observer: Redis; readonly count: number },
): Promise<Round> => {
  const target = new URL(url)
  const opened = await Promise.all(
    Array.from({ length: connections }, () => openConnection(target, answerDeadlineMs)),
  )
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
        await connection.exchange(route.request)
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

/** Scripts that were called, whole or by their hash; what they call in turn is no round trip. */
const countDraws = async (observer: Redis): Promise<number> => {
  const calls = [...(await observer.info('commandstats')).matchAll(/^cmdstat_eval(?:sha)?:calls=(\d+)/gm)]
  return calls.reduce((sum, [, count]) => sum + Number(count), 0)
}

const median = (values: readonly number[]): number =>
  [...values].sort((left, right) => left - right)[Math.floor(values.length / 2)] ?? Number.NaN

function toRequest(line: string, body = ''): Buffer {
  const head = [`${line} HTTP/1.1`, 'host: 127.0.0.1']
  if (body !== '') head.push('content-type: application/json', `content-length: ${body.length}`)
  return Buffer.from([...head, '', body].join('\r\n'))
}
