import { describe, expect, it } from 'vitest'
import { open } from '../../../src/chains/ton/open.js'
import { systemClock } from '../../../src/platform/clock.js'
import { silentLogger } from '../../../src/platform/logger.js'
import { isRefused, readPayment } from '../../../src/protocol/readPayment.js'
import { wirePaymentRequest } from '../../../src/protocol/wire.js'
import { createMemoryRateLimiter } from '../../../src/stores/cache/rateLimiter.js'
import { reconcileUntil } from '../../support/coreClient.js'
import { createMemoryLanes } from '../../support/memoryLanes.js'
import { clientPaidPayment, sponsoredPayment, type TonPaymentBody } from '../../support/ton/payment.js'
import { tonEnvironment } from '../../support/ton/relayWallets.js'
import { randomAddress } from '../../support/ton/wallets.js'
import { useScene } from '../../support/useScene.js'
import { readSettings } from './harness.js'
import { openScene } from './scene.js'

const scene = useScene(openScene)

const plan = async (
  amount: bigint,
  sign: typeof clientPaidPayment = sponsoredPayment,
): Promise<TonPaymentBody> => {
  const { chain } = scene
  return await sign({ chain, wallet: await chain.createPayer(), payTo: randomAddress(), amount })
}

const readBody = (body: TonPaymentBody) => {
  const payment = readPayment(wirePaymentRequest.parse(body))
  if (isRefused(payment)) throw new Error(payment.reason)
  return payment
}

const noHistory = { read: async () => ({ hasRecipientSettled: false, hasPayerFailed: false }) }

/** The scheme with the price and the token of mainnet, on the local chain. */
const openLikeMainnet = async (minPaymentGasShare = 0.1) => {
  const { chain } = scene
  const settings = readSettings(tonEnvironment(chain))
  const [mainnet] = readSettings({ ...tonEnvironment(chain), TON_NETWORKS: 'mainnet' }).networks
  const stablecoins = [{ asset: chain.token.master.toRawString(), decimals: 6 }]
  const minimumPayment = { fixed: null, coinUsd: mainnet?.minimumPayment.coinUsd ?? null, stablecoins }
  const limiter = createMemoryRateLimiter({ clock: systemClock })
  const opened = await open(
    { ...settings, networks: settings.networks.map((network) => ({ ...network, minimumPayment })) },
    {
      clock: { ...systemClock, now: () => new Date(chain.ledger.now() * 1_000) },
      logger: silentLogger,
      lanes: createMemoryLanes(),
      limiter,
      minPaymentGasShare,
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

describe('a payment of dust on TON', () => {
  it('is refused on mainnet when we relay it, and not when the payer pays for it', async () => {
    const { scheme, close } = await openLikeMainnet()
    try {
      // 0.045 TON at 2 USD is 0.09 USD, of which a tenth.
      expect(scheme.network.listMinimums()).toEqual({ [scene.chain.token.master.toRawString()]: '9000' })
      const verify = async (body: TonPaymentBody) => await scheme.verify(readBody(body), { isAwaited })
      expect(await verify(await plan(8_999n))).toMatchObject({
        isValid: false,
        reason: 'payment_below_minimum',
        payer: expect.stringMatching(/^0:[0-9a-f]{64}$/),
      })
      const forSettle = { isAwaited, isForSettle: true }
      expect(await scheme.verify(readBody(await plan(4_499n)), forSettle)).toMatchObject({ isValid: false })
      expect(await verify(await plan(9_000n))).toMatchObject({ isValid: true })
      expect(await verify(await plan(1n, clientPaidPayment))).toMatchObject({ isValid: true })
    } finally {
      await close()
    }
  })

  it('is refused without a key unless it is worth all TON that may be lost, in settle too', async () => {
    const { scheme, close } = await openLikeMainnet()
    try {
      const verify = async (body: TonPaymentBody, isForSettle = false) =>
        await scheme.verify(readBody(body), { isAwaited, isForSettle, caller: 'anonymous' })
      // 0.05 TON are attached, 0.006 for the wallet, and 0.01 for fees: at 2 USD 0.132 USD.
      expect(await verify(await plan(131_999n))).toMatchObject({ reason: 'payment_below_minimum' })
      expect(await verify(await plan(131_999n), true)).toMatchObject({ reason: 'payment_below_minimum' })
      expect(await verify(await plan(132_000n))).toMatchObject({ isValid: true })
      expect(await verify(await plan(132_000n), true)).toMatchObject({ isValid: true })
      expect(await verify(await plan(1n, clientPaidPayment))).toMatchObject({ isValid: true })
    } finally {
      await close()
    }
  })

  it('is worth more than what a payment to a new recipient costs the relay wallet', async () => {
    const service = await scene.open()
    const before = await scene.sumRelayBalances()
    // 0.132 USD are 0.066 TON: the minimum of the test before.
    expect(await service.settle(await plan(132_000n))).toMatchObject({ success: true })
    await scene.chain.ledger.settle()
    const lost = before - (await scene.sumRelayBalances())
    expect(lost).toBeGreaterThan(40_000_000n)
    expect(lost).toBeLessThan(66_000_000n)
  })

  it('is accepted without a key where the operator turned the minimum off', async () => {
    const { scheme, close } = await openLikeMainnet(0)
    try {
      const forSettle = { isAwaited, isForSettle: true, caller: 'anonymous' }
      expect(await scheme.verify(readBody(await plan(1n)), forSettle)).toMatchObject({ isValid: true })
    } finally {
      await close()
    }
  })

  it('is settled on testnet', async () => {
    const service = await scene.open()
    expect(service.core.useCases.core.listSupported().kinds[0]?.minimumPayments).toBeUndefined()
    expect(await service.settle(await plan(1n))).toMatchObject({ success: true })
  })

  it.each([
    ['relayed', sponsoredPayment],
    ['client-paid', clientPaidPayment],
  ])('is what the operator says for a %s payment', async (_form, sign) => {
    const service = await scene.open({ environment: { TON_MIN_PAYMENT_testnet: '20' } })
    const [kind] = service.core.useCases.core.listSupported().kinds
    expect(Object.values(kind?.minimumPayments ?? {})).toEqual(['20'])
    const dust = await plan(19n, sign)
    expect(await service.verify(dust)).toMatchObject(refused)
    expect(await service.settle(dust)).toMatchObject({
      success: false,
      errorReason: 'payment_below_minimum',
      transaction: '',
    })
    expect(await service.settle(await plan(20n, sign))).toMatchObject({ success: true })
  })

  it('is not refused any more once its settlement began', async () => {
    const shortWait = { SETTLE_WAIT_SECONDS: '1' }
    const before = await scene.open({ environment: shortWait })
    const body = await plan(1_000n, clientPaidPayment)
    scene.chain.ledger.setDropping(true)
    const pending = await before.settle(body)
    expect(pending).toMatchObject({ errorReason: 'settlement_pending' })

    const after = await scene.open({ environment: { ...shortWait, TON_MIN_PAYMENT_testnet: '1000000' } })
    expect(await after.settle(body)).toMatchObject({ errorReason: 'settlement_pending' })
    expect(await after.verify(body)).toMatchObject({ isValid: true })
    scene.chain.ledger.setDropping(false)
    await reconcileUntil(after, pending, 'confirmed')
    expect(await after.settle(body)).toMatchObject({ success: true })
  })
})
