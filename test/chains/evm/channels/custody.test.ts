import { beforeEach, describe, expect, it } from 'vitest'
import { readChannel } from '../../../support/evm/channels.js'
import { createEoa } from '../../../support/evm/wallets.js'
import { useScene } from '../../../support/useScene.js'
import { openScene, type Service, type ServiceOptions } from '../scene.js'
import { countSent } from '../strangers.js'
import {
  type Channel,
  type ChannelPlan,
  claimBody,
  depositBody,
  depositOnChain,
  openChannelOnChain,
  planChannel,
  prefixed,
  refundBody,
  refundOrder,
  rowOf,
  sweepBody,
  voucherBody,
  withPayload,
} from './channelScene.js'

/* Channels whose receiverAuthorizer is this facilitator: who may rely on them, and for whom it signs. */

const scene = useScene(() => openScene({ hasBatchSettlement: true }))
const authorizer = createEoa()
let service: Service

const openService = (options: ServiceOptions = {}): Promise<Service> =>
  scene.open({
    ...options,
    environment: { EVM_CHANNEL_AUTHORIZER_KEY: authorizer.privateKey, ...options.environment },
  })

beforeEach(async () => {
  service = await openService()
})

const plan = (changes: ChannelPlan = {}): Channel => planChannel(scene.chain, { authorizer, ...changes })

const open = (changes: ChannelPlan = {}, amount?: bigint): Promise<Channel> =>
  openChannelOnChain(scene.chain, { authorizer, ...changes }, amount)

const unsigned = { claimAuthorizerSignature: undefined, refundAuthorizerSignature: undefined }

const unsignedClaim = async (channel: Channel, ...ceilings: readonly bigint[]) =>
  claimBody(channel, await Promise.all(ceilings.map((ceiling) => rowOf(channel, ceiling))), unsigned)

const unsignedRefund = (channel: Channel, order: Parameters<typeof refundOrder>[1]) =>
  refundOrder(channel, order, unsigned)

const listBindings = async () => {
  const { rows } = await scene.database
    .pool()
    .query(`select account, '0x' || encode(channel_id, 'hex') as id from channel_custody`)
  return rows
}

const accountOf = async ({ id }: Channel): Promise<string | undefined> =>
  (await listBindings()).find((row) => row.id === id)?.account

const mismatch = { isValid: false, invalidReason: prefixed('receiver_authorizer_mismatch') }
const refusedClaim = { success: false, errorReason: prefixed('authorizer_address_mismatch') }
const refusedRefund = { success: false, errorReason: prefixed('refund_authorizer_mismatch') }

describe('/supported', () => {
  const termsOf = ({ core }: Service) =>
    core.useCases.core.listSupported().kinds.find(({ scheme }) => scheme === 'batch-settlement')?.extra

  it('names the authorizer where a key is set, and none without', async () => {
    const other = await scene.open()
    expect(termsOf(service)).toMatchObject({
      receiverAuthorizer: authorizer.address,
      delegatedRefund: true,
    })
    expect(termsOf(other)).toEqual({ assetTransferMethods: ['eip3009', 'permit2'] })
  })
})

describe('a delegated channel', () => {
  it('is opened, claimed, swept and refunded without a signature of its receiver', async () => {
    const channel = plan()
    const deposit = await depositBody(channel)
    expect(await service.verify(deposit, 'ada')).toMatchObject({ isValid: true })
    expect(await accountOf(channel)).toBe('ada')
    expect(await service.settle(deposit, 'ada')).toMatchObject({ success: true, amount: '10000' })
    expect(await service.verify(await voucherBody(channel, 2_000n), 'ada')).toMatchObject({ isValid: true })
    expect(await service.settle(await unsignedClaim(channel, 2_000n), 'ada')).toMatchObject({ success: true })
    expect(await service.settle(sweepBody(channel), 'ada')).toMatchObject({ success: true, amount: '2000' })
    const refund = await unsignedRefund(channel, { charged: 3_000n, amount: 7_000n })
    expect(await service.settle(refund, 'ada')).toMatchObject({ success: true, amount: '7000' })
    expect(await readChannel(scene.chain, channel.config)).toMatchObject({
      balance: 3_000n,
      totalClaimed: 3_000n,
    })
    expect(await scene.chain.balanceOf(channel.config.receiver)).toBe(2_000n)
  })

  it('that the payer opened itself is bound by its first voucher', async () => {
    const channel = await open()
    const voucher = await voucherBody(channel, 2_000n)
    expect(await service.explain(voucher, 'ada')).toMatchObject({ verdict: 'valid' })
    expect(await accountOf(channel)).toBeUndefined()
    expect(await service.verify(voucher, 'ada')).toMatchObject({ isValid: true })
    expect(await accountOf(channel)).toBe('ada')
    expect(await service.settle(await unsignedClaim(channel, 2_000n), 'ada')).toMatchObject({ success: true })
  })

  it('is claimed and refunded again where every row was reached', async () => {
    const channel = await open()
    await service.verify(await voucherBody(channel, 2_000n), 'ada')
    const claim = await unsignedClaim(channel, 2_000n)
    await service.settle(claim, 'ada')
    expect(await service.settle(claim, 'ada')).toMatchObject({ success: true })
    const refund = await unsignedRefund(channel, { charged: 2_000n, amount: 8_000n })
    expect(await service.settle(refund, 'ada')).toMatchObject({ success: true, amount: '8000' })
    expect(await readChannel(scene.chain, channel.config)).toMatchObject({ balance: 2_000n })
  })

  it('leaves those of other authorizers as they are', async () => {
    const channel = await openChannelOnChain(scene.chain)
    expect(await service.verify(await voucherBody(channel, 2_000n))).toMatchObject({ isValid: true })
    expect(await service.settle(await unsignedClaim(channel, 2_000n), 'ada')).toMatchObject({
      success: false,
      errorReason: prefixed('authorizer_not_configured'),
    })
    expect(await service.settle(await claimBody(channel, [await rowOf(channel, 2_000n)]))).toMatchObject({
      success: true,
    })
    expect(await accountOf(channel)).toBeUndefined()
  })
})

describe('a caller without a key', () => {
  it('is refused every use of a delegated channel, and binds none', async () => {
    const channel = await open()
    expect(await service.verify(await voucherBody(channel, 2_000n))).toMatchObject(mismatch)
    expect(await service.verify(await refundBody(channel, 2_000n))).toMatchObject(mismatch)
    expect(await service.verify(await depositBody(channel))).toMatchObject(mismatch)
    expect(await service.settle(await depositBody(channel))).toMatchObject({
      success: false,
      errorReason: mismatch.invalidReason,
    })
    expect(await service.settle(await unsignedClaim(channel, 2_000n))).toMatchObject(refusedClaim)
    expect(await service.settle(await unsignedRefund(channel, { amount: 1_000n }))).toMatchObject(
      refusedRefund,
    )
    expect(await countSent(scene, service)).toBe(0)
    expect(await accountOf(channel)).toBeUndefined()
  })
})

describe('a channel that is bound to a merchant', () => {
  const openBound = async (): Promise<Channel> => {
    const channel = await open()
    expect(await service.verify(await voucherBody(channel, 2_000n), 'merchant')).toMatchObject({
      isValid: true,
    })
    return channel
  }

  it('is not refunded to a payer that registers a key of its own', async () => {
    const channel = await openBound()
    const full = await unsignedRefund(channel, { amount: 10_000n })
    expect(await service.settle(full, 'payer')).toMatchObject(refusedRefund)
    expect(await service.verify(await refundBody(channel, 2_000n), 'payer')).toMatchObject(mismatch)
    expect(await service.verify(await voucherBody(channel, 2_000n), 'payer')).toMatchObject(mismatch)
    expect(await service.settle(await depositBody(channel), 'payer')).toMatchObject({
      success: false,
      errorReason: mismatch.invalidReason,
    })
    expect(await countSent(scene, service)).toBe(0)
    expect(await accountOf(channel)).toBe('merchant')
  })

  it('is not claimed by a rival, whose message names the row', async () => {
    const channel = await openBound()
    const own = await open({ payTo: channel.config.receiver })
    await service.verify(await voucherBody(own, 1_000n), 'rival')
    const rows = [await rowOf(own, 1_000n), await rowOf(channel, 2_000n)]
    const answer = await service.settle(await claimBody(channel, rows, unsigned), 'rival')
    expect(answer).toMatchObject(refusedClaim)
    expect(answer.errorMessage).toContain(`payload.claims.1 (channel ${channel.id})`)
    // Also by a signature of ours, which everyone can read once it is on the chain.
    expect(await service.settle(await claimBody(channel, rows), 'rival')).toMatchObject(refusedClaim)
    expect(await countSent(scene, service)).toBe(0)
  })

  it('is refunded with claims of its own alone', async () => {
    const [channel, other] = [await openBound(), await openBound()]
    const refund = withPayload(await unsignedRefund(channel, { charged: 2_000n, amount: 8_000n }), {
      claims: Object((await unsignedClaim(other, 2_000n)).paymentPayload.payload).claims,
    })
    expect(await service.settle(refund, 'merchant')).toMatchObject({
      success: false,
      errorReason: prefixed('channel_id_mismatch'),
    })
  })
})

describe('a channel that its payer binds first', () => {
  it('is worth nothing to the merchant, which delivers nothing', async () => {
    const channel = await open()
    expect(await service.verify(await voucherBody(channel, 1_000n), 'payer')).toMatchObject({ isValid: true })
    expect(await service.verify(await voucherBody(channel, 2_000n), 'merchant')).toMatchObject(mismatch)
    expect(await service.verify(await depositBody(channel), 'merchant')).toMatchObject(mismatch)
  })

  it("by a deposit that the merchant verified is the merchant's", async () => {
    const channel = plan()
    const deposit = await depositBody(channel)
    expect(await service.verify(deposit, 'merchant')).toMatchObject({ isValid: true })
    expect(await service.settle(deposit, 'payer')).toMatchObject({ success: false })
    expect(await service.settle(deposit, 'merchant')).toMatchObject({ success: true })
  })
})
void depositOnChain
