import { generatePrivateKey } from 'viem/accounts'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { z } from 'zod'
import { streamOpened } from '../../src/protocol/streams.js'
import {
  type Channel,
  openChannelOnChain,
  voucherBody,
  wireVoucher,
} from '../chains/evm/channels/channelScene.js'
import { environmentFor } from '../support/core.js'
import { readChannel } from '../support/evm/channels.js'
import { type LocalChain, startLocalChain } from '../support/evm/localChain.js'
import { createEoa } from '../support/evm/wallets.js'
import { type FacilitatorProcess, startFacilitator } from '../support/facilitator.js'
import { holdCloses } from '../support/holdCloses.js'
import { killInstances, untilKilledHasEnded } from '../support/instances.js'
import { pollUntil } from '../support/pollUntil.js'
import { createTestDatabase, type TestDatabase } from '../support/postgres.js'
import { reservePort } from '../support/reservePort.js'

const streamCount = 8

interface Metered {
  readonly channel: Channel
  readonly id: string
  /** The highest amount that was answered, and the highest that was sent. */
  acknowledged: bigint
  sent: bigint
}

const custodianKey = generatePrivateKey()
let chain: LocalChain
let database: TestDatabase
let service: FacilitatorProcess
let environment: Readonly<Record<string, string>>
let authorization: string

const start = () => startFacilitator(environment, () => undefined)

const post = async (path: string, body: unknown) => {
  const response = await fetch(`${service.url}${path}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', authorization },
    body: JSON.stringify(body),
  })
  const json: unknown = await response.json()
  return { status: response.status, json }
}

beforeAll(async () => {
  chain = await startLocalChain({ facilitatorCount: 1, hasBatchSettlement: true })
  database = await createTestDatabase()
  environment = environmentFor({
    chain,
    databaseUrl: database.url,
    environment: {
      EVM_CHANNEL_AUTHORIZER_KEY: custodianKey,
      LOG_LEVEL: 'error',
      HOST: '127.0.0.1',
      PORT: String(await reservePort()),
    },
  })
  service = await start()
  authorization = ''
  const { json } = await post('/register', { email: 'ada@example.com', projectName: 'meter' })
  authorization = `Bearer ${z.object({ apiKey: z.string() }).parse(json).apiKey}`
})
afterAll(async () => {
  await service.kill()
  await database.drop()
  await chain.stop()
})

const openOne = async (): Promise<Metered> => {
  const authorizer = createEoa(custodianKey)
  const channel = await openChannelOnChain(chain, { authorizer, price: 1_000_000n }, 1_000_000n)
  const { json } = await post('/v1/stream/open', await voucherBody(channel, 1n))
  return { channel, id: streamOpened.parse(json).stream.id, acknowledged: 0n, sent: 0n }
}

/** Each update has a voucher of its own, until the process is killed under them. */
const updateUntilKilled = async (stream: Metered): Promise<void> => {
  for (;;) {
    const amount = stream.sent + 100n
    const voucher = await wireVoucher(stream.channel, amount)
    stream.sent = amount
    try {
      const answer = await post('/v1/stream/update', { streamId: stream.id, amount: `${amount}`, voucher })
      expect(answer).toMatchObject({ status: 200 })
      stream.acknowledged = amount
    } catch (error) {
      if (error instanceof TypeError) return
      throw error
    }
  }
}

const storedRow = z.object({
  id: z.string(),
  state: z.string(),
  amount: z.coerce.bigint(),
  ceiling: z.coerce.bigint(),
  voucher: z.string(),
})

const readAll = async () => {
  const { rows } = await database
    .pool()
    .query('select id, state, amount::text, ceiling::text, voucher from streams')
  return rows.map((row) => storedRow.parse(row))
}
const countClosed = async () => (await readAll()).filter(({ state }) => state === 'closed').length

/** What the killed process owned is free at once. */
const restart = async () => {
  await untilKilledHasEnded(database.pool())
  await killInstances(database.pool())
  await database.pool().query(`update streams set attend_at = now() where state = 'closing'`)
  service = await start()
}

it('a kill -9 loses no answered voucher of a stream over a channel, and each is claimed once, exactly', async () => {
  const streams: Metered[] = []
  for (let count = 0; count < streamCount; count += 1) streams.push(await openOne())
  const updating = Promise.all(streams.map(updateUntilKilled))
  await pollUntil(() => streams.every(({ acknowledged }) => acknowledged > 100n), 'updates of every stream')
  await service.kill()
  await updating
  // Updates that it had sent are committed until then.
  await untilKilledHasEnded(database.pool())

  const atKill = new Map((await readAll()).map((row) => [row.id, row]))
  for (const { id, channel, acknowledged, sent } of streams) {
    const { amount, ceiling, voucher } = storedRow.parse(atKill.get(id))
    expect(amount).toBeGreaterThanOrEqual(acknowledged)
    // What was committed and not answered any more.
    expect(amount).toBeLessThanOrEqual(sent)
    // The voucher was written with the amount.
    expect(ceiling).toBe(amount)
    expect((await wireVoucher(channel, ceiling)).signature).toBe(voucher)
  }

  const held = await holdCloses(database)
  await database.pool().query('update streams set closes_at = now()')
  await restart()
  await pollUntil(async () => (await held.countWaiting()) > 0, 'the job to close streams')
  await service.kill()
  await held.release()
  expect(await countClosed()).toBeLessThan(streamCount)
  await restart()
  await pollUntil(async () => (await countClosed()) === streamCount, 'every stream to be closed')

  for (const { id, channel } of streams) {
    const { amount } = storedRow.parse(atKill.get(id))
    expect(await readChannel(chain, channel.config)).toMatchObject({ totalClaimed: amount })
    const { rows } = await database
      .pool()
      .query("select id from settlements where fingerprint = $1 and state = 'confirmed'", [`stream:${id}`])
    expect(rows).toHaveLength(1)
  }
}, 300_000)
