import { describe, expect, it } from 'vitest'
import { createEoa } from '../../../support/evm/wallets.js'
import { useScene } from '../../../support/useScene.js'
import { openScene } from '../scene.js'
import { createMerchants } from './merchants.js'
import { prefixed } from './scene.js'

/* What payers, rivals and mishaps try on holds that a key of the facilitator moves. */

const scene = useScene(() => openScene({ hasAuthCapture: true }))
const agent = createEoa()
const { openMerchant } = createMerchants(() => scene, agent)

describe('a request that was refused', () => {
  it('has no part in what another one of the same state moves', async () => {
    const merchant = await openMerchant()
    const hold = await merchant.open()
    await merchant.capture(hold, 4_000n)
    await expect(merchant.move(hold, { type: 'refund', amount: 1_000n })).rejects.toMatchObject({
      reason: prefixed('refund_funding_unavailable'),
    })
    const { payment } = await merchant.capture(hold, 2_000n)
    expect(payment).toMatchObject({ status: 'held', capturedAmount: '6000', refundedAmount: '0' })
    expect(payment?.settlements.map(({ type }) => type)).toEqual(['hold', 'capture', 'capture'])
  })
})
