import { describe, expect, it } from 'vitest'
import { open } from '../../../src/chains/tron/open.js'
import { readTronSettings } from '../../../src/chains/tron/settings.js'
import { systemClock } from '../../../src/platform/clock.js'
import { silentLogger } from '../../../src/platform/logger.js'
import { createMemoryRateLimiter } from '../../../src/stores/cache/rateLimiter.js'
import { reconcileUntil } from '../../support/coreClient.js'
import { createMemoryLanes } from '../../support/memoryLanes.js'
import { createTronKey, type TronKey } from '../../support/tron/keys.js'
import { tronPayment } from '../../support/tron/payment.js'
import { useScene } from '../../support/useScene.js'
import { nileEnvironment, readBody } from './openScheme.js'
import { openScene } from './scene.js'

const scene = useScene(openScene)

const plan = async (amount: bigint, sun = 100_000_000, payer: TronKey = createTronKey()) => {
  const { chain, token } = scene
  chain.fund(payer.address, sun)
  await chain.mint(token, payer.address, 25_000_000n)
  return await tronPayment({ chain, payer, payTo: createTronKey().address, token, amount })
}

const createSponsor = (): Record<string, string> => {
  const sponsor = createTronKey()
  scene.chain.fund(sponsor.address, 100_000_000)
  scene.chain.stake(sponsor.address, 100_000_000_000)
  return { TRON_PRIVATE_KEY: sponsor.privateKey, TRON_SPONSOR_ENERGY: 'true' }
}

const noHistory = { read: async () => ({ hasRecipientSettled: false, hasPayerFailed: false }) }

/** The scheme with the price of TRX and the token of mainnet, on the local chain. */
const openLikeMainnet = async (environment: Record<string, string>) => {
  const reading = readTronSettings({ ...nileEnvironment(scene.chain.url, scene.token), ...environment })
  const mainnet = readTronSettings({ TRON_RPC_URL_mainnet: scene.chain.url })
  if ('problems' in reading || reading.settings === null) throw new Error('The settings cannot be read')
  if ('problems' in mainnet || mainnet.settings === null) throw new Error('The settings cannot be read')
  const { settings } = reading
  const coinUsd = mainnet.settings.networks[0]?.minimumPayment.coinUsd ?? null
  const minimumPayment = { fixed: null, coinUsd, stablecoins: [{ asset: scene.token, decimals: 6 }] }
  const limiter = createMemoryRateLimiter({ clock: systemClock })
  const opened = await open(
    { ...settings, networks: settings.networks.map((network) => ({ ...network, minimumPayment })) },
    {
      clock: systemClock,
      logger: silentLogger,
      lanes: createMemoryLanes(),
      limiter,
      minPaymentGasShare: 0.1,
      sponsoring: { recipients: '*', history: noHistory },
    },
  )
  const [scheme] = opened.schemes
  if (scheme === undefined) throw new Error('No scheme was opened')
  const close = async () => {
    await opened.close()
    await limiter.close()
  }
  return { scheme, close }
}

const isAwaited = () => true
const refused = { isValid: false, invalidReason: 'payment_below_minimum', retryable: true }

describe('a payment of dust on TRON', () => {
  it('is refused on mainnet when it needs our energy, and not when the payer has enough', async () => {
    const { scheme, close } = await openLikeMainnet(createSponsor())
    try {
      const payer = createTronKey()
      // 600 bytes at 1,000 sun are 0.6 TRX, at 0.3 USD 0.18 USD, of which a tenth.
      expect(scheme.network.listMinimums()).toEqual({ [scene.token]: '18000' })
      const verify = async (amount: bigint, sun: number, isForSettle = false) =>
        await scheme.verify(readBody(await plan(amount, sun, payer)), { isAwaited, isForSettle })
      expect(await verify(17_999n, 0)).toMatchObject({
        isValid: false,
        reason: 'payment_below_minimum',
        payer: payer.address,
      })
      expect(await verify(8_999n, 0, true)).toMatchObject({ isValid: false })
      expect(await verify(18_000n, 0)).toMatchObject({ isValid: true })
      scene.chain.stake(payer.address, 100_000_000_000)
      expect(await verify(1n, 0)).toMatchObject({ isValid: true })
    } finally {
      await close()
    }
  })

  it('is refused without a key unless it is worth the energy and its delegation, or the payer pays itself', async () => {
    const { scheme, close } = await openLikeMainnet(createSponsor())
    try {
      const verify = async (amount: bigint, sun: number, isForSettle = false) =>
        await scheme.verify(readBody(await plan(amount, sun)), {
          isAwaited,
          isForSettle,
          caller: 'anonymous',
        })
      const refusal = await verify(1n, 0)
      expect(refusal).toMatchObject({ isValid: false, reason: 'payment_below_minimum' })
      const message = refusal.isValid ? '' : refusal.message
      const least = BigInt(/lower than (\d+)/.exec(message ?? '')?.[1] ?? 0)
      // More than 0.18 USD for the delegation.
      expect(least).toBeGreaterThan(200_000n)
      expect(await verify(least - 1n, 0, true)).toMatchObject({ reason: 'payment_below_minimum' })
      expect(await verify(least, 0, true)).toMatchObject({ isValid: true, details: { sponsored: true } })
      expect(await verify(1n, 100_000_000)).toMatchObject({ isValid: true, details: {} })
    } finally {
      await close()
    }
  })

  it('is settled on mainnet where we delegate no energy', async () => {
    const { scheme, close } = await openLikeMainnet({})
    try {
      expect(scheme.network.listMinimums()).toEqual({})
      expect(await scheme.verify(readBody(await plan(1n)), { isAwaited })).toMatchObject({ isValid: true })
    } finally {
      await close()
    }
  })

  it('is settled on a test network', async () => {
    const service = await scene.open({ environment: createSponsor() })
    expect(service.core.useCases.core.listSupported().kinds[0]?.minimumPayments).toBeUndefined()
    expect(await service.settle(await plan(1n, 0))).toMatchObject({ success: true })
  })

  it('is what the operator says, also where we delegate no energy', async () => {
    const service = await scene.open({ environment: { TRON_MIN_PAYMENT_nile: '20' } })
    const [kind] = service.core.useCases.core.listSupported().kinds
    expect(kind?.minimumPayments).toEqual({ [scene.token]: '20' })
    const dust = await plan(19n)
    expect(await service.verify(dust)).toMatchObject(refused)
    expect(await service.settle(dust)).toMatchObject({
      success: false,
      errorReason: 'payment_below_minimum',
      transaction: '',
    })
    expect(await service.settle(await plan(20n))).toMatchObject({ success: true })
  })

  it('is not refused any more once its settlement began', async () => {
    const shortWait = { SETTLE_WAIT_SECONDS: '1' }
    const before = await scene.open({ environment: shortWait })
    const body = await plan(1_000n)
    scene.chain.pause()
    const pending = await before.settle(body)
    expect(pending).toMatchObject({ errorReason: 'settlement_pending' })

    const after = await scene.open({ environment: { ...shortWait, TRON_MIN_PAYMENT_nile: '1000000' } })
    expect(await after.settle(body)).toMatchObject({ errorReason: 'settlement_pending' })
    expect(await after.verify(body)).toMatchObject({ isValid: true })
    scene.chain.resume()
    await reconcileUntil(after, pending, 'confirmed')
    expect(await after.settle(body)).toMatchObject({ success: true })
  })
})
