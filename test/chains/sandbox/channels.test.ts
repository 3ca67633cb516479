import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { SettleResult } from '../../../src/protocol/results.js'
import { createSandboxChannels } from '../../../src/stores/postgres/sandbox/channels.js'
import { openCore } from '../../support/core.js'
import { type CoreClient, createCoreClient } from '../../support/coreClient.js'
import { createEoa } from '../../support/evm/wallets.js'
import { createTestDatabase, type TestDatabase } from '../../support/postgres.js'
import { sandboxChain } from '../../support/sandbox/streams.js'
import { shiftedClock } from '../../support/shiftedClock.js'
import {
  bodyOf,
  type Channel,
  type ChannelBody,
  type ChannelPlan,
  claimBody,
  planChannel,
  prefixed,
  refundBody,
  refundOrder,
  rowOf,
  signedDeposit,
  sweepBody,
  voucherBody,
  withExtra,
  withPayload,
  withRequirements,
} from '../evm/channels/channelScene.js'

const chain = { ...sandboxChain, chainId: sandboxChain.token.chainId }
const { network } = chain
type SandboxChannel = Channel<typeof chain>

let database: TestDatabase
let client: CoreClient
const clock = shiftedClock()

const open = async (): Promise<CoreClient> =>
  createCoreClient(
    await openCore({
      databaseUrl: database.url,
      environment: { SANDBOX: 'true', ANONYMOUS_PAYMENTS_PER_HOUR: '0' },
      clock,
    }),
  )

beforeAll(async () => {
  database = await createTestDatabase({ isSandbox: true })
  client = await open()
})
afterAll(async () => {
  await client.core.close()
  await database.drop()
})

const plan = (changes: ChannelPlan = {}): SandboxChannel => planChannel(chain, changes)

const settled = async (body: ChannelBody): Promise<SettleResult> => {
  const answer = await client.settle(body)
  expect(answer).toMatchObject({ success: true })
  return answer
}

/** Of 10,000, of which the voucher of its deposit allows 1,000. */
const openChannel = async (changes: ChannelPlan = {}): Promise<SandboxChannel> => {
  const channel = plan(changes)
  await settled(await signedDeposit(channel))
  return channel
}

const store = () => createSandboxChannels(database.pool(), 10_000)
const readState = async ({ id }: SandboxChannel) => (await store().find(network, [id])).get(id) ?? null
const readReceiver = ({ config }: SandboxChannel) =>
  store().findReceiver(network, config.receiver, config.token)

const refused = async (body: ChannelBody) => (await client.verify(body)).invalidReason
const failed = async (body: ChannelBody) => {
  const { success, errorReason } = await client.settle(body)
  return success ? 'success' : errorReason
}

describe('a channel of the sandbox', () => {
  it.each(['eip3009', 'permit2'] as const)(
    'is opened and filled up by %s, as answers of production say',
    async (method) => {
      const channel = plan()
      const deposit = await signedDeposit(channel, { method })
      const state = { channelId: channel.id, withdrawRequestedAt: 0, refundNonce: '0', totalClaimed: '0' }
      expect(await client.verify(deposit)).toMatchObject({
        isValid: true,
        payer: channel.config.payer,
        extra: { ...state, balance: '0' },
      })
      expect(await settled(deposit)).toMatchObject({
        amount: '10000',
        payer: channel.config.payer,
        transaction: expect.stringMatching(/^0x5a4db0/),
        extra: { channelState: { ...state, balance: '10000' } },
      })
      const more = await signedDeposit(channel, { method, amount: 5_000n, ceiling: 12_000n })
      expect(await settled(more)).toMatchObject({
        amount: '5000',
        extra: { channelState: { ...state, balance: '15000' } },
      })
      expect(await readState(channel)).toEqual({ balance: 15_000n, totalClaimed: 0n, refundNonce: 0n })
    },
  )

  it('verifies vouchers, is claimed, swept and refunded', async () => {
    const channel = await openChannel()
    const voucher = await voucherBody(channel, 4_000n)
    for (const _ of [1, 2]) {
      expect(await client.verify(voucher)).toMatchObject({ isValid: true, extra: { balance: '10000' } })
    }
    const claim = await claimBody(channel, [await rowOf(channel, 4_000n, 3_000n)])
    expect(await settled(claim)).toMatchObject({
      amount: '',
      transaction: expect.stringMatching(/^0x5a4db0/),
    })
    expect(await readReceiver(channel)).toEqual({ totalClaimed: 3_000n, totalSettled: 0n })
    const sweep = sweepBody(channel)
    expect(await settled(sweep)).toMatchObject({ amount: '3000' })
    expect(await failed(sweep)).toBe(prefixed('nothing_to_settle'))

    expect(await client.verify(await refundBody(channel, 4_000n))).toMatchObject({
      isValid: true,
      extra: { totalClaimed: '3000' },
    })
    const order = await refundOrder(channel, { charged: 4_000n, amount: 9_000n })
    const answer = await settled(order)
    expect(answer).toMatchObject({
      amount: '6000',
      extra: { channelState: { balance: '4000', totalClaimed: '4000', refundNonce: '1' } },
    })
    expect(await settled(sweep)).toMatchObject({ amount: '1000' })
    expect(await refused(await voucherBody(channel, 5_000n))).toBe(prefixed('cumulative_exceeds_balance'))
  })

  it('answers repeated claims and refunds their success, and a repeated deposit as a duplicate', async () => {
    const channel = plan()
    const deposit = await signedDeposit(channel)
    const claim = await claimBody(channel, [await rowOf(channel, 4_000n)])
    const order = await refundOrder(channel, { amount: 6_000n })
    await settled(deposit)
    for (const body of [claim, order]) expect(await settled(body)).toEqual(await settled(body))
    expect(await failed(deposit)).toBe('duplicate_settlement')
    expect(await refused(deposit)).toBe('duplicate_settlement')
    expect(await readState(channel)).toEqual({ balance: 4_000n, totalClaimed: 4_000n, refundNonce: 1n })
    expect(await readReceiver(channel)).toEqual({ totalClaimed: 4_000n, totalSettled: 0n })
    // Reached by another transaction: nothing is sent.
    const lower = await claimBody(channel, [await rowOf(channel, 4_000n, 2_000n)])
    expect(await settled(lower)).toMatchObject({ transaction: '' })
  })

  it('claims rows of several channels, each once, with the highest total', async () => {
    const authorizer = createEoa()
    const first = await openChannel({ authorizer })
    const second = await openChannel({ authorizer, payTo: first.config.receiver })
    const rows = [
      await rowOf(first, 2_000n),
      await rowOf(second, 1_500n),
      await rowOf(first, 5_000n),
      await rowOf(first, 3_000n),
    ]
    await settled(await claimBody(first, rows))
    expect(await readReceiver(first)).toEqual({ totalClaimed: 6_500n, totalSettled: 0n })
    expect((await readState(first))?.totalClaimed).toBe(5_000n)
  })

  it('counts no money before it is paid out', async () => {
    const channel = plan()
    const { settlementId = '' } = await settled(await signedDeposit(channel))
    const { getSettlement } = client.core.useCases.core
    expect(await getSettlement(settlementId)).toMatchObject({ amount: '0' })
    await settled(await claimBody(channel, [await rowOf(channel, 4_000n)]))
    const swept = await settled(sweepBody(channel))
    expect(await getSettlement(swept.settlementId ?? '')).toMatchObject({ amount: '4000' })
  })
})

describe('a channel of the sandbox that was forgotten', () => {
  const weekMs = 7 * 86_400_000
  it('is opened again, and then claimed, swept and refunded anew by the same requests', async () => {
    const channel = plan()
    const deposit = () => signedDeposit(channel, { authorization: { validBefore: '99999999999' } })
    const bodies = [
      await claimBody(channel, [await rowOf(channel, 4_000n)]),
      sweepBody(channel),
      await refundOrder(channel, { amount: 6_000n }),
    ]
    const live = async () => {
      const answers = [await settled(await deposit())]
      for (const body of bodies) answers.push(await settled(body))
      return answers.map(({ transaction }) => transaction)
    }
    const first = await live()
    for (const table of ['sandbox_channels', 'sandbox_receivers']) {
      await database.pool().query(`update ${table} set expires_at = now()`)
    }
    clock.shift(weekMs)
    const second = await live().finally(() => clock.shift(-weekMs))
    expect(new Set([...first, ...second]).size).toBe(8)
    expect(await readState(channel)).toEqual({ balance: 4_000n, totalClaimed: 4_000n, refundNonce: 1n })
    expect(await readReceiver(channel)).toEqual({ totalClaimed: 4_000n, totalSettled: 4_000n })
  })
})

describe('a deposit in the sandbox is refused', () => {
  const other = () => createEoa()
  it.each<[string, () => Promise<ChannelBody>]>([
    ['deposit_payload', async () => withPayload(await signedDeposit(plan()), { deposit: {} })],
    ['payload_type', async () => withPayload(await signedDeposit(plan()), { type: 'open' })],
    [
      'channel_id_mismatch',
      async () => withPayload(await signedDeposit(plan()), { channelConfig: plan().config }),
    ],
    [
      'receiver_mismatch',
      async () => withRequirements(await signedDeposit(plan()), { payTo: other().address }),
    ],
    [
      'receiver_authorizer_mismatch',
      async () => withExtra(await signedDeposit(plan()), { receiverAuthorizer: other().address }),
    ],
    ['withdraw_delay_mismatch', async () => withExtra(await signedDeposit(plan()), { withdrawDelay: 901 })],
    ['withdraw_delay_out_of_range', () => signedDeposit(plan({ config: { withdrawDelay: 899 } }))],
    ['receive_authorization_signature', () => signedDeposit(plan({ config: { payer: other().address } }))],
    [
      'permit2_invalid_signature',
      () => signedDeposit(plan({ config: { payer: other().address } }), { method: 'permit2' }),
    ],
    ['voucher_signature', () => signedDeposit(plan({ config: { payerAuthorizer: other().address } }))],
    [
      'payload_authorization_valid_before',
      () => signedDeposit(plan(), { authorization: { validBefore: '1000' } }),
    ],
    [
      'payload_authorization_valid_after',
      () =>
        signedDeposit(plan(), { authorization: { validAfter: '99999999999', validBefore: '999999999999' } }),
    ],
    [
      'permit2_deadline_expired',
      () => signedDeposit(plan(), { method: 'permit2', authorization: { deadline: '1000' } }),
    ],
    ['cumulative_exceeds_balance', () => signedDeposit(plan(), { ceiling: 10_001n })],
    ['cumulative_below_claimed', () => signedDeposit(plan(), { ceiling: 999n })],
    ['missing_eip712_domain', async () => withExtra(await signedDeposit(plan()), { name: '' })],
    [
      'deposit_simulation_failed',
      () => signedDeposit(planChannel({ ...chain, token: { ...chain.token, name: 'Other' } }, {})),
    ],
    ['deposit_simulation_failed', async () => signedDeposit(await openChannel(), { amount: 0n })],
  ])('as %s', async (reason, make) => {
    const body = await make()
    expect(await refused(body)).toBe(prefixed(reason))
    expect(await failed(body)).toBe(prefixed(reason))
  })

  it('with a signature that only a wallet contract could take', async () => {
    const wallet = {
      ...createEoa(),
      deployment: { factory: createEoa().address, factoryData: '0x12' as const },
    }
    const longer = await signedDeposit(plan(), { authorization: { signature: `0x${'11'.repeat(70)}` } })
    expect(await refused(longer)).toBe(prefixed('receive_authorization_signature'))
    const wrapped = await signedDeposit(plan({ wallet }), { isWrapped: true })
    expect(await refused(wrapped)).toBe(prefixed('eip6492_factory_not_allowed'))
  })

  it('in a token that the sandbox does not have', async () => {
    expect(await refused(await signedDeposit(plan({ token: createEoa().address })))).toBe('unsupported_asset')
  })

  const openScenario = async () => {
    const { sandbox } = client.core.useCases
    if (sandbox === null) throw new Error('This is no sandbox')
    return (await sandbox.createScenario({ network }, ['a holder'])).payer
  }

  it.each([
    ['of the list', async () => '0x0000000000000000000000000000000000CAFe11'],
    ['of a scenario', openScenario],
  ])('by a payer without a key: one %s', async (_name, findPayer) => {
    const payer = await findPayer()
    const { requirements } = plan()
    for (const payload of [
      { payer },
      { type: 'settle', payer },
      { channelConfig: { payer }, type: 'deposit' },
    ]) {
      const body = bodyOf(requirements, payload)
      expect(await client.verify(body)).toMatchObject({
        isValid: false,
        invalidReason: prefixed('voucher_signature'),
        invalidMessage: expect.stringContaining('open a channel with a key of your own'),
      })
      expect(await failed(body)).toBe(prefixed('voucher_signature'))
      expect((await client.explain(body)).rules).toContainEqual(
        expect.objectContaining({ rule: 'script', state: 'failed' }),
      )
    }
  })
})

describe('a request about a channel of the sandbox is refused', () => {
  it('as /verify does in production', async () => {
    const channel = await openChannel()
    await settled(await claimBody(channel, [await rowOf(channel, 4_000n)]))
    const table: readonly (readonly [string, ChannelBody])[] = [
      ['channel_not_found', await voucherBody(plan(), 1_000n)],
      ['channel_not_found', await refundBody(plan(), 1_000n)],
      ['cumulative_exceeds_balance', await voucherBody(channel, 10_001n)],
      ['cumulative_below_claimed', await voucherBody(channel, 4_000n)],
      ['cumulative_below_claimed', await voucherBody(channel, 4_999n)],
      ['voucher_signature', await voucherBody(channel, 6_000n, `0x${'11'.repeat(65)}`)],
      ['voucher_payload', withPayload(await voucherBody(channel, 6_000n), { voucher: null })],
      ['payload_type', sweepBody(channel)],
    ]
    for (const [reason, body] of table) expect(await refused(body)).toBe(prefixed(reason))
  })

  it('as /settle does in production', async () => {
    const channel = await openChannel()
    const stranger = createEoa()
    const rows = [await rowOf(channel, 4_000n)]
    const table: readonly (readonly [string, ChannelBody])[] = [
      ['payload_type', await voucherBody(channel, 4_000n)],
      ['claim_payload', await claimBody(channel, [])],
      ['authorizer_not_configured', await claimBody(channel, rows, { claimAuthorizerSignature: '' })],
      ['claim_authorizer_signature', await claimBody({ ...channel, authorizer: stranger }, rows)],
      ['claim_simulation_failed', await claimBody(channel, [await rowOf(channel, 4_000n, 4_001n)])],
      ['claim_simulation_failed', await claimBody(channel, [await rowOf(channel, 10_001n)])],
      [
        'claim_simulation_failed',
        await claimBody(channel, [await rowOf({ ...channel, voucherSigner: stranger }, 4_000n)]),
      ],
      ['claim_payload', withRequirements(await claimBody(channel, rows), { amount: '1' })],
      ['nothing_to_settle', sweepBody(channel)],
      ['refund_payload', await refundBody(channel, 1_000n)],
      ['refund_nonce_mismatch', await refundOrder(channel, { amount: 1_000n, nonce: 1n })],
      ['refund_no_balance', await refundOrder(channel, { amount: 0n })],
      [
        'refund_authorizer_signature',
        await refundOrder({ ...channel, authorizer: stranger }, { amount: 1_000n }),
      ],
      ['channel_not_found', await refundOrder(plan(), { amount: 1_000n })],
    ]
    for (const [reason, body] of table) expect(await failed(body)).toBe(prefixed(reason))
    expect(await readState(channel)).toEqual({ balance: 10_000n, totalClaimed: 0n, refundNonce: 0n })
  })
})

describe('room for channels of the sandbox', () => {
  const fill = async (count: number, holder: string): Promise<void> => {
    await database.pool().query(
      `insert into sandbox_channels (network, channel_id, receiver, token, holders, expires_at)
       select 'toy:1', $2 || n, 'shop', 'coin', array[$2], now() + interval '1 hour' from generate_series(1, $1::int) n`,
      [count, holder],
    )
  }

  it('is refused before a deposit is recorded, and needed for a new channel only', async () => {
    const known = await openChannel()
    const body = await signedDeposit(plan())
    const countSettlements = async () =>
      (await database.pool().query("select 1 from settlements where state in ('claimed', 'pending')")).rows
        .length
    // Callers of the test have no address.
    await fill(1_300, 'requester unnamed')
    await expect(client.settle(body)).rejects.toMatchObject({ code: 'RATE_LIMITED', retryAfterSeconds: 60 })
    await fill(9_000, 'requester 192.0.2.1')
    await expect(client.settle(body)).rejects.toMatchObject({
      code: 'SERVICE_UNAVAILABLE',
      retryAfterSeconds: 60,
    })
    expect(await countSettlements()).toBe(0)
    await settled(await signedDeposit(known, { ceiling: 2_000n }))
    await database.pool().query("delete from sandbox_channels where network = 'toy:1'")
    await settled(body)
  })
})
