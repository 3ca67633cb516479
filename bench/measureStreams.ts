import { z } from 'zod'
import { streamOpened } from '../src/protocol/streams.js'
import { openPool } from '../src/stores/postgres/database/pool.js'
import { unixNow } from '../test/support/evm/authorization.js'
import { createEoa } from '../test/support/evm/wallets.js'
import { sandboxUpto } from '../test/support/sandbox/streams.js'
import { startLimited } from './contenders.js'
import type { Contender } from './launch.js'
import type { Scale } from './options.js'
import { readCpuMs } from './readUsage.js'
import { runLoad } from './runLoad.js'
import { startDatabase } from './startDatabase.js'
import { type LoadSummary, summarizeLoad } from './summarizeLoad.js'
import { figure, printTable, times, toColumns } from './table.js'
import { atLeast, noFailures, type Verdict } from './verdict.js'

const streamCount = 1_000
/** Open streams of one payer are limited. */
const payerCount = 10
const connectionCounts = [16, 64, 200] as const
const updatesPerRow = 24_000
const limitMs = 20_000
const commitsMs = 4_000
const maximum = 900_000_000n
// Pool size of the service.
const maxConnections = 10

interface OpenStream {
  readonly id: string
  readonly token: string
}

/** Updates of open streams over HTTP on one instance, beside commits of one row each on the same database. */
export const measureStreams = async (scale: Scale): Promise<readonly Verdict[]> => {
  const database = await startDatabase({ isSandbox: true })
  const pool = openPool({ url: database.url, maxConnections, onError: () => undefined })
  const contender = await startLimited({
    name: 'quittance',
    environment: { DATABASE_URL: database.url, SANDBOX: 'true', RATE_LIMITS: 'off' },
  })
  try {
    const streams = await openStreams(contender)
    const table = printTable(
      'Streams',
      `Updates of ${streamCount} open streams in turn, each durable before it is answered.`,
      toColumns('what', 'connections', 'per s', 'p50 ms', 'p99 ms', 'CPU ms'),
    )
    const verdicts: Verdict[] = []
    const commits = await countCommits(pool, streams, commitsMs * scale)
    table.row('commits', String(maxConnections), figure(commits), '', '', '')
    let sequence = 0
    let best = 0
    for (const connections of connectionCounts) {
      const rounds = Math.max(1, Math.ceil((updatesPerRow * scale) / streamCount))
      const measured = await update(contender, streams, { connections, rounds, after: sequence })
      sequence += rounds
      best = Math.max(best, measured.perSecond)
      table.row(
        ...['updates', String(connections), figure(measured.perSecond)],
        ...[figure(measured.p50Ms), figure(measured.p99Ms), figure(measured.cpuMs)],
      )
      const missing = await findMissing(pool, measured)
      verdicts.push(noFailures(`updates of streams at ${connections} connections`, measured, missing))
    }
    table.row('ratio', '', times(best, commits), '', '', '')
    return [...verdicts, atLeast('updates of 1,000 open streams', best, { limit: 3_000, unit: 'updates/s' })]
  } finally {
    await contender.stop()
    await pool.end()
    await database.stop()
  }
}

const openStreams = async ({ url }: Contender): Promise<readonly OpenStream[]> => {
  const payers = Array.from({ length: payerCount }, () => createEoa())
  const openFor = async (wallet: (typeof payers)[number]): Promise<readonly OpenStream[]> => {
    const opened: OpenStream[] = []
    while (opened.length < streamCount / payerCount) {
      const payment = await sandboxUpto({
        wallet,
        amount: maximum,
        permit: { deadline: String(unixNow() + 86_400) },
      })
      const response = await fetch(`${url}/v1/stream/open`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify(payment),
      })
      const { stream, streamToken = '' } = streamOpened.parse(await response.json())
      opened.push({ id: stream.id, token: streamToken })
    }
    return opened
  }
  return (await Promise.all(payers.map(openFor))).flat()
}

interface Measured extends LoadSummary {
  readonly cpuMs: number
  /** The highest amount of each stream that was answered. */
  readonly acknowledged: ReadonlyMap<string, bigint>
}

const update = async (
  { url, pid }: Contender,
  streams: readonly OpenStream[],
  load: { readonly connections: number; readonly rounds: number; readonly after: number },
): Promise<Measured> => {
  const { connections, rounds, after } = load
  const planned = Array.from({ length: rounds }, (_, round) =>
    streams.map(({ id: streamId, token }) => {
      const sequence = after + round + 1
      return { streamId, token, amount: String(sequence * 10), sequence }
    }),
  ).flat()
  const cpuBefore = readCpuMs(pid)
  const exchanges = await runLoad({
    url: `${url}/v1/stream/update`,
    bodies: planned.map((body) => JSON.stringify(body)),
    connections,
    limitMs,
  })
  const cpuMs = (readCpuMs(pid) - cpuBefore) / exchanges.length
  const acknowledged = new Map<string, bigint>()
  for (const { index, answer } of exchanges) {
    const sent = planned[index]
    if (sent === undefined || !isUpdated(answer)) continue
    const amount = BigInt(sent.amount)
    if (amount > (acknowledged.get(sent.streamId) ?? 0n)) acknowledged.set(sent.streamId, amount)
  }
  return { ...summarizeLoad(exchanges, isUpdated), cpuMs, acknowledged }
}

const isUpdated = (answer: string): boolean => answer.includes('"canContinue":true')

type Pool = ReturnType<typeof openPool>

const stored = z.object({ id: z.string(), amount: z.string() })

const findMissing = async (pool: Pool, { acknowledged }: Measured): Promise<readonly string[]> => {
  const { rows } = await pool.query('select id, amount::text from streams')
  const amounts = new Map(rows.map((row) => stored.parse(row)).map(({ id, amount }) => [id, BigInt(amount)]))
  const missing = [...acknowledged].filter(([id, amount]) => amounts.get(id) !== amount)
  return missing.length === 0 ? [] : [`${missing.length} streams do not have what was acknowledged`]
}

/** One row a transaction, as many at once as the service has connections. */
const countCommits = async (pool: Pool, streams: readonly OpenStream[], limitMs: number): Promise<number> => {
  const startedAt = performance.now()
  let commits = 0
  const commitInTurn = async (): Promise<void> => {
    while (performance.now() - startedAt < limitMs) {
      const stream = streams[commits % streams.length]
      commits += 1
      await pool.query('update streams set updates = updates where id = $1', [stream?.id])
    }
  }
  await Promise.all(Array.from({ length: maxConnections }, commitInTurn))
  return commits / ((performance.now() - startedAt) / 1_000)
}
