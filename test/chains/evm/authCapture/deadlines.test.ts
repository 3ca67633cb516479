import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { createPatience } from '../../../support/core.js'
import { waitForReceipt } from '../../../support/evm/chainControl.js'
import { callEscrow, signVoid } from '../../../support/evm/holds.js'
import { createEoa } from '../../../support/evm/wallets.js'
import { pollUntil } from '../../../support/pollUntil.js'
import { shiftedClock } from '../../../support/shiftedClock.js'
import { openScene, openSlow, quickFinality, readOneBlockLater, type Scene } from '../scene.js'
import { countSent } from '../strangers.js'
import { createMerchants } from './merchants.js'
import { createHolds, prefixed } from './scene.js'

let scene: Scene

// Each moves the chain's clock.
beforeEach(async () => {
  scene = await openScene({ hasAuthCapture: true })
})
afterEach(() => scene.close())

describe('the deadline of a capture', () => {
  it('ends a capture that was verified before the payer reclaimed', async () => {
    const holds = createHolds(scene, await scene.open())
    const hold = await holds.open()
    const capture = await holds.capture(hold, 4_000n)
    expect(await holds.service.verify(capture)).toMatchObject({ isValid: true })
    await scene.chain.control.setNextBlockTimestamp(hold.info.authorizationExpiry)
    await scene.chain.fundGas(hold.payer)
    const sent = await callEscrow(scene.chain, hold, { functionName: 'reclaim', from: hold.payer })
    expect(await waitForReceipt(scene.chain.client, sent)).toMatchObject({ status: 'success' })
    const before = await countSent(scene, holds.service)
    const answer = await holds.service.settle(capture)
    // By the rules, or by the balances, as soon as the service has seen the block.
    expect([prefixed('capture_deadline_expired'), prefixed('unexpected_payment_state')]).toContain(
      answer.errorReason,
    )
    expect(await holds.service.settle(await signVoid(hold, { chainId: scene.chain.chainId }))).toMatchObject({
      errorReason: prefixed('zero_authorization'),
    })
    expect(await countSent(scene, holds.service)).toBe(before)
    expect(await scene.chain.balanceOf(hold.payer)).toBe(10_000n)
  })

  it('fails a capture that is mined at the deadline, and leaves the hold to the payer', async () => {
    const { startSettleWait, end } = createPatience()
    const slow = await openSlow(scene, { SETTLE_WAIT_SECONDS: '10' }, { startSettleWait })
    const holds = createHolds(scene, slow.service)
    const hold = await holds.open()
    end()
    const capture = await holds.capture(hold, 4_000n)
    const answer = await slow.settleAfter(capture, () =>
      scene.chain.control.setNextBlockTimestamp(hold.info.authorizationExpiry),
    )
    expect(await readOneBlockLater(scene, slow.service, answer)).toMatchObject({ status: 'failed' })
    expect(await holds.read(hold)).toMatchObject({ capturableAmount: 10_000n, refundableAmount: 0n })
  })

  it.each(['after', 'before'] as const)(
    'gives the hold to the payer that reclaims it in the block of a capture by the job, %s it',
    async (order) => {
      const { control } = scene.chain
      const clock = shiftedClock()
      const { openMerchant } = createMerchants(() => scene, createEoa())
      const merchant = await openMerchant({ clock, environment: quickFinality(scene) })
      await merchant.register()
      const hold = await merchant.open()
      await merchant.setAtDeadline(hold, 'capture')
      await scene.chain.fundGas(hold.payer)
      // Holds live for an hour: after half of it they are acted on.
      clock.shift(1_860_000)
      await control.setAutomine(false)
      const reclaim = () => callEscrow(scene.chain, hold, { functionName: 'reclaim', from: hold.payer })
      const early = order === 'before' ? await reclaim() : null
      const [{ address } = { address: hold.payer }] = merchant.service.signers
      const count = (blockTag: 'pending' | 'latest') =>
        scene.chain.client.getTransactionCount({ address, blockTag })
      await pollUntil(async () => {
        await merchant.act()
        return (await count('pending')) > (await count('latest'))
      }, 'the capture to be sent')
      const reclaimed = early ?? (await reclaim())
      await control.setNextBlockTimestamp(hold.info.authorizationExpiry)
      await control.mine()
      expect(await waitForReceipt(scene.chain.client, reclaimed)).toMatchObject({ status: 'success' })
      await control.mine(2)
      clock.shift(3_600_000)
      await pollUntil(
        async () => {
          await merchant.service.reconcile()
          await merchant.act()
          const { status, settlements } = await merchant.read(hold)
          return status === 'reclaimed' && settlements.every(({ status }) => status === 'confirmed')
        },
        'the hold to be reclaimed, and nothing to be open',
        () => merchant.read(hold),
      )
      expect((await merchant.read(hold)).settlements.map(({ type }) => type)).toEqual(['hold'])
      expect(await scene.chain.balanceOf(hold.payer)).toBe(10_000n)
      expect(await scene.chain.balanceOf(hold.payTo)).toBe(0n)
    },
  )
})
