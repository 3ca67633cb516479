import { generatePrivateKey } from 'viem/accounts'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { z } from 'zod'
import { settleResult, verifyResult } from '../../src/protocol/results.js'
import { streamAnswer, streamOpened, streamPage, streamUpdated } from '../../src/protocol/streams.js'
import { careEnvironment } from '../chains/evm/channels/careScene.js'
import {
  type Channel,
  type ChannelBody,
  type ChannelPlan,
  callSettlement,
  depositBody,
  depositOnChain,
  openChannelOnChain,
  planChannel,
  refundBody,
  refundOrder,
  signedDeposit,
  voucherBody,
  wireVoucher,
  withRequirements,
} from '../chains/evm/channels/channelScene.js'
import { readChannel } from '../support/evm/channels.js'
import { type LocalChain, startLocalChain } from '../support/evm/localChain.js'
import { createEoa } from '../support/evm/wallets.js'
import { pollUntil } from '../support/pollUntil.js'
import { useTestDatabase } from '../support/postgres.js'
import { startService, type TestService } from '../support/service.js'

/* What payers try with a channel that pays a stream, beside the stream. */

type Headers = Readonly<Record<string, string>>

const database = useTestDatabase()
const privateKey = generatePrivateKey()
const custodian = { ...createEoa(privateKey), privateKey }
const settlesPerRecipient = 3
let chain: LocalChain
let service: TestService
let ada: Headers
let eve: Headers

const ask = async (path: string, body?: unknown, headers: Headers = ada): Promise<unknown> => {
  const response = await fetch(`${service.url}${path}`, {
    headers: { ...(body === undefined ? {} : { 'content-type': 'application/json' }), ...headers },
    ...(body === undefined ? {} : { method: 'POST', body: JSON.stringify(body) }),
  })
  return await response.json()
}

const register = async (email: string): Promise<Headers> => {
  const registered = z.object({ apiKey: z.string() })
  const { apiKey } = registered.parse(await ask('/register', { email, projectName: 'meter' }, {}))
  return { authorization: `Bearer ${apiKey}` }
}

beforeAll(async () => {
  chain = await startLocalChain({ facilitatorCount: 1, hasBatchSettlement: true })
  const environment = {
    ...careEnvironment(chain, custodian),
    SETTLES_PER_RECIPIENT_PER_HOUR: `${settlesPerRecipient}`,
  }
  service = await startService({ chain, databaseUrl: database.url, environment })
  ada = await register('ada@example.com')
  eve = await register('eve@example.com')
})
afterAll(async () => {
  await service.close()
  await chain.stop()
})

const delegated = (plan: ChannelPlan = {}, amount = 10_000n): Promise<Channel> =>
  openChannelOnChain(chain, { authorizer: custodian, ...plan }, amount)
/** Requirements of the stream have its maximum. */
const open = async (channel: Channel, ceiling: bigint, changes: object = {}) => {
  const body = withRequirements(await voucherBody(channel, ceiling), { amount: '10000' })
  return streamOpened.parse(await ask('/v1/stream/open', { ...body, ...changes })).stream
}
const use = async (streamId: string, amount: bigint, changes: object = {}) =>
  streamUpdated.parse(await ask('/v1/stream/update', { streamId, amount: `${amount}`, ...changes }))
const close = async (streamId: string) =>
  streamAnswer.parse(await ask('/v1/stream/close', { streamId })).stream
const read = async (id: string) => streamUpdated.parse(await ask(`/v1/stream/${id}`)).stream
const verify = async (body: ChannelBody, headers: Headers = ada) =>
  verifyResult.parse(await ask('/verify', body, headers))
const settle = async (body: ChannelBody, headers: Headers = ada) =>
  settleResult.parse(await ask('/settle', body, headers))
/** As if the last look at the chain were long ago. */
const lookAgain = (id: string) =>
  database.pool.query("update streams set checked_at = now() - interval '10 minutes' where id = $1", [id])

const unsigned = { claimAuthorizerSignature: undefined, refundAuthorizerSignature: undefined }
const taken = { errorReason: 'duplicate_settlement', success: false }
const invalid = { invalidReason: 'duplicate_settlement', isValid: false }

describe('a payer whose channel pays an open stream', () => {
  it('is returned nothing by a refund until the stream is closed', async () => {
    const channel = await delegated()
    const { id } = await open(channel, 5_000n)
    await use(id, 3_000n)
    // As the published server does for its client: it knows nothing of the stream.
    expect(await verify(await refundBody(channel, 0n))).toMatchObject(invalid)
    expect(await settle(await refundOrder(channel, { amount: 10_000n }, unsigned))).toMatchObject(taken)
    expect(await readChannel(chain, channel.config)).toMatchObject({ balance: 10_000n })
    expect(await close(id)).toMatchObject({ status: 'closed', settledAmount: '3000' })
    expect(await settle(await refundOrder(channel, { amount: 10_000n }, unsigned))).toMatchObject({
      success: true,
      amount: '7000',
    })
  })

  it('is returned nothing by a refund that the receiver signs for another request, while the close waits', async () => {
    const channel = await openChannelOnChain(chain, {}, 10_000n)
    const { id } = await open(channel, 5_000n)
    await use(id, 3_000n)
    expect(await close(id)).toMatchObject({ status: 'closing' })
    expect(await settle(await refundOrder(channel, { amount: 10_000n }))).toMatchObject(taken)
    expect(await readChannel(chain, channel.config)).toMatchObject({ balance: 10_000n })
  })

  it('opens none while a refund that it asked for before is under way', async () => {
    const channel = await delegated()
    await verify(await voucherBody(channel, 1_000n))
    await chain.control.setAutomine(false)
    const refund = settle(await refundOrder(channel, { amount: 1_000n }, unsigned))
    await pollUntil(async () => {
      const { rowCount } = await database.pool.query(
        "select from settlements where authorization_id like $1 and state = 'pending'",
        [`%/refund/${channel.id}/%`],
      )
      return rowCount === 1
    }, 'the refund to be sent')
    // Backed also beside what the refund can take.
    const opened = ask('/v1/stream/open', await voucherBody(channel, 9_000n))
    const answer = await opened.finally(() => chain.control.setAutomine(true))
    expect(answer).toMatchObject({ code: 'PAYMENT_REFUSED', errorReason: 'duplicate_settlement' })
    await chain.control.mine()
    expect(await refund).toMatchObject({ success: true, amount: '1000' })
    const { streams } = streamPage.parse(await ask('/v1/stream?status=active'))
    expect(streams.map(({ channel: paying }) => paying?.channelId)).not.toContain(channel.id)
  })

  it('buys nothing else with the same vouchers, also beside a deposit', async () => {
    const channel = await delegated()
    const { id } = await open(channel, 5_000n)
    expect(await verify(await voucherBody(channel, 1_000n))).toMatchObject(invalid)
    const deposit = await depositBody(channel, { amount: 4_000n, ceiling: 1_000n })
    expect(await verify(deposit)).toMatchObject(invalid)
    // The receiver may have it made: it only adds to what the stream can use.
    expect(await settle(deposit)).toMatchObject({ success: true })
    await use(id, 10_000n, { voucher: await wireVoucher(channel, 13_000n) })
    expect(await close(id)).toMatchObject({ status: 'closed' })
    expect(await verify(await voucherBody(channel, 14_000n))).toMatchObject({ isValid: true })
  })

  it('pays others that know nothing of the stream as before', async () => {
    const channel = await openChannelOnChain(chain, {}, 10_000n)
    await open(channel, 5_000n)
    expect(await verify(await voucherBody(channel, 1_000n), eve)).toMatchObject({ isValid: true })
  })
})

describe('a payer that was charged by vouchers before', () => {
  it('pays for a stream what was charged beside them, though nothing is claimed yet', async () => {
    const channel = await delegated()
    for (let ceiling = 1_000n; ceiling <= 5_000n; ceiling += 1_000n) {
      expect(await verify(await voucherBody(channel, ceiling))).toMatchObject({ isValid: true })
    }
    const stream = await open(channel, 6_000n)
    expect(stream.channel).toMatchObject({ baseline: '4000', ceiling: '6000' })
    await use(stream.id, 2_000n)
    expect(await close(stream.id)).toMatchObject({ status: 'closed', settledAmount: '2000' })
    expect(await readChannel(chain, channel.config)).toMatchObject({ totalClaimed: 6_000n })
  })
})

describe('a payer whose stream is given up, because it is not worth its gas', () => {
  it('owes it beside the next one', async () => {
    const channel = await delegated()
    const { id } = await open(channel, 5_000n)
    await use(id, 300n)
    expect(await close(id)).toMatchObject({ status: 'closing', errorReason: 'payment_below_minimum' })
    await database.pool.query('update streams set settles_until = now(), attend_at = now() where id = $1', [
      id,
    ])
    await pollUntil(async () => (await read(id)).status === 'failed', 'the stream to be given up')
    const next = await open(channel, 5_000n)
    expect(next.channel).toMatchObject({ baseline: '300' })
    await use(next.id, 2_000n)
    expect(await close(next.id)).toMatchObject({ status: 'closed', settledAmount: '2000' })
    expect(await readChannel(chain, channel.config)).toMatchObject({ totalClaimed: 2_300n })
  })
})

describe('a deposit that a reorg takes back under an open stream', () => {
  it('ends the stream, and pays what was used once it is made again', async () => {
    const channel = await delegated()
    const { id } = await open(channel, 5_000n)
    await use(id, 3_000n)
    await chain.control.reorg(1)
    expect(await readChannel(chain, channel.config)).toMatchObject({ balance: 0n })
    await lookAgain(id)
    await pollUntil(async () => (await read(id)).status === 'closing', 'the stream to be closed')
    expect(await verify(await voucherBody(channel, 4_000n))).toMatchObject({ isValid: false })
    await depositOnChain(channel, 10_000n)
    await pollUntil(async () => (await read(id)).status === 'closed', 'the stream to be claimed')
    expect(await readChannel(chain, channel.config)).toMatchObject({ totalClaimed: 3_000n })
  })
})

describe('a payer that withdraws while the limits of the account are used up', () => {
  it('has paid for its stream before the withdrawal can be executed', async () => {
    const payTo = createEoa().address
    const channel = await delegated({ payTo })
    const { id } = await open(channel, 5_000n)
    await use(id, 3_000n)
    for (let count = 0; count <= settlesPerRecipient; count += 1) {
      const other = planChannel(chain, { authorizer: custodian, payTo })
      await chain.mint(other.wallet.address, 10_000n)
      await ask('/settle', await signedDeposit(other))
    }
    await callSettlement(channel, channel.config.payer, 'initiateWithdraw', [channel.config, 10_000n])
    await lookAgain(id)
    await pollUntil(async () => (await read(id)).status === 'closed', 'the stream to be claimed')
    expect(await readChannel(chain, channel.config)).toMatchObject({ totalClaimed: 3_000n })
  })
})
