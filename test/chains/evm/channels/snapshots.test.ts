import { beforeEach, describe, expect, it } from 'vitest'
import { pollUntil } from '../../../support/pollUntil.js'
import type { RpcProxy } from '../../../support/rpcProxy.js'
import { shiftedClock } from '../../../support/shiftedClock.js'
import { useScene } from '../../../support/useScene.js'
import { openScene, type Service } from '../scene.js'
import {
  type Channel,
  type ChannelPlan,
  callSettlement,
  claimBody,
  depositBody,
  depositOnChain,
  openChannelOnChain,
  refundBody,
  rowOf,
  voucherBody,
} from './channelScene.js'

/* One look at a channel answers for its vouchers for a time, and for a rise of the ceiling. */

const scene = useScene(() => openScene({ hasBatchSettlement: true }))
const seconds = 300
const rise = 2_000n
let service: Service
let proxy: RpcProxy
let clock: ReturnType<typeof shiftedClock>

const open = async (environment: Readonly<Record<string, string>> = {}): Promise<void> => {
  service = await scene.open({
    rpcUrls: [proxy.url],
    clock,
    environment: {
      EVM_CHANNEL_SNAPSHOT_SECONDS: String(seconds),
      EVM_CHANNEL_SNAPSHOT_AMOUNT: String(rise),
      ...environment,
    },
  })
}

beforeEach(async () => {
  clock = shiftedClock()
  proxy = await scene.openProxy()
  await open()
})

const openChannel = (plan: ChannelPlan = {}): Promise<Channel> => openChannelOnChain(scene.chain, plan)

const verify = async (channel: Channel, ceiling: bigint) =>
  service.verify(await voucherBody(channel, ceiling))

/** How often the settlement was read for it. */
const countReads = async (work: () => Promise<unknown>): Promise<number> => {
  const before = proxy.count('eth_call')
  await work()
  return proxy.count('eth_call') - before
}

const expectReads = async (channel: Channel, ceiling: bigint, reads: number): Promise<void> => {
  const read = await countReads(async () => {
    expect(await verify(channel, ceiling)).toMatchObject({ isValid: true })
  })
  expect(read).toBe(reads)
}

describe('a look at a channel', () => {
  it('answers for its next vouchers, with the state that it found', async () => {
    const channel = await openChannel()
    await expectReads(channel, 1_000n, 1)
    await expectReads(channel, 2_000n, 0)
    expect(await verify(channel, 3_000n)).toMatchObject({
      extra: { channelId: channel.id, balance: '10000', totalClaimed: '0' },
    })
  })

  it('ends after its time', async () => {
    const channel = await openChannel()
    await expectReads(channel, 1_000n, 1)
    clock.shift(seconds * 1_000)
    await expectReads(channel, 1_000n, 1)
  })

  it('is renewed once before it ends, without a voucher that waits for it', async () => {
    const channel = await openChannel()
    await expectReads(channel, 1_000n, 1)
    clock.shift(seconds * 800)
    const before = proxy.count('eth_call')
    const release = proxy.hold('eth_call')
    expect(await verify(channel, 1_000n)).toMatchObject({ isValid: true })
    expect(await verify(channel, 2_000n)).toMatchObject({ isValid: true })
    await pollUntil(() => proxy.count('eth_call') > before, 'the renewal')
    release()
    clock.shift(seconds * 400)
    // A voucher that comes before the answer shares the read.
    expect(await verify(channel, 2_000n)).toMatchObject({ isValid: true })
    expect(proxy.count('eth_call') - before).toBe(1)
  })

  it('ends early where its renewal finds a withdrawal', async () => {
    const channel = await openChannel()
    await verify(channel, 1_000n)
    await callSettlement(channel, channel.config.payer, 'initiateWithdraw', [channel.config, 9_500n])
    // So early that the look does not end by itself while this test waits.
    clock.shift(seconds * 800)
    const reason = 'invalid_batch_settlement_evm_cumulative_exceeds_balance'
    await pollUntil(async () => {
      const answer = await verify(channel, 1_000n)
      return 'invalidReason' in answer && answer.invalidReason === reason
    }, 'the refusal')
  })

  it('ends where the ceiling has risen by more than the amount', async () => {
    const channel = await openChannel()
    await expectReads(channel, 1_000n, 1)
    await expectReads(channel, 1_001n + rise, 1)
    await expectReads(channel, 1_001n + rise + (rise * 7n) / 10n, 0)
  })

  it('ends there also where a voucher came first that the channel does not back', async () => {
    const channel = await openChannel()
    expect(await verify(channel, 1_000_000n)).toMatchObject({ isValid: false })
    await expectReads(channel, 1_000n, 1)
    expect(await verify(channel, 1_000_000n)).toMatchObject({ isValid: false })
    await expectReads(channel, 1_001n + rise, 1)
  })

  it('is renewed before the ceiling has risen so far, without a voucher that waits for it', async () => {
    const channel = await openChannel()
    await expectReads(channel, 1_000n, 1)
    const before = proxy.count('eth_call')
    const release = proxy.hold('eth_call')
    expect(await verify(channel, 1_000n + rise)).toMatchObject({ isValid: true })
    await pollUntil(() => proxy.count('eth_call') > before, 'the renewal')
    release()
    // A voucher that comes before the answer shares the read.
    expect(await verify(channel, 1_001n + rise)).toMatchObject({ isValid: true })
    expect(proxy.count('eth_call') - before).toBe(1)
  })

  it('is shared by vouchers that arrive at the same time', async () => {
    const channel = await openChannel()
    const bodies = await Promise.all([1_000n, 2_000n, 3_000n].map((ceiling) => voucherBody(channel, ceiling)))
    const release = proxy.hold('eth_call')
    const before = proxy.count('eth_call')
    const verifying = Promise.all(bodies.map((body) => service.verify(body)))
    await pollUntil(() => proxy.count('eth_call') > before, 'the first read')
    release()
    for (const answer of await verifying) expect(answer).toMatchObject({ isValid: true })
    expect(proxy.count('eth_call') - before).toBe(1)
  })

  it('never refuses: what it does not cover is asked of the chain', async () => {
    const channel = await openChannel()
    await expectReads(channel, 9_000n, 1)
    await depositOnChain(channel, 1_000n)
    await expectReads(channel, 11_000n, 1)
  })

  it('ends with a deposit and a claim of this service', async () => {
    const channel = await openChannel()
    await verify(channel, 1_000n)
    expect(await service.settle(await depositBody(channel, { ceiling: 1_500n }))).toMatchObject({
      success: true,
    })
    await expectReads(channel, 2_000n, 1)
    const claimed = await service.settle(await claimBody(channel, [await rowOf(channel, 2_000n)]))
    expect(claimed).toMatchObject({ success: true })
    expect(await verify(channel, 2_000n)).toMatchObject({
      invalidReason: 'invalid_batch_settlement_evm_cumulative_below_claimed',
    })
  })

  it('finds a withdrawal that was announced after it, before the withdrawal can be executed', async () => {
    const channel = await openChannel()
    await verify(channel, 1_000n)
    await callSettlement(channel, channel.config.payer, 'initiateWithdraw', [channel.config, 9_500n])
    await expectReads(channel, 1_000n, 0)
    expect(channel.config.withdrawDelay).toBeGreaterThan(seconds)
    clock.shift(seconds * 1_000)
    expect(await verify(channel, 1_000n)).toMatchObject({
      invalidReason: 'invalid_batch_settlement_evm_cumulative_exceeds_balance',
    })
  })
})

describe('the chain is asked for each voucher', () => {
  it('of a channel with a withdrawal', async () => {
    const channel = await openChannel()
    await callSettlement(channel, channel.config.payer, 'initiateWithdraw', [channel.config, 1_000n])
    await expectReads(channel, 1_000n, 1)
    await expectReads(channel, 1_000n, 1)
  })

  it("that the payer's account signs, whose code may change", async () => {
    const channel = await openChannel({ voucherKey: null })
    await expectReads(channel, 1_000n, 1)
    await expectReads(channel, 1_000n, 1)
  })

  it('where no time is set', async () => {
    await open({ EVM_CHANNEL_SNAPSHOT_SECONDS: '0' })
    const channel = await openChannel()
    await expectReads(channel, 1_000n, 1)
    await expectReads(channel, 1_000n, 1)
  })

  it('and for a refund that the payer asks for', async () => {
    const channel = await openChannel()
    await verify(channel, 1_000n)
    const body = await refundBody(channel, 1_000n)
    const reads = await countReads(async () => {
      expect(await service.verify(body)).toMatchObject({ isValid: true })
    })
    expect(reads).toBe(1)
  })
})
