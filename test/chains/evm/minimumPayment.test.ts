import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { createAuthorizationMethod } from '../../../src/chains/evm/exactScheme.js'
import { createEvmMinimum } from '../../../src/chains/evm/network.js'
import { createTokenRegistry } from '../../../src/chains/evm/tokens/tokenRegistry.js'
import { systemClock } from '../../../src/platform/clock.js'
import { isRefused, readPayment } from '../../../src/protocol/readPayment.js'
import { wirePaymentRequest } from '../../../src/protocol/wire.js'
import { reconcileUntil } from '../../support/coreClient.js'
import { waitLimitMs } from '../../support/pollUntil.js'
import { openEngine } from './engineScene.js'
import { openScene, type Scene } from './scene.js'

let mainnet: Scene
let testnet: Scene

beforeAll(async () => {
  ;[mainnet, testnet] = await Promise.all([openScene({ chainId: 8453 }), openScene()])
})
afterEach(async () => {
  await Promise.all([mainnet.reset(), testnet.reset()])
})
afterAll(async () => {
  await Promise.all([mainnet.close(), testnet.close()])
})

const refused = { isValid: false, invalidReason: 'payment_below_minimum', retryable: true }

const findPublished = (service: Awaited<ReturnType<Scene['open']>>, { chain }: Scene) =>
  service.core.useCases.core
    .listSupported()
    .kinds.map(({ minimumPayments }) => minimumPayments?.[chain.token.verifyingContract])

describe('a payment of dust on EVM', () => {
  it('is refused on a main network before anything is sent, by the minimum that /supported names', async () => {
    const service = await mainnet.open()
    const [published = '', forOldClients] = findPublished(service, mainnet)
    const minimum = BigInt(published)
    expect(minimum).toBeGreaterThan(10n)
    expect(forOldClients).toBe(published)

    const { body, payer, payTo } = await mainnet.plan({ amount: minimum - 1n })
    const asset = mainnet.chain.token.verifyingContract
    expect(await service.verify(body)).toMatchObject({
      ...refused,
      payer,
      invalidMessage: `The payment of ${minimum - 1n} is lower than ${minimum}, the minimum of ${asset} on eip155:8453 in smallest units`,
    })
    const dust = await mainnet.plan({ amount: 10n })
    const result = await service.settle(dust.body)
    expect(result).toMatchObject({ success: false, errorReason: 'payment_below_minimum', transaction: '' })
    expect(result.settlementId).toBeUndefined()
    expect(await mainnet.countTransfersTo(dust.payTo)).toBe(0)
    expect(await mainnet.countTransfersTo(payTo)).toBe(0)

    const enough = await mainnet.plan({ amount: minimum })
    expect(await service.verify(enough.body)).toMatchObject({ isValid: true })
    expect(await service.settle(enough.body)).toMatchObject({ success: true })
  })

  it('is settled on a test network', async () => {
    const service = await testnet.open()
    expect(new Set(findPublished(service, testnet))).toEqual(new Set([undefined]))
    const { body } = await testnet.plan({ amount: 1n })
    expect(await service.verify(body)).toMatchObject({ isValid: true })
    expect(await service.settle(body)).toMatchObject({ success: true })
  })

  it('is settled on a main network with a share of 0', async () => {
    const service = await mainnet.open({ environment: { MIN_PAYMENT_GAS_SHARE: '0' } })
    const { body } = await mainnet.plan({ amount: 1n })
    expect(await service.settle(body)).toMatchObject({ success: true })
  })

  it.each([
    ['main', () => mainnet, '8453'],
    ['test', () => testnet, '84532'],
  ])('is what the operator says on a %s network', async (_kind, sceneOf, id) => {
    const scene = sceneOf()
    const service = await scene.open({ environment: { [`EVM_MIN_PAYMENT_${id}`]: '20' } })
    expect(findPublished(service, scene)[0]).toBe('20')
    expect(await service.verify((await scene.plan({ amount: 19n })).body)).toMatchObject(refused)
    expect(await service.settle((await scene.plan({ amount: 20n })).body)).toMatchObject({ success: true })
  })

  it('is not refused any more once its settlement began', async () => {
    const before = await testnet.open({ environment: { SETTLE_WAIT_SECONDS: '1' } })
    const { body, payTo } = await testnet.plan({ amount: 10n })
    await testnet.chain.control.setAutomine(false)
    const pending = await before.settle(body)
    expect(pending).toMatchObject({ errorReason: 'settlement_pending' })

    const after = await testnet.open({
      environment: { SETTLE_WAIT_SECONDS: '1', EVM_MIN_PAYMENT_84532: '1000000' },
    })
    expect(await after.settle(body)).toMatchObject({ errorReason: 'settlement_pending' })
    expect(await after.verify(body)).toMatchObject({ isValid: true })
    await testnet.chain.control.setAutomine(true)
    await reconcileUntil(before, pending, 'confirmed')
    expect(await after.settle(body)).toMatchObject({ success: true })
    expect(await testnet.countTransfersTo(payTo)).toBe(1)
  })
  it('is not refused between the claim and the send when gas becomes more expensive', async () => {
    const { engine, family, network, rpc } = await openEngine(testnet)
    const stablecoins = [{ asset: testnet.chain.token.verifyingContract, decimals: 6 }]
    const confirmed = { state: 'confirmed', transaction: '0x1' } as const
    let cost = 10n ** 12n
    const scheme = createAuthorizationMethod({
      family,
      network,
      rpc,
      tokens: createTokenRegistry(network, rpc),
      engine: { ...engine, findTypicalCost: () => cost, settle: async () => confirmed },
      clock: systemClock,
      minimum: createEvmMinimum(
        { ...network, minimumPayment: { fixed: null, coinUsd: 3_000, stablecoins } },
        0.1,
      ),
    })
    const { body } = await testnet.plan({ amount: 300n })
    const payment = readPayment(wirePaymentRequest.parse(body))
    if (isRefused(payment)) throw new Error(payment.reason)
    const options = { isAwaited: () => true, isForSettle: true }
    const verification = await scheme.verify(payment, options)
    if (!verification.isValid) throw new Error(verification.reason)
    cost *= 100n
    const recorder = { settlementId: 'any', record: async () => undefined }
    const waitUntil = AbortSignal.timeout(waitLimitMs)
    expect(await verification.settle(recorder, { waitUntil })).toEqual(confirmed)
    expect(await scheme.verify(payment, options)).toMatchObject({ reason: 'payment_below_minimum' })
  })
})
