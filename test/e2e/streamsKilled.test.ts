import { afterAll, beforeAll, expect, it } from 'vitest'
import { z } from 'zod'
import { streamOpened } from '../../src/protocol/streams.js'
import { unixNow } from '../support/evm/authorization.js'
import { createEoa } from '../support/evm/wallets.js'
import { type FacilitatorProcess, startFacilitator } from '../support/facilitator.js'
import { holdCloses } from '../support/holdCloses.js'
import { killInstances, untilKilledHasEnded } from '../support/instances.js'
import { isLongRun } from '../support/longRun.js'
import { pollUntil } from '../support/pollUntil.js'
import { createTestDatabase, type TestDatabase } from '../support/postgres.js'
import { reservePort } from '../support/reservePort.js'
import { sandboxUpto } from '../support/sandbox/streams.js'

const streamCount = isLongRun ? 1_000 : 100
/** Open authorizations of one payer are limited. */
const payerCount = 10
const connections = 32

interface Metered {
  readonly id: string
  readonly token: string
  /** The highest amount that was answered, and the highest that was sent. */
  acknowledged: bigint
  sent: bigint
}

let database: TestDatabase
let service: FacilitatorProcess
let environment: Readonly<Record<string, string>>
beforeAll(async () => {
  database = await createTestDatabase({ isSandbox: true })
  environment = {
    DATABASE_URL: database.url,
    SANDBOX: 'true',
    VERIFY_DEADLINE_SECONDS: '60',
    RATE_LIMITS: 'off',
    LOG_LEVEL: 'error',
    KEY_ENCRYPTION_SECRET: 'instances-of-a-test-share-this-secret',
    HOST: '127.0.0.1',
    PORT: String(await reservePort()),
  }
  service = await start()
})
afterAll(async () => {
  await service.kill()
  await database.drop()
})

const start = () => startFacilitator(environment, () => undefined)

const post = async (path: string, body: unknown, headers: Readonly<Record<string, string>> = {}) => {
  const response = await fetch(`${service.url}${path}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    body: JSON.stringify(body),
  })
  const json: unknown = await response.json()
  return { status: response.status, json }
}

const inTurn = async (count: number, work: () => Promise<void>): Promise<void> => {
  let left = count
  const worker = async () => {
    while (left > 0) {
      left -= 1
      await work()
    }
  }
  await Promise.all(Array.from({ length: connections }, worker))
}

const openAll = async (): Promise<Metered[]> => {
  const wallets = Array.from({ length: payerCount }, () => createEoa())
  const streams: Metered[] = []
  let next = 0
  await inTurn(streamCount, async () => {
    const wallet = wallets[next++ % payerCount] ?? createEoa()
    const payment = await sandboxUpto({ wallet, permit: { deadline: String(unixNow() + 3_600) } })
    const { json } = await post('/v1/stream/open', payment)
    const { stream, streamToken = '' } = streamOpened.parse(json)
    streams.push({ id: stream.id, token: streamToken, acknowledged: 0n, sent: 0n })
  })
  return streams
}

/** Updates streams in turn until the process is killed under them. */
const updateUntilKilled = async (streams: readonly Metered[]): Promise<void> => {
  let next = 0
  const worker = async () => {
    for (;;) {
      const stream = streams[next++ % streams.length]
      if (stream === undefined) return
      const amount = stream.sent + BigInt(1 + (next % 7))
      stream.sent = amount
      try {
        const { status } = await post(
          '/v1/stream/update',
          { streamId: stream.id, amount: String(amount) },
          { 'x-stream-token': stream.token },
        )
        expect(status).toBe(200)
        if (amount > stream.acknowledged) stream.acknowledged = amount
      } catch (error) {
        if (error instanceof TypeError) return
        throw error
      }
    }
  }
  await Promise.all(Array.from({ length: connections }, worker))
}

const storedRow = z.object({
  id: z.string(),
  state: z.string(),
  amount: z.coerce.bigint(),
  settled_amount: z.coerce.bigint().nullable(),
})

const readAll = async () => {
  const { rows } = await database
    .pool()
    .query('select id, state, amount::text, settled_amount::text from streams')
  return rows.map((row) => storedRow.parse(row))
}

const showOpen = async () =>
  (
    await database.pool().query(
      `select s.id, s.state, s.reason, s.attempts, s.attend_at, now(), p.state as payment, p.error_reason
       from streams s left join settlements p on p.fingerprint = 'stream:' || s.id where s.state <> 'closed' limit 5`,
    )
  ).rows

const countClosed = async () => (await readAll()).filter(({ state }) => state === 'closed').length

const makeDue = (streams: readonly Metered[]) =>
  database
    .pool()
    .query('update streams set closes_at = now() where id = any($1)', [streams.map(({ id }) => id)])

/** What the killed process owned is free at once. */
const restart = async () => {
  await untilKilledHasEnded(database.pool())
  await killInstances(database.pool())
  await database.pool().query(`update streams set attend_at = now() where state = 'closing'`)
  service = await start()
}

it(`a kill -9 loses no answered update of ${streamCount} open streams, and each settles once, exactly`, async () => {
  const streams = await openAll()
  const updating = updateUntilKilled(streams)
  await pollUntil(() => streams.every(({ acknowledged }) => acknowledged > 1n), 'updates of every stream')
  await service.kill()
  await updating
  // Updates that it had sent are committed until then.
  await untilKilledHasEnded(database.pool())

  const atKill = new Map((await readAll()).map(({ id, amount }) => [id, amount]))
  for (const { id, acknowledged, sent } of streams) {
    const amount = atKill.get(id) ?? -1n
    expect(amount).toBeGreaterThanOrEqual(acknowledged)
    // What was committed and not answered any more.
    expect(amount).toBeLessThanOrEqual(sent)
  }
  expect((await readAll()).every(({ state }) => state === 'active')).toBe(true)

  const half = streamCount / 2
  await makeDue(streams.slice(0, half))
  await restart()
  await pollUntil(
    async () => (await countClosed()) === half,
    'the job to close half of the streams',
    showOpen,
  )
  // Once more, while it settles: payments are made that no stream knows of yet.
  const held = await holdCloses(database)
  await makeDue(streams.slice(half))
  await pollUntil(async () => (await held.countWaiting()) > 0, 'the job to close the other half')
  await service.kill()
  await held.release()
  expect(await countClosed()).toBeLessThan(streamCount)
  await restart()
  await pollUntil(async () => (await countClosed()) === streamCount, 'every stream to be closed', showOpen)

  const used = new Map((await readAll()).map((row) => [row.id, row]))
  const { rows: settlements } = await database.pool().query(
    `select fingerprint, count(*)::int as count, min(coalesce(settled_amount, amount))::text as amount
     from settlements where state = 'confirmed' group by fingerprint`,
  )
  const settled = new Map(
    settlements
      .map((row) =>
        z.object({ fingerprint: z.string(), count: z.number(), amount: z.coerce.bigint() }).parse(row),
      )
      .map(({ fingerprint, ...figures }) => [fingerprint, figures]),
  )
  expect(settled.size).toBe(streamCount)
  for (const { id } of streams) {
    const amount = atKill.get(id)
    expect(used.get(id)).toMatchObject({ amount, settled_amount: amount })
    expect(settled.get(`stream:${id}`)).toEqual({ count: 1, amount })
  }
  const { rows: open } = await database
    .pool()
    .query(`select from settlements where state in ('claimed', 'pending')`)
  expect(open).toEqual([])
}, 300_000)
