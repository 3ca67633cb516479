import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { clientPaidPayment, sponsoredPayment } from '../../../support/ton/payment.js'
import { randomAddress, type WalletKind } from '../../../support/ton/wallets.js'
import { openScene, type Scene } from '../scene.js'

let scene: Scene

beforeAll(async () => {
  scene = await openScene()
})
afterEach(() => scene.reset())
afterAll(() => scene.close())

describe('a payment that the payer’s wallet sends', () => {
  const kinds: readonly WalletKind[] = ['v3r1', 'v3r2', 'v4r2', 'v5r1']

  it.each(kinds)(
    'from a wallet %s credits the recipient with the amount and costs us nothing',
    async (kind) => {
      const { chain } = scene
      const service = await scene.open()
      const wallet = await chain.createPayer({ kind })
      const payTo = randomAddress()
      const body = await clientPaidPayment({ chain, wallet, payTo })
      const before = await scene.sumRelays()
      expect(await service.verify(body)).toMatchObject({ isValid: true, payer: wallet.address.toRawString() })
      expect(await service.settle(body)).toMatchObject({
        success: true,
        network: 'ton:testnet',
        payer: wallet.address.toRawString(),
        transaction: expect.stringMatching(/^[0-9a-f]{64}$/),
      })
      expect(await chain.token.balanceOf(payTo)).toBe(1_000_000n)
      expect(await chain.token.balanceOf(wallet.address)).toBe(9_000_000n)
      expect(await scene.sumRelays()).toBe(before)
    },
  )
})

describe('a payment of a network with several nodes', () => {
  it('is found in the wallets’ own lists where a node’s index of messages fails', async () => {
    const { chain } = scene
    const proxy = await scene.openProxy()
    proxy.setFault('tryLocateResultTx', { kind: 'error', code: 500, message: 'cannot locate' })
    const service = await scene.open({ url: proxy.url })
    const wallet = await chain.createPayer()
    const payTo = randomAddress()
    expect(await service.settle(await sponsoredPayment({ chain, wallet, payTo }))).toMatchObject({
      success: true,
    })
    expect(await chain.token.balanceOf(payTo)).toBe(1_000_000n)
    expect(proxy.count('tryLocateResultTx')).toBeGreaterThan(0)
  })

  it('is not believed to be credited by a transaction of another message', async () => {
    const { chain } = scene
    const proxy = await scene.openProxy()
    const service = await scene.open({ url: proxy.url })
    const paid = await chain.createPayer()
    // What became of a payment that was made before.
    const results: unknown[] = []
    const note = (result: unknown) => {
      results.push(result)
      return result
    }
    proxy.setFault('tryLocateResultTx', { kind: 'tamper', change: note })
    const before = await clientPaidPayment({ chain, wallet: paid, payTo: randomAddress() })
    expect(await service.settle(before)).toMatchObject({ success: true })
    const wallet = await chain.createPayer()
    const payTo = randomAddress()
    await chain.putRefusing(chain.token.walletOf(payTo))
    const refusing = chain.token.walletOf(payTo).toRawString()
    proxy.setFault('tryLocateResultTx', {
      kind: 'tamper',
      change: (result, params) => (JSON.stringify(params).includes(refusing) ? results.at(-1) : result),
    })
    const body = await clientPaidPayment({ chain, wallet, payTo })
    expect(await service.settle(body)).toMatchObject({ success: false, errorReason: 'transaction_failed' })
  })

  it('that is large counts only when a second node has seen it', async () => {
    const { chain } = scene
    const [honest, behind] = [await scene.openProxy(), await scene.openProxy()]
    const environment = { TON_CROSS_CHECK_AMOUNT: '1000000', SETTLE_WAIT_SECONDS: '2' }
    const service = await scene.open({ url: `${honest.url},${behind.url}`, environment })
    // It knows of no transaction of anybody.
    behind.setFault('getAddressInformation', {
      kind: 'tamper',
      change: (result) => ({ ...Object(result), last_transaction_id: { lt: '0', hash: '' } }),
    })
    const wallet = await chain.createPayer()
    const payTo = randomAddress()
    const large = await clientPaidPayment({ chain, wallet, payTo })
    expect(await service.settle(large)).toMatchObject({ success: false, errorReason: 'settlement_pending' })
    expect(await chain.token.balanceOf(payTo)).toBe(1_000_000n)
    const small = await clientPaidPayment({ chain, wallet, payTo, amount: 999_999n })
    expect(await service.settle(small)).toMatchObject({ success: true })
    behind.clearFaults()
    await service.reconcile()
    expect(await service.settle(large)).toMatchObject({ success: true })
  })

  it('settles while one of them is away', async () => {
    const { chain } = scene
    const [away, present] = [await scene.openProxy(), await scene.openProxy()]
    const service = await scene.open({ url: `${away.url},${present.url}` })
    away.setFault('*', { kind: 'refuse' })
    const wallet = await chain.createPayer()
    const payTo = randomAddress()
    expect(await service.settle(await sponsoredPayment({ chain, wallet, payTo }))).toMatchObject({
      success: true,
    })
    expect(await chain.token.balanceOf(payTo)).toBe(1_000_000n)
  })
})

describe('a payment that we relay', () => {
  it('of a payer without TON and without a wallet on chain credits the recipient and deploys the wallet', async () => {
    const { chain } = scene
    const service = await scene.open()
    const wallet = await chain.createPayer({ nanoTon: 0n, isDeployed: false })
    const payTo = randomAddress()
    const responseDestination = scene.relays[0] ?? null
    const extra = { responseDestination: responseDestination?.toRawString() }
    const body = await sponsoredPayment({ chain, wallet, payTo, responseDestination, extra })
    const before = await scene.sumRelays()
    expect(await service.verify(body)).toMatchObject({ isValid: true })
    expect(await service.settle(body)).toMatchObject({ success: true, payer: wallet.address.toRawString() })
    expect(await chain.token.balanceOf(payTo)).toBe(1_000_000n)
    expect(await chain.isDeployed(wallet.address)).toBe(true)
    const cost = before - (await scene.sumRelays())
    expect(cost).toBeGreaterThan(0n)
    expect(cost).toBeLessThan(50_000_000n)
    // Its next payment comes from the wallet that stands there now.
    const next = await sponsoredPayment({ chain, wallet, payTo, responseDestination, extra })
    expect(await service.settle(next)).toMatchObject({ success: true })
    expect(await chain.token.balanceOf(payTo)).toBe(2_000_000n)
  })

  it('under the other ecosystem’s name of the network is answered under that name', async () => {
    const { chain } = scene
    const service = await scene.open()
    const wallet = await chain.createPayer({ nanoTon: 0n })
    const body = await sponsoredPayment({ chain, wallet, payTo: randomAddress() })
    const requirements = { ...body.paymentRequirements, network: 'tvm:-3' }
    const renamed = {
      paymentPayload: { ...body.paymentPayload, accepted: requirements },
      paymentRequirements: requirements,
    }
    expect(await service.settle(renamed)).toMatchObject({ success: true, network: 'tvm:-3' })
  })

  it('is offered with who pays the fees and where the rest of our TON goes', async () => {
    const service = await scene.open()
    const { kinds, signers } = service.core.useCases.core.listSupported()
    expect(kinds).toContainEqual(
      expect.objectContaining({
        scheme: 'exact',
        network: 'ton:testnet',
        extra: { areFeesSponsored: true, responseDestination: scene.relays[0]?.toRawString() },
      }),
    )
    expect(JSON.stringify(signers)).toContain(scene.relays[0]?.toRawString())
  })
})
