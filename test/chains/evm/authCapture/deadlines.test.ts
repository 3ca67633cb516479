import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { waitForReceipt } from '../../../support/evm/chainControl.js'
import { callEscrow, signVoid } from '../../../support/evm/holds.js'
import { openScene, openSlow, readOneBlockLater, type Scene } from '../scene.js'
import { countSent } from '../strangers.js'
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
    const slow = await openSlow(scene, { SETTLE_WAIT_SECONDS: '10' })
    const holds = createHolds(scene, slow.service)
    const hold = await holds.open()
    const capture = await holds.capture(hold, 4_000n)
    const answer = await slow.settleAfter(capture, () =>
      scene.chain.control.setNextBlockTimestamp(hold.info.authorizationExpiry),
    )
    expect(await readOneBlockLater(scene, slow.service, answer)).toMatchObject({ status: 'failed' })
    expect(await holds.read(hold)).toMatchObject({ capturableAmount: 10_000n, refundableAmount: 0n })
  })
})
