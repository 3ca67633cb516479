import { describe, expect, it } from 'vitest'
import { reconcileUntil } from '../../support/coreClient.js'
import { useScene } from '../../support/useScene.js'
import { openScene } from './scene.js'

const scene = useScene(openScene)

const refused = { isValid: false, invalidReason: 'payment_below_minimum', retryable: true }

describe('a payment of dust on Solana', () => {
  it('is refused on mainnet before anything is sent, by the minimum that /supported names', async () => {
    const service = await scene.open()
    const [kind] = service.core.useCases.core.listSupported().kinds
    // Two signatures cost 10,000 lamports, at 150 USD a SOL 0.0015 USD, of which a tenth.
    expect(kind?.minimumPayments?.[scene.chain.usdc]).toBe('150')
    const { body, payer, payTo } = scene.plan({ amount: 149n })
    const verified = await service.verify(body)
    expect(verified).toMatchObject({ ...refused, payer: payer.publicKey.toBase58() })
    expect(verified.invalidMessage).toContain(`minimum of ${scene.chain.usdc}`)
    const dust = scene.plan({ amount: 10n })
    const result = await service.settle(dust.body)
    expect(result).toMatchObject({ success: false, errorReason: 'payment_below_minimum', transaction: '' })
    expect(scene.chain.holdingOf(dust.payTo)).toBe(0n)
    expect(scene.chain.holdingOf(payTo)).toBe(0n)
    expect(await service.settle(scene.plan({ amount: 200n }).body)).toMatchObject({ success: true })
  })

  it('is settled with a share of 0', async () => {
    const service = await scene.open({ environment: { MIN_PAYMENT_GAS_SHARE: '0' } })
    expect(await service.settle(scene.plan({ amount: 1n }).body)).toMatchObject({ success: true })
  })

  it('is what the operator says', async () => {
    const service = await scene.open({ environment: { SOLANA_MIN_PAYMENT_mainnet: '20' } })
    expect(await service.verify(scene.plan({ amount: 19n }).body)).toMatchObject(refused)
    expect(await service.settle(scene.plan({ amount: 20n }).body)).toMatchObject({ success: true })
  })

  it('is not refused any more once its settlement began', async () => {
    const shortWait = { SETTLE_WAIT_SECONDS: '1' }
    const before = await scene.open({ environment: shortWait })
    const { body, payTo } = scene.plan({ amount: 1_000n })
    scene.chain.behaviour.dropsSends = true
    const pending = await before.settle(body)
    expect(pending).toMatchObject({ errorReason: 'settlement_pending' })

    const after = await scene.open({ environment: { ...shortWait, SOLANA_MIN_PAYMENT_mainnet: '1000000' } })
    expect(await after.settle(body)).toMatchObject({ errorReason: 'settlement_pending' })
    expect(await after.verify(body)).toMatchObject({ isValid: true })
    scene.chain.behaviour.dropsSends = false
    await reconcileUntil(after, pending, 'confirmed')
    expect(await after.settle(body)).toMatchObject({ success: true })
    expect(scene.chain.holdingOf(payTo)).toBe(1_000n)
  })
})
