import { setTimeout as sleep } from 'node:timers/promises'
import { startChaosDatabase } from '../test/chaos/database.js'
import { randomAddress } from '../test/support/evm/authorization.js'
import { startLocalChain } from '../test/support/evm/localChain.js'
import { startTestRedis } from '../test/support/redis.js'
import { overTcp, startTcpProxy } from '../test/support/tcpProxy.js'
import { compareWithChain } from './compareWithChain.js'
import { startOurs } from './contenders.js'
import type { Scale } from './options.js'
import { type OutageClients, type Reply, startOutageClients } from './outageClients.js'
import { createPayers, signPayments } from './signPayments.js'
import { figure, printTable, toColumns } from './table.js'
import type { Verdict } from './verdict.js'

const payers = 64
const payments = 6_000
const quietMs = 5_000
const downMs = 10_000
const backMs = 8_000

interface Episode {
  readonly event: string
  readonly ms: number
  readonly begin?: () => Promise<void>
}

export const measureOutage = async (scale: Scale): Promise<readonly Verdict[]> => {
  const redis = await startTestRedis()
  if (redis === null) return [{ text: 'outage: not measured, there is no redis-server', isMet: false }]
  const chain = await startLocalChain({ facilitatorCount: 1 })
  const database = await startChaosDatabase()
  const proxy = await startTcpProxy(() => Number(new URL(database.url).port))
  const [key] = chain.facilitators
  if (key === undefined) throw new Error('keys are missing')
  const ours = await startOurs(
    { rpcUrl: chain.url, key, environment: { REDIS_URL: redis.url } },
    overTcp(database.url, proxy.port),
  )
  try {
    const payTo = randomAddress()
    await chain.mint(payTo, 1n)
    const wallets = await createPayers(chain, payers)
    const signed = await signPayments(chain, wallets, { count: payments * scale, payTo })
    const [toVerify] = await signPayments(chain, await createPayers(chain, 1), { count: 1, payTo })
    const clients = startOutageClients(ours.url, {
      verifyBody: toVerify?.body ?? '',
      settleBodies: signed.map(({ body }) => body),
    })
    let restarted: Promise<void> = Promise.resolve()
    const events = await play([
      { event: 'no fault', ms: quietMs },
      { event: 'Redis is stopped', ms: downMs, begin: redis.stop },
      { event: 'Redis is back', ms: backMs, begin: redis.restart },
      {
        event: 'Postgres is stopped',
        ms: downMs,
        begin: async () => {
          restarted = database.restart('fast', downMs)
        },
      },
      { event: 'Postgres is back', ms: backMs, begin: () => restarted },
    ])
    await clients.finish()
    printSeconds(clients.replies, events)
    const exchanges = [...clients.lastAnswers].map(([index, answer]) => ({
      ...{ index, answer, latencyMs: 0, endedAtMs: 0 },
    }))
    const mismatches = await compareWithChain(chain, {
      ...{ payTo, balanceBefore: 1n },
      payments: signed,
      measurement: { exchanges },
    })
    return judge(clients, mismatches)
  } finally {
    await ours.stop()
    await proxy.close()
    await database.stop()
    await redis.stop()
    await chain.stop()
  }
}

interface Event {
  readonly text: string
  readonly atMs: number
}

const play = async (episodes: readonly Episode[]): Promise<readonly Event[]> => {
  const begun = performance.now()
  const events: Event[] = []
  for (const { event, ms, begin } of episodes) {
    await begin?.()
    events.push({ text: event, atMs: performance.now() - begun })
    await sleep(ms)
  }
  return events
}

const printSeconds = (replies: readonly Reply[], events: readonly Event[]): void => {
  const table = printTable(
    'Outage',
    '4 clients verify, 8 settle with an Idempotency-Key and retry after 250 ms, 1 requests /tiers. For each second:\n' +
      'responses, the slowest of them, and other results.',
    [
      { name: 'second', width: 6 },
      ...toColumns('verified', 'slowest', 'settled', 'slowest', 'tiers', 'slowest'),
      { name: 'other results', width: 44 },
      { name: 'event', width: 20 },
    ],
  )
  const last = Math.max(...replies.map(({ endedAtMs }) => endedAtMs))
  for (let second = 0; second * 1_000 <= last; second += 1) {
    const isNow = (atMs: number) => Math.floor(atMs / 1_000) === second
    const now = replies.filter(({ endedAtMs }) => isNow(endedAtMs))
    table.row(
      String(second),
      ...columnsOf(now, 'verify', 'valid'),
      ...columnsOf(now, 'settle', 'settled'),
      ...columnsOf(now, 'tiers', 'answered'),
      countOthers(now),
      events
        .filter(({ atMs }) => isNow(atMs))
        .map(({ text }) => text)
        .join('; '),
    )
  }
}

const columnsOf = (replies: readonly Reply[], stream: Reply['stream'], usual: string): readonly string[] => {
  const own = replies.filter((reply) => reply.stream === stream)
  const slowest = Math.max(0, ...own.map(({ latencyMs }) => latencyMs))
  return [String(own.filter(({ outcome }) => outcome === usual).length), `${figure(slowest)} ms`]
}

const usualOutcomes = ['valid', 'settled', 'answered']

const countOthers = (replies: readonly Reply[]): string => {
  const counts = new Map<string, number>()
  for (const { stream, outcome } of replies) {
    if (usualOutcomes.includes(outcome)) continue
    const name = `${stream}: ${outcome}`
    counts.set(name, (counts.get(name) ?? 0) + 1)
  }
  return [...counts].map(([name, count]) => `${count} × ${name}`).join(', ')
}

const judge = ({ replies, lastAnswers }: OutageClients, mismatches: readonly string[]) => {
  const slowest = Math.max(...replies.map(({ latencyMs }) => latencyMs))
  const unanswered = replies.filter(({ outcome }) => outcome === 'none').length
  return [
    {
      text: `outage: responses to ${lastAnswers.size} payments match the chain: ${mismatches.join('; ') || 'yes'}`,
      isMet: mismatches.length === 0,
    },
    {
      text: `outage: requests without a response: ${unanswered}, slowest response after ${figure(slowest)} ms`,
      isMet: unanswered === 0,
    },
  ]
}
