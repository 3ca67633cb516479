import type { Hex } from 'viem'
import { generatePrivateKey } from 'viem/accounts'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { z } from 'zod'
import { settleResult } from '../../src/protocol/results.js'
import { streamAnswer, streamOpened, streamPage, streamUpdated } from '../../src/protocol/streams.js'
import { eventPage } from '../../src/protocol/webhooks.js'
import {
  type Channel,
  type ChannelPlan,
  callSettlement,
  claimBody,
  depositBody,
  depositOnChain,
  openChannelOnChain,
  planChannel,
  prefixed,
  refundBody,
  rowOf,
  sweepBody,
  voucherBody,
  wireVoucher,
} from '../chains/evm/channels/channelScene.js'
import { batchSettlementAddress, channelIdOf, readChannel, signVoucher } from '../support/evm/channels.js'
import { type LocalChain, startLocalChain } from '../support/evm/localChain.js'
import { createEoa, createSoladyWallet, deployWallet } from '../support/evm/wallets.js'
import { pollUntil } from '../support/pollUntil.js'
import { useTestDatabase } from '../support/postgres.js'
import { startService, type TestService } from '../support/service.js'

const createKeyedWallet = () => {
  const privateKey = generatePrivateKey()
  return { ...createEoa(privateKey), privateKey }
}

type Headers = Readonly<Record<string, string>>

const database = useTestDatabase()
const poor = useTestDatabase()
/** Signs for receivers that delegate it. */
const custodian = createKeyedWallet()
let chain: LocalChain
let service: TestService
let second: TestService
let ada: Headers
let eve: Headers

const ask = async (path: string, body?: unknown, headers: Headers = {}, at = service) => {
  const response = await fetch(`${at.url}${path}`, {
    headers: { ...(body === undefined ? {} : { 'content-type': 'application/json' }), ...headers },
    ...(body === undefined ? {} : { method: 'POST', body: JSON.stringify(body) }),
  })
  const json: unknown = await response.json()
  return { status: response.status, json }
}

const register = async (email: string, at = service): Promise<Headers> => {
  const { json } = await ask('/register', { email, projectName: 'meter' }, {}, at)
  return { authorization: `Bearer ${z.object({ apiKey: z.string() }).parse(json).apiKey}` }
}

beforeAll(async () => {
  chain = await startLocalChain({ facilitatorCount: 1, hasBatchSettlement: true })
  const environment = { EVM_CHANNEL_AUTHORIZER_KEY: custodian.privateKey }
  service = await startService({ chain, databaseUrl: database.url, environment })
  second = await startService({ chain, databaseUrl: database.url, environment })
  ada = await register('ada@example.com')
  eve = await register('eve@example.com')
})
afterAll(async () => {
  await second.close()
  await service.close()
  await chain.stop()
})

/** Requirements with the maximum of the stream. */
const channelFor = (plan: ChannelPlan = {}, amount = 10_000n): Promise<Channel> =>
  openChannelOnChain(chain, { price: 10_000n, ...plan }, amount)

const openBody = async (channel: Channel, ceiling: bigint, changes: object = {}) => ({
  ...(await voucherBody(channel, ceiling)),
  ...changes,
})
const open = async (channel: Channel, ceiling: bigint, changes: object = {}, at = service) => {
  const { json } = await ask('/v1/stream/open', await openBody(channel, ceiling, changes), ada, at)
  return streamOpened.parse(json)
}
const update = (body: object, headers: Headers = ada, at = service) =>
  ask('/v1/stream/update', body, headers, at)
const updated = async (body: object, at = service) => streamUpdated.parse((await update(body, ada, at)).json)
const close = (body: object, headers: Headers = ada, at = service) =>
  ask('/v1/stream/close', body, headers, at)
const closed = async (body: object, at = service) => streamAnswer.parse((await close(body, ada, at)).json)
const read = async (id: string) => streamUpdated.parse((await ask(`/v1/stream/${id}`, undefined, ada)).json)
const refusedWith = (status: number, code: string, reason?: string) => ({
  status,
  json: { code, ...(reason === undefined ? {} : { errorReason: prefixed(reason) }) },
})

const typedData = z.object({
  domain: z.object({
    name: z.string(),
    version: z.string(),
    chainId: z.number(),
    verifyingContract: z.templateLiteral(['0x', z.string()]),
  }),
  types: z.record(z.string(), z.array(z.object({ name: z.string(), type: z.string() }))),
  primaryType: z.string(),
  message: z.record(z.string(), z.unknown()),
})

/** As a wallet signs typed data that it is given as JSON. */
const signJson = (signer: Channel['authorizer'], data: unknown): Promise<Hex> => {
  const { types, ...rest } = typedData.parse(data)
  const { EIP712Domain: _, ...own } = types
  return signer.account.signTypedData({ ...rest, types: own })
}

/** The receiver signs what the last answer says. */
const signedClose = async (channel: Channel, streamId: string, at = service) => {
  const { claim } = await read(streamId)
  const claimAuthorizerSignature = await signJson(channel.authorizer, claim?.typedData)
  return await closed({ streamId, claimAuthorizerSignature }, at)
}

const settle = async (body: object) => settleResult.parse((await ask('/settle', body, ada)).json)
const expectPaid = async ({ requirements: { payTo } }: Channel, amount: bigint) =>
  expect(await chain.balanceOf(z.templateLiteral(['0x', z.string()]).parse(payTo))).toBe(amount)
const countClaims = async (id: string) => {
  const { rows } = await database.pool.query(
    "select count(*)::int as count from settlements where fingerprint = $1 and state = 'confirmed'",
    [`stream:${id}`],
  )
  return z.tuple([z.object({ count: z.number() })]).parse(rows)[0].count
}
/** As if the last look at the chain were long ago. */
const lookAgain = (id: string) =>
  database.pool.query("update streams set checked_at = now() - interval '10 minutes' where id = $1", [id])

describe('a stream over a channel', () => {
  it('is opened, raised by 50 vouchers, claimed by its close and paid by a sweep', async () => {
    const channel = planChannel(chain, { price: 100_000n })
    expect(await settle({ ...(await depositBody(channel, { amount: 100_000n })) })).toMatchObject({
      success: true,
    })
    const { stream, voucherTypedData } = await open(channel, 1_000n, { metadata: { session: 'chat-1' } })
    expect(stream).toMatchObject({
      status: 'active',
      scheme: 'batch-settlement',
      payer: channel.wallet.address,
      maxAmount: '100000',
      currentAmount: '0',
      vouchers: true,
      channel: { channelId: channel.id, baseline: '0', ceiling: '1000' },
    })
    expect(voucherTypedData).toMatchObject({
      primaryType: 'Voucher',
      domain: { verifyingContract: batchSettlementAddress },
      message: { channelId: channel.id, maxClaimableAmount: '1000' },
    })
    const streamId = stream.id
    for (let count = 1n; count <= 50n; count += 1n) {
      const voucher = await wireVoucher(channel, (count + 1n) * 1_000n)
      const at = count % 2n === 0n ? service : second
      expect(
        await updated({ streamId, amount: `${count * 1_000n}`, sequence: Number(count), voucher }, at),
      ).toMatchObject({
        stream: { currentAmount: `${count * 1_000n}`, channel: { ceiling: `${(count + 1n) * 1_000n}` } },
        remaining: '1000',
        canContinue: true,
      })
    }
    const { stream: ended, claim } = await signedClose(channel, streamId)
    expect(ended).toMatchObject({ status: 'closed', finalAmount: '50000', settledAmount: '50000' })
    expect(ended.transaction).toMatch(/^0x[0-9a-f]{64}$/)
    expect(claim).toBeUndefined()
    expect(await readChannel(chain, channel.config)).toMatchObject({ totalClaimed: 50_000n })
    await expectPaid(channel, 0n)
    expect(await settle(sweepBody(channel))).toMatchObject({ success: true, amount: '50000' })
    await expectPaid(channel, 50_000n)
    expect(await closed({ streamId })).toEqual({ stream: ended })
    expect(await countClaims(streamId)).toBe(1)
    const of = z.looseObject({ id: z.string() })
    const { events } = eventPage.parse((await ask('/v1/events?limit=200', undefined, ada)).json)
    const own = events.filter(
      ({ type, data }) => type.startsWith('stream.') && of.parse(data).id === streamId,
    )
    expect(own.map(({ type }) => type)).toEqual(['stream.opened', 'stream.closed'])
  })

  it('says what the receiver has to sign, and waits for it without losing the voucher', async () => {
    const channel = await channelFor()
    const { stream } = await open(channel, 5_000n)
    const streamId = stream.id
    await updated({ streamId, amount: '3000' })
    const waiting = await closed({ streamId })
    expect(waiting).toMatchObject({
      stream: { status: 'closing', errorReason: prefixed('authorizer_not_configured'), finalAmount: '3000' },
      claim: {
        claims: [
          {
            voucher: { channel: channel.config, maxClaimableAmount: '5000' },
            signature: (await wireVoucher(channel, 5_000n)).signature,
            totalClaimed: '3000',
          },
        ],
        typedData: { primaryType: 'ClaimBatch' },
      },
    })
    const wrong = await signJson(planChannel(chain).authorizer, waiting.claim?.typedData)
    expect(await closed({ streamId, claimAuthorizerSignature: wrong })).toMatchObject({
      stream: { status: 'closing', errorReason: prefixed('claim_authorizer_signature') },
    })
    const right = await signJson(channel.authorizer, waiting.claim?.typedData)
    expect(await closed({ streamId, claimAuthorizerSignature: right })).toMatchObject({
      stream: { status: 'closed', settledAmount: '3000' },
    })
    expect(await readChannel(chain, channel.config)).toMatchObject({ totalClaimed: 3_000n })
  })

  it('that ends unsigned keeps its voucher, and the receiver can claim by itself', async () => {
    const channel = await channelFor()
    const { stream } = await open(channel, 5_000n)
    await updated({ streamId: stream.id, amount: '3000' })
    await database.pool.query(
      "update streams set closes_at = now() - interval '1 second', settles_until = now() where id = $1",
      [stream.id],
    )
    const failed = await pollUntil(async () => {
      const seen = await read(stream.id)
      return seen.stream.status === 'failed' && seen
    }, 'the stream to be given up')
    expect(failed.stream).toMatchObject({ errorReason: prefixed('authorizer_not_configured') })
    const row = await rowOf(channel, 5_000n, 3_000n)
    expect(failed.claim?.claims).toEqual([
      {
        voucher: { channel: channel.config, maxClaimableAmount: '5000' },
        signature: row.signature,
        totalClaimed: '3000',
      },
    ])
    const typed = await signJson(channel.authorizer, failed.claim?.typedData)
    const body = await claimBody(channel, [row], { claimAuthorizerSignature: typed })
    expect(await settle(body)).toMatchObject({ success: true })
    expect(await readChannel(chain, channel.config)).toMatchObject({ totalClaimed: 3_000n })
  })

  it('that is not signed for a day frees its channel, and what it used stays charged', async () => {
    const channel = await channelFor()
    const { stream } = await open(channel, 5_000n)
    await updated({ streamId: stream.id, amount: '3000' })
    expect((await closed({ streamId: stream.id })).stream.status).toBe('closing')
    await database.pool.query(
      "update streams set updated_at = now() - interval '25 hours', attend_at = now() where id = $1",
      [stream.id],
    )
    await pollUntil(
      async () => (await read(stream.id)).stream.status === 'failed',
      'the stream to be given up',
    )
    // Nor does the same voucher pay a request of the account beside it.
    const cheap = { ...channel, requirements: { ...channel.requirements, amount: '1000' } }
    const verify = async (ceiling: bigint, headers = ada) =>
      (await ask('/verify', await voucherBody(cheap, ceiling), headers)).json
    const belowDebt = { isValid: false, invalidReason: prefixed('cumulative_below_claimed') }
    for (const ceiling of [1_000n, 3_000n, 3_999n]) expect(await verify(ceiling)).toMatchObject(belowDebt)
    expect(await verify(4_000n)).toMatchObject({ isValid: true })
    expect(await settle(await depositBody(cheap, { amount: 1_000n, ceiling: 3_000n }))).toMatchObject({
      success: false,
      errorReason: prefixed('cumulative_below_claimed'),
    })
    // What an account has used is no matter of others.
    expect(await verify(1_000n, eve)).toMatchObject({ isValid: true })
    expect(await verify(1_000n, {})).toMatchObject({ isValid: true })
    // The payer signs nothing new: the rest of its voucher is all that a second stream can use.
    const second = await open(channel, 5_000n)
    const streamId = second.stream.id
    expect(await update({ streamId, amount: '2001' }, ada)).toMatchObject(refusedWith(400, 'INVALID_VOUCHER'))
    await updated({ streamId, amount: '2000' })
    const waiting = await closed({ streamId })
    expect(waiting.claim?.claims).toMatchObject([{ totalClaimed: '5000' }])
    const of = z.looseObject({ id: z.string() })
    const { events } = eventPage.parse((await ask('/v1/events?limit=200', undefined, ada)).json)
    expect(
      events.filter(({ type, data }) => type === 'stream.failed' && of.parse(data).id === stream.id),
    ).toHaveLength(1)
    const signature = await signJson(channel.authorizer, waiting.claim?.typedData)
    expect(await closed({ streamId, claimAuthorizerSignature: signature })).toMatchObject({
      stream: { status: 'closed', settledAmount: '2000' },
    })
    expect(await readChannel(chain, channel.config)).toMatchObject({ totalClaimed: 5_000n })
  })

  it('is closed by a claim that the receiver has made by itself', async () => {
    const channel = await channelFor()
    const { stream } = await open(channel, 5_000n)
    await updated({ streamId: stream.id, amount: '3000' })
    expect(await settle(await claimBody(channel, [await rowOf(channel, 5_000n, 4_000n)]))).toMatchObject({
      success: true,
    })
    expect((await signedClose(channel, stream.id)).stream).toMatchObject({
      status: 'closed',
      settledAmount: '3000',
      transaction: '',
    })
    expect(await countClaims(stream.id)).toBe(0)
    expect(await readChannel(chain, channel.config)).toMatchObject({ totalClaimed: 4_000n })
  })

  it('continues where the one before it ended', async () => {
    const channel = await channelFor()
    const first = await open(channel, 3_000n)
    // The other instance looks at the channel, and keeps what it has seen before the claim.
    await updated(
      { streamId: first.stream.id, amount: '2000', voucher: await wireVoucher(channel, 2_900n) },
      second,
    )
    await signedClose(channel, first.stream.id)
    const { stream } = await open(channel, 3_000n, {}, second)
    expect(stream.channel).toMatchObject({ baseline: '2000', ceiling: '3000' })
    expect(await update({ streamId: stream.id, amount: '1001' })).toMatchObject(
      refusedWith(400, 'INVALID_VOUCHER'),
    )
    await updated({ streamId: stream.id, amount: '1500', voucher: await wireVoucher(channel, 4_000n) })
    expect((await signedClose(channel, stream.id)).stream).toMatchObject({
      status: 'closed',
      settledAmount: '1500',
    })
    expect(await readChannel(chain, channel.config)).toMatchObject({ totalClaimed: 3_500n })
  })

  it('counts from what the receiver has charged before, never from less than what is claimed', async () => {
    const charged = await channelFor()
    const { stream } = await open(charged, 5_000n, { baseline: '4000' })
    expect(stream.channel).toMatchObject({ baseline: '4000' })
    expect(await update({ streamId: stream.id, amount: '1001' })).toMatchObject(
      refusedWith(400, 'INVALID_VOUCHER'),
    )
    await updated({ streamId: stream.id, amount: '600' })
    await signedClose(charged, stream.id)
    expect(await readChannel(chain, charged.config)).toMatchObject({ totalClaimed: 4_600n })
    const again = await open(charged, 5_000n, { baseline: '1' })
    expect(again.stream.channel).toMatchObject({ baseline: '4600' })
    const beyond = await openBody(await channelFor(), 5_000n, { baseline: '5001' })
    expect(await ask('/v1/stream/open', beyond, ada)).toMatchObject(
      refusedWith(400, 'PAYMENT_REFUSED', 'cumulative_below_claimed'),
    )
  })

  it('that is closed with nothing used sends nothing, and needs no signature', async () => {
    const channel = await channelFor()
    const { stream } = await open(channel, 5_000n)
    expect(await closed({ streamId: stream.id, finalAmount: '0' })).toMatchObject({
      stream: { status: 'closed', settledAmount: '0', transaction: '' },
    })
    expect(await readChannel(chain, channel.config)).toMatchObject({ totalClaimed: 0n })
  })

  it('takes a final amount up to the highest voucher', async () => {
    const channel = await channelFor()
    const { stream } = await open(channel, 5_000n)
    expect(await close({ streamId: stream.id, finalAmount: '5001' })).toMatchObject(
      refusedWith(400, 'INVALID_VOUCHER'),
    )
    expect(await closed({ streamId: stream.id, finalAmount: '5000' })).toMatchObject({
      stream: { status: 'closing', finalAmount: '5000' },
    })
  })
})

describe('vouchers of a stream over a channel', () => {
  it('stop the service when what is signed is used, until the payer signs more', async () => {
    const channel = await channelFor()
    const { stream } = await open(channel, 1_000n)
    const streamId = stream.id
    expect(await updated({ streamId, amount: '1000', sequence: 1 })).toMatchObject({
      remaining: '0',
      canContinue: false,
    })
    expect(await update({ streamId, amount: '1001', sequence: 2 })).toMatchObject(
      refusedWith(400, 'INVALID_VOUCHER'),
    )
    const voucher = await wireVoucher(channel, 2_000n)
    expect(await updated({ streamId, amount: '1000', sequence: 2, voucher })).toMatchObject({
      remaining: '1000',
      canContinue: true,
    })
  })

  it('keep the highest, whatever comes after it', async () => {
    const channel = await channelFor()
    const { stream } = await open(channel, 1_000n)
    const streamId = stream.id
    await updated({ streamId, amount: '100', voucher: await wireVoucher(channel, 8_000n) })
    const lower = await wireVoucher(channel, 3_000n)
    expect(await updated({ streamId, amount: '200', voucher: lower })).toMatchObject({
      stream: { currentAmount: '200', channel: { ceiling: '8000' } },
    })
    expect(await update({ streamId, amount: '3500', voucher: lower })).toMatchObject(
      refusedWith(400, 'INVALID_VOUCHER'),
    )
    expect(await updated({ streamId, amount: '3500' })).toMatchObject({ remaining: '4500' })
  })

  it.each([
    [
      'of another key',
      async (channel: Channel) => ({
        ...(await wireVoucher(channel, 2_000n)),
        signature: (await wireVoucher({ ...channel, voucherSigner: planChannel(chain).wallet }, 2_000n))
          .signature,
      }),
      'voucher_signature',
    ],
    [
      'over another ceiling',
      async (channel: Channel) => ({
        ...(await wireVoucher(channel, 2_000n)),
        maxClaimableAmount: '3000',
      }),
      'voucher_signature',
    ],
    [
      'of another network',
      async (channel: Channel) => ({
        channelId: channel.id,
        maxClaimableAmount: '2000',
        signature: await signVoucher({ chainId: 8_453 }, channel.voucherSigner, channel.config, 2_000n),
      }),
      'voucher_signature',
    ],
    [
      'of another channel of the payer',
      async (channel: Channel) => {
        const other = planChannel(chain, { wallet: channel.wallet, voucherKey: channel.voucherSigner })
        return { ...(await wireVoucher(other, 2_000n)), channelId: channel.id }
      },
      'voucher_signature',
    ],
    [
      'above the balance',
      async (channel: Channel) => await wireVoucher(channel, 10_001n),
      'cumulative_exceeds_balance',
    ],
    [
      'above every balance',
      async (channel: Channel) => ({
        ...(await wireVoucher(channel, 2_000n)),
        maxClaimableAmount: String(2n ** 255n),
      }),
      'voucher_payload',
    ],
  ] as const)('%s are refused, and change nothing', async (_name, forge, reason) => {
    const channel = await channelFor()
    const { stream } = await open(channel, 1_000n)
    const voucher = await forge(channel)
    expect(await update({ streamId: stream.id, amount: '1500', voucher })).toMatchObject(
      refusedWith(400, 'INVALID_VOUCHER', reason),
    )
    expect(await read(stream.id)).toMatchObject({
      stream: { currentAmount: '0', channel: { ceiling: '1000' } },
    })
  })

  it('name the channel of the stream, and their ceiling', async () => {
    const channel = await channelFor()
    const { stream } = await open(channel, 1_000n)
    const voucher = await wireVoucher(channel, 2_000n)
    const foreign = { ...voucher, channelId: channelIdOf(8_453, channel.config) }
    expect(await update({ streamId: stream.id, amount: '1', voucher: foreign })).toMatchObject(
      refusedWith(400, 'INVALID_VOUCHER'),
    )
    for (const bad of [
      { signature: voucher.signature },
      { ...voucher, maxClaimableAmount: '-1' },
      { ...voucher, maxClaimableAmount: 2_000 },
      { ...voucher, channelId: '0x12' },
      { ...voucher, signature: 'none' },
      { ...voucher, more: 1 },
    ]) {
      expect(await update({ streamId: stream.id, amount: '1', voucher: bad })).toMatchObject(
        refusedWith(400, 'INVALID_REQUEST'),
      )
    }
  })

  it('rise above the first balance once the channel is filled up', async () => {
    const channel = await channelFor({ price: 30_000n })
    const { stream } = await open(channel, 10_000n)
    const voucher = await wireVoucher(channel, 15_000n)
    expect(await update({ streamId: stream.id, amount: '10000', voucher })).toMatchObject(
      refusedWith(400, 'INVALID_VOUCHER', 'cumulative_exceeds_balance'),
    )
    await depositOnChain(channel, 10_000n)
    expect(await updated({ streamId: stream.id, amount: '10000', voucher })).toMatchObject({
      remaining: '5000',
    })
  })

  it('of a wallet contract without payerAuthorizer are checked by the wallet', async () => {
    const wallet = await deployWallet(chain, await createSoladyWallet(chain))
    const channel = await channelFor({ wallet, voucherKey: null })
    const { stream } = await open(channel, 1_000n)
    const voucher = await wireVoucher(channel, 2_000n)
    const forged = { ...voucher, signature: (await wireVoucher(channel, 2_001n)).signature }
    expect(await update({ streamId: stream.id, amount: '1500', voucher: forged })).toMatchObject(
      refusedWith(400, 'INVALID_VOUCHER', 'voucher_signature'),
    )
    await updated({ streamId: stream.id, amount: '1500', voucher })
    expect((await signedClose(channel, stream.id)).stream).toMatchObject({
      status: 'closed',
      settledAmount: '1500',
    })
  })
})

describe('a payer that withdraws from the channel of a stream', () => {
  const withdraw = (channel: Channel, amount: bigint) =>
    callSettlement(channel, channel.config.payer, 'initiateWithdraw', [channel.config, amount])

  it('ends it: what was used is claimed before the withdrawal can be executed', async () => {
    const channel = await channelFor()
    const { stream } = await open(channel, 5_000n)
    const streamId = stream.id
    await updated({ streamId, amount: '3000' })
    await withdraw(channel, 10_000n)
    await lookAgain(streamId)
    const ending = await pollUntil(async () => {
      const seen = await read(streamId)
      return seen.stream.status === 'closing' && seen
    }, 'the job to close the stream')
    expect(ending).toMatchObject({
      canContinue: false,
      stream: { finalAmount: '3000', risk: prefixed('cumulative_exceeds_balance') },
    })
    expect(await update({ streamId, amount: '3100' })).toMatchObject(refusedWith(409, 'STREAM_NOT_ACTIVE'))
    expect((await signedClose(channel, streamId)).stream).toMatchObject({
      status: 'closed',
      settledAmount: '3000',
    })
    expect(await readChannel(chain, channel.config)).toMatchObject({
      totalClaimed: 3_000n,
      withdrawal: { amount: 10_000n },
    })
    expect(await settle(sweepBody(channel))).toMatchObject({ success: true, amount: '3000' })
  })

  it('ends it at once where nothing was used', async () => {
    const channel = await channelFor()
    const { stream } = await open(channel, 5_000n)
    await withdraw(channel, 10_000n)
    await lookAgain(stream.id)
    await pollUntil(async () => (await read(stream.id)).stream.status === 'expired', 'the stream to end')
  })

  it('leaves it open as far as the rest backs its vouchers', async () => {
    const channel = await channelFor()
    await withdraw(channel, 4_000n)
    expect(await ask('/v1/stream/open', await openBody(channel, 6_001n), ada)).toMatchObject(
      refusedWith(400, 'PAYMENT_REFUSED', 'cumulative_exceeds_balance'),
    )
    const { stream } = await open(channel, 6_000n)
    await lookAgain(stream.id)
    await pollUntil(async () => {
      const { rows } = await database.pool.query(
        "select from streams where id = $1 and checked_at > now() - interval '1 minute'",
        [stream.id],
      )
      return rows.length === 1
    }, 'the job to look at the channel')
    expect(await updated({ streamId: stream.id, amount: '5000' })).toMatchObject({ canContinue: true })
  })
})

describe('a stream over a channel whose care is delegated', () => {
  const delegated = () => channelFor({ authorizer: custodian })

  it('is claimed by its close without a signature of the receiver', async () => {
    const channel = await delegated()
    const { stream } = await open(channel, 5_000n)
    await updated({ streamId: stream.id, amount: '3000' })
    expect(await closed({ streamId: stream.id })).toMatchObject({
      stream: { status: 'closed', settledAmount: '3000' },
    })
    expect(await readChannel(chain, channel.config)).toMatchObject({ totalClaimed: 3_000n })
  })

  it('is claimed by itself when its time is over, and when the payer withdraws', async () => {
    const [late, emptied] = [await delegated(), await delegated()]
    const streams = [await open(late, 5_000n), await open(emptied, 5_000n)].map(({ stream }) => stream.id)
    for (const streamId of streams) await updated({ streamId, amount: '2000' })
    await database.pool.query('update streams set closes_at = now() where id = $1', [streams[0]])
    await callSettlement(emptied, emptied.config.payer, 'initiateWithdraw', [emptied.config, 10_000n])
    await lookAgain(streams[1] ?? '')
    for (const [index, channel] of [late, emptied].entries()) {
      await pollUntil(
        async () => (await read(streams[index] ?? '')).stream.status === 'closed',
        'the job to claim',
      )
      expect(await readChannel(chain, channel.config)).toMatchObject({ totalClaimed: 2_000n })
    }
  })

  it('is claimed once by many closes on two instances at the same time', async () => {
    const channel = await delegated()
    const { stream } = await open(channel, 5_000n)
    await updated({ streamId: stream.id, amount: '3000' })
    const answers = await Promise.all(
      [service, second, service, second].map((at) => closed({ streamId: stream.id }, at)),
    )
    for (const answer of answers) expect(['closed', 'closing']).toContain(answer.stream.status)
    await pollUntil(async () => (await read(stream.id)).stream.status === 'closed', 'the stream to be closed')
    expect(await countClaims(stream.id)).toBe(1)
    expect(await readChannel(chain, channel.config)).toMatchObject({ totalClaimed: 3_000n })
  })

  it('is left to the care of its channel while no gas is left for its claim, also until a withdrawal', async () => {
    const environment = {
      EVM_CHANNEL_AUTHORIZER_KEY: custodian.privateKey,
      [`EVM_GAS_BUDGET_GWEI_PER_HOUR_${chain.chainId}`]: '1',
    }
    const at = await startService({ chain, databaseUrl: poor.url, environment })
    const owner = await register('poor@example.com', at)
    const channel = await delegated()
    const opened = await ask('/v1/stream/open', await openBody(channel, 5_000n), owner, at)
    const streamId = streamOpened.parse(opened.json).stream.id
    await update({ streamId, amount: '3000' }, owner, at)
    expect(await close({ streamId }, owner, at)).toMatchObject({ json: { stream: { status: 'closing' } } })
    const { json } = await ask(`/v1/channels/${chain.network}/${channel.id}`, undefined, owner, at)
    await at.close()
    expect(json).toMatchObject({ charged: '3000', ceiling: '5000' })
  })

  it('is refused to an account that the channel is not bound to', async () => {
    const channel = await delegated()
    await open(channel, 5_000n)
    expect(await ask('/v1/stream/open', await openBody(channel, 5_000n), eve)).toMatchObject(
      refusedWith(400, 'PAYMENT_REFUSED', 'receiver_authorizer_mismatch'),
    )
  })
})

describe('opening a stream over a channel', () => {
  it('happens once, also on two instances at the same time', async () => {
    const channel = await channelFor()
    const body = await openBody(channel, 1_000n)
    const answers = await Promise.all(
      [service, second, service, second].map((at) => ask('/v1/stream/open', body, ada, at)),
    )
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 200, 200, 201])
    expect(new Set(answers.map(({ json }) => streamOpened.parse(json).stream.id)).size).toBe(1)
    expect(await ask('/v1/stream/open', await openBody(channel, 2_000n), ada)).toMatchObject({
      status: 400,
      json: { code: 'PAYMENT_REFUSED', errorReason: 'duplicate_settlement' },
    })
  })

  it('by another account neither hinders the receiver nor shows its stream', async () => {
    const channel = await channelFor()
    const body = await openBody(channel, 1_000n)
    const rival = streamOpened.parse((await ask('/v1/stream/open', body, eve)).json).stream
    const { stream } = await open(channel, 1_000n)
    expect(stream.id).not.toBe(rival.id)
    expect(await ask(`/v1/stream/${stream.id}`, undefined, eve)).toMatchObject({ status: 404 })
    const voucher = await wireVoucher(channel, 2_000n)
    expect(await update({ streamId: stream.id, amount: '1', voucher }, eve)).toMatchObject({ status: 404 })
    expect(await close({ streamId: stream.id, claimAuthorizerSignature: '0x12' }, eve)).toMatchObject({
      status: 404,
    })
    const { streams } = streamPage.parse((await ask('/v1/stream?limit=100', undefined, eve)).json)
    expect(streams.map(({ id }) => id)).not.toContain(stream.id)
    // What the rival states moves nothing: the receiver's authorizer has not signed it.
    await update({ streamId: rival.id, amount: '1000' }, eve)
    expect((await close({ streamId: rival.id }, eve)).json).toMatchObject({ stream: { status: 'closing' } })
    expect(await readChannel(chain, channel.config)).toMatchObject({ totalClaimed: 0n })
  })

  it('by two accounts counts from the chain alone: none hinders the other, and one claim ends both', async () => {
    const channel = await channelFor()
    const cheap = { ...channel, requirements: { ...channel.requirements, amount: '1000' } }
    const verify = async (ceiling: bigint, headers: Headers) =>
      (await ask('/verify', await voucherBody(cheap, ceiling), headers)).json
    const openFor = async (headers: Headers, ceiling: bigint) =>
      streamOpened.parse((await ask('/v1/stream/open', await openBody(channel, ceiling), headers)).json)
        .stream
    const statusFor = async (headers: Headers, id: string) =>
      streamUpdated.parse((await ask(`/v1/stream/${id}`, undefined, headers)).json).stream.status
    // Every claim on the chain shows a voucher whose ceiling it has not reached.
    const rival = await openFor(eve, 3_000n)
    await update({ streamId: rival.id, amount: '3000' }, eve)
    const own = await openFor(ada, 3_000n)
    expect(own.channel).toMatchObject({ baseline: '0' })
    await updated({ streamId: own.id, amount: '2000' })
    await close({ streamId: rival.id }, eve)
    await database.pool.query(
      "update streams set updated_at = now() - interval '25 hours', attend_at = now() where id = $1",
      [rival.id],
    )
    await pollUntil(async () => (await statusFor(eve, rival.id)) === 'failed', 'the rival to be given up')
    expect((await signedClose(channel, own.id)).stream).toMatchObject({
      status: 'closed',
      settledAmount: '2000',
    })
    expect(await verify(3_000n, ada)).toMatchObject({ isValid: true })
    expect(await verify(3_000n, eve)).toMatchObject({
      isValid: false,
      invalidReason: prefixed('cumulative_below_claimed'),
    })
    // Both begin where the account itself ended.
    const [later, other] = [await openFor(ada, 4_000n), await openFor(eve, 4_000n)]
    expect([later, other].map((each) => each.channel?.baseline)).toEqual(['2000', '3000'])
    await updated({ streamId: later.id, amount: '2000' })
    await update({ streamId: other.id, amount: '1000' }, eve)
    expect((await close({ streamId: other.id }, eve)).json).toMatchObject({ stream: { status: 'closing' } })
    expect((await signedClose(channel, later.id)).stream.status).toBe('closed')
    await pollUntil(
      async () => {
        await database.pool.query(
          "update streams set attend_at = now() where id = $1 and state = 'closing'",
          [other.id],
        )
        return (await statusFor(eve, other.id)) === 'closed'
      },
      'the claim to end the other stream',
      () => statusFor(eve, other.id),
    )
    expect(await readChannel(chain, channel.config)).toMatchObject({ totalClaimed: 4_000n })
  })

  it('needs an API key', async () => {
    const body = await openBody(await channelFor(), 1_000n)
    expect(await ask('/v1/stream/open', body)).toMatchObject(refusedWith(401, 'UNAUTHORIZED'))
  })

  it.each([
    ['a deposit', (channel: Channel) => depositBody(channel), 'payload_type'],
    ['a refund', (channel: Channel) => refundBody(channel, 1_000n), 'payload_type'],
    [
      'a claim',
      async (channel: Channel) => ({ ...(await claimBody(channel, [await rowOf(channel, 1_000n)])) }),
      'payload_type',
    ],
    [
      'a voucher above the balance',
      (channel: Channel) => voucherBody(channel, 10_001n),
      'cumulative_exceeds_balance',
    ],
    ['a voucher of 0', (channel: Channel) => voucherBody(channel, 0n), 'cumulative_below_claimed'],
    ['a channel that is not funded', () => voucherBody(planChannel(chain), 1n), 'channel_not_found'],
    [
      'another signature',
      (channel: Channel) => voucherBody({ ...channel, voucherSigner: planChannel(chain).wallet }, 1n),
      'voucher_signature',
    ],
  ] as const)('by %s is refused', async (_name, make, reason) => {
    const body = await make(await channelFor())
    expect(await ask('/v1/stream/open', body, ada)).toMatchObject(refusedWith(400, 'PAYMENT_REFUSED', reason))
  })

  it('takes a baseline in smallest units only', async () => {
    const channel = await channelFor()
    for (const baseline of ['-1', 1, '1.5', '']) {
      expect(await ask('/v1/stream/open', await openBody(channel, 1_000n, { baseline }), ada)).toMatchObject(
        refusedWith(400, 'INVALID_REQUEST'),
      )
    }
  })
})
