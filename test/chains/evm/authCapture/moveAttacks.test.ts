import { randomUUID } from 'node:crypto'
import { maxUint120 } from 'viem'
import { describe, expect, it } from 'vitest'
import { findMissingRows } from '../../../../src/stores/postgres/reconciliation/missingRows.js'
import { callEscrow, fundRefunds, type Hold, readHold } from '../../../support/evm/holds.js'
import { createEoa } from '../../../support/evm/wallets.js'
import { killInstances } from '../../../support/instances.js'
import { pollUntil } from '../../../support/pollUntil.js'
import { useScene } from '../../../support/useScene.js'
import { openScene, quickFinality, refuseSends } from '../scene.js'
import { createMerchants } from './merchants.js'

/* Requests about one hold that are extreme, meet in one block, or are sent by a process that had stopped. */

const scene = useScene(() => openScene({ hasAuthCapture: true }))
const agent = createEoa()
const { openMerchant, openRegistered, asMerchant } = createMerchants(() => scene, agent)
type Merchant = ReturnType<typeof asMerchant>

const fees = [1n, 65_536n, 10n ** 36n, maxUint120, 10n ** 37n - 1n]

describe.each(['1.0', '1.1'] as const)('a capture under version %s of the escrow', (version) => {
  it.each(fees)('with a fee of %s beyond the terms is refused, and takes no key', async (fee) => {
    const merchant = await openMerchant()
    const hold = await merchant.open({ version })
    const capture = { type: 'capture', feeReceiver: createEoa().address, voidsRemainder: false } as const
    const key = 'order-1'
    await expect(merchant.move(hold, { ...capture, amount: 4_000n, fee }, key)).rejects.toMatchObject({
      code: 'PAYMENT_REFUSED',
    })
    await expect(
      merchant.move(hold, { ...capture, amount: 10n ** 37n - 1n, fee: null }, key),
    ).rejects.toMatchObject({ code: expect.stringMatching(/^PAY(MENT_REFUSED|LOAD_MISMATCH)$/) })
    expect(await merchant.capture(hold, 10_000n)).toMatchObject({ status: 'confirmed' })
  })
})

/** Rounds until no settlement of the hold is open. */
const settleAll = (merchant: Merchant, hold: Hold) =>
  pollUntil(
    async () => {
      await scene.chain.control.mine()
      await merchant.service.reconcile()
      const { settlements } = await merchant.read(hold)
      return settlements.every(({ status }) => status === 'confirmed')
    },
    'every settlement to be decided',
    () => merchant.read(hold),
  )

describe('a capture, a refund and a void that are mined in one block', () => {
  it('move each unit once, and are what the chain shows', async () => {
    const { control, client } = scene.chain
    const [payTo, account] = [createEoa().address, randomUUID()]
    const environment = {
      ...quickFinality(scene),
      EVM_REFUND_RECEIVERS: `${payTo}:${account}`,
    }
    const first = await openMerchant({ environment }, account)
    const { signers } = first.service
    const second = await openMerchant({ signers, environment }, account)
    await fundRefunds(scene.chain, first.holds.operator, 2_000n)
    const hold = await first.open({ payTo })
    expect(await first.capture(hold, 4_000n)).toMatchObject({ status: 'confirmed' })
    await control.setAutomine(false)
    const moves = [
      first.capture(hold, 3_000n),
      second.move(hold, { type: 'refund', amount: 1_000n }),
      second.move(hold, { type: 'void' }, null),
      first.capture(hold, 6_000n),
    ]
    const answered: unknown[] = []
    const answers = Promise.allSettled(moves.map((move) => move.finally(() => answered.push(move))))
    const address = signers[0]?.address ?? '0x'
    const countInFlight = async () =>
      (await client.getTransactionCount({ address, blockTag: 'pending' })) -
      (await client.getTransactionCount({ address, blockTag: 'latest' }))
    await pollUntil(
      async () => {
        const inFlight = await countInFlight()
        return inFlight >= 2 || inFlight + answered.length >= moves.length
      },
      'two of them to be sent, or all but one to be refused',
      async () => ({ inFlight: await countInFlight(), answered, hold: await first.read(hold) }),
    )
    await control.setAutomine(true)
    await control.mine()
    await answers
    await settleAll(first, hold)
    const seen = await first.read(hold)
    const held = await readHold(scene.chain, hold)
    const [paid, returned] = await Promise.all([hold.payTo, hold.payer].map(scene.chain.balanceOf))
    const refunded = BigInt(seen.refundedAmount)
    expect([0n, 1_000n]).toContain(refunded)
    expect((paid ?? 0n) + (returned ?? 0n) + held.capturableAmount).toBe(10_000n + refunded)
    expect(seen).toMatchObject({
      capturedAmount: `${paid}`,
      capturableAmount: `${held.capturableAmount}`,
      refundableAmount: `${held.refundableAmount}`,
    })
    const captures = seen.settlements.filter(({ type }) => type === 'capture')
    expect(captures.reduce((sum, { amount }) => sum + BigInt(amount), 0n)).toBe(paid)
  })
})

describe('a process that stops after it recorded a capture, and goes on later', () => {
  it('makes no second one beside that of its heir', async () => {
    const proxy = await scene.openProxy()
    const environment = quickFinality(scene)
    const stopped = await openMerchant({ rpcUrls: [proxy.url], environment })
    const hold = await stopped.open()
    const before = proxy.count('eth_sendRawTransaction')
    const release = proxy.hold('eth_sendRawTransaction')
    const capturing = stopped.capture(hold, 4_000n)
    await pollUntil(async () => proxy.count('eth_sendRawTransaction') > before, 'the capture to be recorded')
    const { service } = await openMerchant({ signers: stopped.service.signers, environment })
    const heir = asMerchant(service, stopped.account)
    await pollUntil(
      async () => {
        await killInstances(scene.database.pool())
        await service.reconcile()
        await scene.chain.control.mine()
        return (await heir.read(hold)).capturedAmount === '4000'
      },
      'the heir to send it',
      () => heir.read(hold),
    )
    await settleAll(heir, hold)
    expect(await heir.capture(hold, 6_000n)).toMatchObject({ status: 'confirmed' })
    release()
    expect(await capturing).toMatchObject({ status: expect.stringMatching(/confirmed|pending/) })
    await settleAll(heir, hold)
    expect(await heir.read(hold)).toMatchObject({ status: 'captured', capturedAmount: '10000' })
    expect(await scene.chain.balanceOf(hold.payTo)).toBe(10_000n)
    expect(await scene.countTransfersTo(hold.payTo)).toBe(2)
  })
})

describe('a capture that was answered, and that a reorg has fail', () => {
  it('can be asked for again, of any amount, while the hold can be captured', async () => {
    const environment = { [`EVM_FINALITY_DEPTH_${scene.chain.chainId}`]: '3' }
    const proxy = await scene.openProxy()
    const merchant = await openMerchant({ rpcUrls: [proxy.url], environment })
    const { service } = merchant
    const { control } = scene.chain
    const hold = await merchant.open()
    await control.mine()
    const { settlementId = '' } = await merchant.capture(hold, 10_000n)
    refuseSends(proxy)
    await control.reorg(1)
    await scene.chain.setBlacklisted(hold.payTo, true)
    proxy.clearFaults()
    await pollUntil(
      async () => {
        await service.core.detectReorgs()
        await service.reconcile()
        await control.mine()
        return (await service.core.useCases.core.getSettlement(settlementId)).status === 'failed'
      },
      'the capture to fail',
      () => service.core.useCases.core.getSettlement(settlementId),
    )
    await scene.chain.setBlacklisted(hold.payTo, false)
    expect(await merchant.capture(hold, 4_000n)).toMatchObject({ status: 'confirmed', amount: '4000' })
    expect(await merchant.capture(hold, 6_000n)).toMatchObject({ status: 'confirmed' })
    expect(await scene.chain.balanceOf(hold.payTo)).toBe(10_000n)
    expect(await scene.countTransfersTo(hold.payTo)).toBe(2)
    const period = { from: new Date(0), to: new Date(Date.now() + 60_000), limit: 200 }
    const { settlements } = await service.core.useCases.reconciliation.reconcilePeriod(period)
    const own = settlements.filter(({ payer }) => payer === hold.payer)
    expect(own.map(({ chain }) => chain)).not.toContain('differs')
    const { differences } = await findMissingRows(scene.database.pool(), period)
    expect(differences.filter(({ kind }) => kind === 'authorization_differs')).toEqual([])
  })
})

// The last one: the chain's time has moved on afterwards.
describe('a capture whose block is dropped when the capture deadline passes', () => {
  it('is no capture, and what the payer takes back is noticed', async () => {
    const environment = { [`EVM_FINALITY_DEPTH_${scene.chain.chainId}`]: '3' }
    const proxy = await scene.openProxy()
    const merchant = await openRegistered({ rpcUrls: [proxy.url], environment })
    const { service, clock } = merchant
    const { control } = scene.chain
    const hold = await merchant.open()
    await control.mine()
    const { settlementId = '' } = await merchant.capture(hold, 10_000n)
    expect(await merchant.read(hold)).toMatchObject({ status: 'captured' })
    refuseSends(proxy)
    await control.reorg(1)
    await control.increaseTime(3_700)
    await control.mine()
    proxy.clearFaults()
    clock.shift(3_700_000)
    await pollUntil(
      async () => {
        await service.core.detectReorgs()
        await service.reconcile()
        await control.mine()
        clock.shift(5_000)
        return (await service.core.useCases.core.getSettlement(settlementId)).status === 'failed'
      },
      'the capture to fail',
      () => service.core.useCases.core.getSettlement(settlementId),
    )
    expect(await merchant.read(hold)).toMatchObject({
      status: 'expired',
      capturedAmount: '0',
      capturableAmount: '10000',
      settlements: [{ type: 'hold', status: 'confirmed' }],
    })
    await expect(merchant.capture(hold, 10_000n)).rejects.toMatchObject({
      reason: 'invalid_auth_capture_evm_capture_deadline_expired',
    })
    await scene.chain.fundGas(hold.payer)
    await callEscrow(scene.chain, hold, { functionName: 'reclaim', from: hold.payer })
    await pollUntil(
      async () => (await merchant.read(hold)).status === 'reclaimed',
      'the hold to be reclaimed',
    )
    expect(await scene.chain.balanceOf(hold.payer)).toBe(10_000n)
    expect(await merchant.listEvents()).toEqual(
      expect.arrayContaining(['hold.captured', 'hold.expired', 'hold.reclaimed']),
    )
  })
})
