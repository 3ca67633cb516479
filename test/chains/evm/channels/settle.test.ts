import type { Address } from 'viem'
import { beforeEach, describe, expect, it } from 'vitest'
import { createPatience } from '../../../support/core.js'
import { readChannel, readReceiver } from '../../../support/evm/channels.js'
import { toHighS, toParityV } from '../../../support/evm/signatureForms.js'
import {
  createDelegatedEoa,
  createSoladyWallet,
  deployWallet,
  getSoladyFactory,
} from '../../../support/evm/wallets.js'
import { useScene } from '../../../support/useScene.js'
import { openScene, quickFinality, readOneBlockLater, type Service } from '../scene.js'
import { countSent } from '../strangers.js'
import {
  type Channel,
  type ChannelPlan,
  claimBody,
  type DepositPlan,
  depositBody,
  depositOnChain,
  planChannel,
  prefixed,
  refundBody,
  refundOrder,
  rowOf,
  sweepBody,
  voucherBody,
} from './channelScene.js'

/* Deposits, vouchers, claims, sweeps and refunds on a local chain with a contract that keeps the rules of the published one. */

const scene = useScene(() => openScene({ hasBatchSettlement: true }))
let service: Service

beforeEach(async () => {
  service = await scene.open()
})

const plan = (changes: ChannelPlan = {}): Channel => planChannel(scene.chain, changes)
const balanceOf = (owner: Address) => scene.chain.balanceOf(owner)

const openChannel = async (changes: ChannelPlan = {}, deposit: DepositPlan = {}): Promise<Channel> => {
  const channel = plan(changes)
  expect(await service.settle(await depositBody(channel, deposit))).toMatchObject({ success: true })
  return channel
}

const methods = ['eip3009', 'permit2'] as const

describe('a deposit', () => {
  it.each(methods)('by %s opens the channel, and answers with its state', async (method) => {
    const channel = plan()
    const body = await depositBody(channel, { method })
    expect(await service.verify(body)).toEqual({
      isValid: true,
      payer: channel.config.payer,
      extra: {
        channelId: channel.id,
        balance: '0',
        totalClaimed: '0',
        withdrawRequestedAt: 0,
        refundNonce: '0',
      },
    })
    const settled = await service.settle(body)
    expect(settled).toMatchObject({
      success: true,
      payer: channel.config.payer,
      amount: '10000',
      extra: {
        channelState: {
          channelId: channel.id,
          balance: '10000',
          totalClaimed: '0',
          withdrawRequestedAt: 0,
          refundNonce: '0',
        },
      },
    })
    expect(settled.transaction).toMatch(/^0x[0-9a-f]{64}$/)
    expect(await readChannel(scene.chain, channel.config)).toMatchObject({ balance: 10_000n })
  })

  it('is made once: the same deposit is a duplicate of another request', async () => {
    const channel = plan()
    const body = await depositBody(channel)
    await service.settle(body)
    const before = await countSent(scene, service)
    expect(await service.settle(body)).toMatchObject({ errorReason: 'duplicate_settlement' })
    expect(await countSent(scene, service)).toBe(before)
  })
})

describe('the wallet of a payer', () => {
  it('that is deployed deposits, and signs vouchers, which the settlement asks it for', async () => {
    const wallet = await createSoladyWallet(scene.chain)
    await deployWallet(scene.chain, wallet)
    const channel = await openChannel({ wallet, voucherKey: null })
    expect(await service.verify(await voucherBody(channel, 2_000n))).toMatchObject({ isValid: true })
    const claim = await claimBody(channel, [await rowOf(channel, 2_000n)])
    expect(await service.settle(claim)).toMatchObject({ success: true })
    expect(await readChannel(scene.chain, channel.config)).toMatchObject({ totalClaimed: 2_000n })
  })

  it('that is delegated (EIP-7702) is asked as well', async () => {
    const wallet = await createDelegatedEoa(scene.chain, { checksSignatures: true })
    const channel = await openChannel({ wallet, voucherKey: null }, { method: 'permit2' })
    expect(await service.verify(await voucherBody(channel, 2_000n))).toMatchObject({ isValid: true })
  })

  it('that is not deployed yet is deployed with the deposit, by a factory that is listed', async () => {
    service = await scene.open({
      environment: {
        DEPLOY_ERC4337_WITH_EIP6492: 'true',
        EVM_SMART_WALLET_FACTORIES: await getSoladyFactory(scene.chain),
      },
    })
    const wallet = await createSoladyWallet(scene.chain)
    const channel = await openChannel({ wallet }, { isWrapped: true })
    expect(await readChannel(scene.chain, channel.config)).toMatchObject({ balance: 10_000n })
    expect(await scene.chain.client.getCode({ address: wallet.address })).toBeDefined()
  })
})

describe('a voucher', () => {
  it('verifies against the channel until it is claimed, and is settled by nothing', async () => {
    const channel = await openChannel()
    const body = await voucherBody(channel, 2_000n)
    const valid = { isValid: true, extra: { balance: '10000', totalClaimed: '0' } }
    expect(await service.verify(body)).toMatchObject(valid)
    expect(await service.verify(body)).toMatchObject(valid)
    expect(await service.settle(body)).toMatchObject({
      success: false,
      errorReason: prefixed('payload_type'),
    })
    await service.settle(await claimBody(channel, [await rowOf(channel, 2_000n)]))
    expect(await service.verify(body)).toMatchObject({ invalidReason: prefixed('cumulative_below_claimed') })
  })
})

describe('a claim', () => {
  it('credits what each row says, and a sweep pays the receiver', async () => {
    const first = await openChannel()
    const { authorizer, requirements } = first
    const second = await openChannel({ authorizer, payTo: first.config.receiver })
    const rows = [await rowOf(first, 3_000n, 2_500n), await rowOf(second, 4_000n)]
    const claimed = await service.settle(await claimBody(first, rows))
    expect(claimed).toMatchObject({ success: true, amount: '' })
    expect(await readChannel(scene.chain, first.config)).toMatchObject({ totalClaimed: 2_500n })
    expect(await readChannel(scene.chain, second.config)).toMatchObject({ totalClaimed: 4_000n })
    expect(await balanceOf(first.config.receiver)).toBe(0n)

    expect(await service.settle(sweepBody(first))).toMatchObject({ success: true, amount: '6500' })
    expect(await balanceOf(first.config.receiver)).toBe(6_500n)
    expect(await readReceiver(scene.chain, first.config.receiver, first.config.token)).toEqual({
      totalClaimed: 6_500n,
      totalSettled: 6_500n,
    })
    expect(await service.settle(sweepBody(first))).toMatchObject({
      success: false,
      errorReason: prefixed('nothing_to_settle'),
    })
    expect(requirements.payTo).toBe(first.config.receiver)
  })

  it('names in the events of both the keys of the requests that had them made', async () => {
    const channel = await openChannel()
    const claim = await claimBody(channel, [await rowOf(channel, 2_000n)])
    for (const [key, body] of [
      ['claim-1', claim],
      ['sweep-1', sweepBody(channel)],
    ] as const) {
      const { settlementId } = (await service.settleWithKey(body, key, 'ada')).result
      const { rows } = await scene.database
        .pool()
        .query('select data from webhook_deliveries where settlement_id = $1', [settlementId])
      expect(rows.map(({ data }) => data.idempotencyKey)).toEqual([key])
    }
  })
})

describe('a claim that is repeated', () => {
  it('is answered its success to every caller, and sends nothing', async () => {
    const channel = await openChannel()
    const body = await claimBody(channel, [await rowOf(channel, 2_000n)])
    const first = await service.settle(body, 'ada')
    const before = await countSent(scene, service)
    const { transaction, settlementId } = first
    expect(first.success).toBe(true)
    for (const caller of ['ada', 'bob']) {
      expect(await service.settle(body, caller)).toMatchObject({ success: true, transaction, settlementId })
    }
    expect(await countSent(scene, service)).toBe(before)
  })

  it('with rows that are reached already is a success as well', async () => {
    const channel = await openChannel()
    await service.settle(await claimBody(channel, [await rowOf(channel, 3_000n)]))
    const stale = await claimBody(channel, [await rowOf(channel, 3_000n, 2_000n)])
    expect(await service.settle(stale)).toMatchObject({ success: true })
    expect(await readChannel(scene.chain, channel.config)).toMatchObject({ totalClaimed: 3_000n })
  })

  it('normalizes signatures that the contract would not take', async () => {
    const channel = await openChannel()
    const row = await rowOf(channel, 2_000n)
    const body = await claimBody(channel, [{ ...row, signature: toParityV(toHighS(row.signature)) }])
    expect(await service.settle(body)).toMatchObject({ success: true })
  })
})

describe('the largest claim that the published server sends', () => {
  it('has 100 rows of 100 channels', async () => {
    const first = plan()
    const { authorizer } = first
    const payTo = first.config.receiver
    const channels = [first, ...Array.from({ length: 99 }, () => plan({ authorizer, payTo }))]
    for (const channel of channels) await depositOnChain(channel, 1_000n)
    const rows = await Promise.all(channels.map((channel) => rowOf(channel, 1_000n, 900n)))
    const answer = await service.settle(await claimBody(first, rows))
    expect(answer).toMatchObject({ success: true })
    expect(await readReceiver(scene.chain, payTo, first.config.token)).toMatchObject({
      totalClaimed: 90_000n,
    })
  })
})

describe('sweeps at once', () => {
  it('are one, which all of them are answered', async () => {
    const channel = await openChannel()
    await service.settle(await claimBody(channel, [await rowOf(channel, 2_000n)]))
    const answers = await Promise.all(
      ['ada', 'bob', 'eve'].map((caller) => service.settle(sweepBody(channel), caller)),
    )
    const [first] = answers
    expect(first).toMatchObject({ success: true, amount: '2000' })
    for (const answer of answers) expect(answer.transaction).toBe(first?.transaction)
    expect(await balanceOf(channel.config.receiver)).toBe(2_000n)

    await service.settle(await claimBody(channel, [await rowOf(channel, 5_000n)]))
    expect(await service.settle(sweepBody(channel))).toMatchObject({ success: true, amount: '3000' })
  })
})

describe('a refund', () => {
  it('claims what is owed and returns the rest, and is answered with the state of the channel', async () => {
    const channel = await openChannel()
    expect(await service.verify(await refundBody(channel, 1_000n))).toMatchObject({ isValid: true })
    const settled = await service.settle(await refundOrder(channel, { charged: 1_000n, amount: 9_000n }))
    expect(settled).toMatchObject({
      success: true,
      amount: '9000',
      extra: { channelState: { balance: '1000', totalClaimed: '1000', refundNonce: '1' } },
    })
    expect(await balanceOf(channel.config.payer)).toBe(9_000n)
  })
})

describe('a process that dies', () => {
  it.each(['deposit', 'permit2', 'claim', 'settle', 'refund'] as const)(
    'after it recorded a %s leaves it to the reconciler',
    async (kind) => {
      const proxy = await scene.openProxy()
      const { startSettleWait, end } = createPatience()
      service = await scene.open({
        rpcUrls: [proxy.url],
        startSettleWait,
        environment: { SETTLE_WAIT_SECONDS: '4', ...quickFinality(scene) },
      })
      const isDeposit = kind === 'deposit' || kind === 'permit2'
      const channel = isDeposit ? plan() : await openChannel()
      if (kind === 'settle') await service.settle(await claimBody(channel, [await rowOf(channel, 2_000n)]))
      const body = await {
        deposit: () => depositBody(channel),
        permit2: () => depositBody(channel, { method: 'permit2' }),
        claim: async () => claimBody(channel, [await rowOf(channel, 2_000n)]),
        settle: () => sweepBody(channel),
        refund: () => refundOrder(channel, { charged: 1_000n, amount: 9_000n }),
      }[kind]()
      end()
      proxy.setFault('eth_getTransactionReceipt', { kind: 'refuse' })
      const answer = await service.settle(body)
      expect(answer).toMatchObject({ errorReason: 'settlement_pending' })
      proxy.clearFaults()
      expect(await readOneBlockLater(scene, service, answer)).toMatchObject({
        status: 'confirmed',
        amount: kind === 'settle' ? '2000' : '0',
      })
    },
  )
})
