import type { Address } from 'viem'
import { beforeEach, describe, expect, it } from 'vitest'
import { readChannel, readReceiver } from '../../../support/evm/channels.js'
import { useScene } from '../../../support/useScene.js'
import { openScene, type Service } from '../scene.js'
import { countSent } from '../strangers.js'
import {
  type Channel,
  type ChannelPlan,
  claimBody,
  type DepositPlan,
  depositBody,
  planChannel,
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
const prefixed = (reason: string) => `invalid_batch_settlement_evm_${reason}`
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
