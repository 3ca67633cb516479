import { describe, expect, it } from 'vitest'
import { reconcileUntil } from '../../../support/coreClient.js'
import { pollUntil } from '../../../support/pollUntil.js'
import type { Fault } from '../../../support/rpcProxy.js'
import { clientPaidPayment, provenAfterSeconds, sponsoredPayment } from '../../../support/ton/payment.js'
import { randomAddress, type WalletKind } from '../../../support/ton/wallets.js'
import { useScene } from '../../../support/useScene.js'
import { openScene } from '../scene.js'

const scene = useScene(openScene)

/** The node knows the newest block, but no transaction of an account. */
const lacksTransactions: Fault = {
  kind: 'tamper',
  change: (result) => ({ ...Object(result), last_transaction_id: { lt: '0', hash: '' } }),
}

describe('a client-paid payment', () => {
  const kinds: readonly WalletKind[] = ['v3r1', 'v3r2', 'v4r2', 'v5r1']

  it.each(kinds)('from a %s wallet credits the recipient and costs the facilitator nothing', async (kind) => {
    const { chain } = scene
    const service = await scene.open()
    const wallet = await chain.createPayer({ kind })
    const payTo = randomAddress()
    const body = await clientPaidPayment({ chain, wallet, payTo })
    const before = await scene.sumRelayBalances()
    expect(await service.verify(body)).toMatchObject({ isValid: true, payer: wallet.address.toRawString() })
    expect(await service.settle(body)).toMatchObject({
      success: true,
      network: 'ton:testnet',
      payer: wallet.address.toRawString(),
      transaction: expect.stringMatching(/^[0-9a-f]{64}$/),
    })
    expect(await chain.token.balanceOf(payTo)).toBe(1_000_000n)
    expect(await chain.token.balanceOf(wallet.address)).toBe(9_000_000n)
    expect(await scene.sumRelayBalances()).toBe(before)
  })
})

describe('with several endpoints', () => {
  it('finds the transactions by account when the message index of a node fails', async () => {
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

  it('does not accept a transaction of another message as proof', async () => {
    const { chain } = scene
    const proxy = await scene.openProxy()
    const service = await scene.open({ url: proxy.url })
    const paid = await chain.createPayer()
    // Responses about an earlier payment.
    const results: unknown[] = []
    const capture = (result: unknown) => {
      results.push(result)
      return result
    }
    proxy.setFault('tryLocateResultTx', { kind: 'tamper', change: capture })
    const before = await clientPaidPayment({ chain, wallet: paid, payTo: randomAddress() })
    expect(await service.settle(before)).toMatchObject({ success: true })
    const wallet = await chain.createPayer()
    const payTo = randomAddress()
    await chain.deployRejecting(chain.token.walletOf(payTo))
    const refusing = chain.token.walletOf(payTo).toRawString()
    proxy.setFault('tryLocateResultTx', {
      kind: 'tamper',
      change: (result, params) => (JSON.stringify(params).includes(refusing) ? results.at(-1) : result),
    })
    const body = await clientPaidPayment({ chain, wallet, payTo })
    expect(await service.settle(body)).toMatchObject({ success: false, errorReason: 'transaction_failed' })
  })

  it('confirms a large payment only when a second endpoint has seen it', async () => {
    const { chain } = scene
    const [honest, behind] = [await scene.openProxy(), await scene.openProxy()]
    const environment = { TON_CROSS_CHECK_AMOUNT: '1000000', SETTLE_WAIT_SECONDS: '2' }
    const service = await scene.open({ url: `${honest.url},${behind.url}`, environment })
    behind.setFault('getAddressInformation', lacksTransactions)
    const wallet = await chain.createPayer()
    const payTo = randomAddress()
    const large = await clientPaidPayment({ chain, wallet, payTo })
    const pending = await service.settle(large)
    expect(pending).toMatchObject({ success: false, errorReason: 'settlement_pending' })
    await pollUntil(async () => (await chain.token.balanceOf(payTo)) === 1_000_000n, 'the payment to arrive')
    const small = await clientPaidPayment({ chain, wallet, payTo, amount: 999_999n })
    let answer: unknown
    const isPaid = async () => {
      const settled = await service.settle(small)
      answer = settled
      // It is pending where the chain took longer than its wait, and only rounds resolve it then.
      if (!settled.success) await service.reconcile()
      return settled.success
    }
    await pollUntil(isPaid, 'success of the small payment', () => answer)
    behind.clearFaults()
    await reconcileUntil(service, pending, 'confirmed')
    expect(await service.settle(large)).toMatchObject({ success: true })
  })

  it('confirms a payment whose transactions the preferred endpoint lacks', async () => {
    const { chain } = scene
    const [behind, honest] = [await scene.openProxy(), await scene.openProxy()]
    const service = await scene.open({ url: `${behind.url},${honest.url}` })
    behind.setFault('getAddressInformation', lacksTransactions)
    const payTo = randomAddress()
    const wallet = await chain.createPayer()
    expect(await service.settle(await clientPaidPayment({ chain, wallet, payTo }))).toMatchObject({
      success: true,
    })
    const sponsored = await chain.createPayer()
    const body = await sponsoredPayment({ chain, wallet: sponsored, payTo })
    expect(await service.settle(body)).toMatchObject({ success: true })
    expect(await chain.token.balanceOf(payTo)).toBe(2_000_000n)
  })

  it('fails no payment as expired whose transactions another endpoint has', async () => {
    const { chain } = scene
    const [behind, honest] = [await scene.openProxy(), await scene.openProxy()]
    const environment = { SETTLE_WAIT_SECONDS: '2' }
    const service = await scene.open({ url: `${behind.url},${honest.url}`, environment })
    behind.setFault('getAddressInformation', lacksTransactions)
    honest.setFault('getTransactions', { kind: 'refuse' })
    const wallet = await chain.createPayer()
    const payTo = randomAddress()
    const body = await clientPaidPayment({ chain, wallet, payTo })
    const pending = await service.settle(body)
    expect(pending).toMatchObject({ success: false, errorReason: 'settlement_pending' })
    await pollUntil(async () => (await chain.token.balanceOf(payTo)) === 1_000_000n, 'the payment to arrive')
    honest.clearFaults()
    chain.ledger.warp(provenAfterSeconds)
    await reconcileUntil(service, pending, 'confirmed')
    expect(await service.settle(body)).toMatchObject({ success: true })
  })

  it('sends a lost payment again while another endpoint hangs', async () => {
    const { chain } = scene
    const [present, silent] = [await scene.openProxy(), await scene.openProxy()]
    const service = await scene.open({ url: `${present.url},${silent.url}` })
    const body = await clientPaidPayment({ chain, wallet: await chain.createPayer(), payTo: randomAddress() })
    expect(await service.verify(body)).toMatchObject({ isValid: true })
    const release = silent.hold('getAddressInformation')
    chain.ledger.setDropping(true)
    const settling = service.settle(body)
    try {
      // It is sent again sooner than the endpoint that hangs is given up.
      await pollUntil(() => present.count('sendBoc') > 1, 'the payment to be sent again')
    } finally {
      chain.ledger.setDropping(false)
      release()
    }
    expect(await settling).toMatchObject({ success: true })
  })

  it('settles while one endpoint is down', async () => {
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

describe('a relayed payment', () => {
  it('of a payer without TON and without a deployed wallet deploys it and credits the recipient', async () => {
    const { chain } = scene
    const service = await scene.open()
    const wallet = await chain.createPayer({ nanoTon: 0n, isDeployed: false })
    const payTo = randomAddress()
    const responseDestination = scene.relays[0] ?? null
    const extra = { responseDestination: responseDestination?.toRawString() }
    const body = await sponsoredPayment({ chain, wallet, payTo, responseDestination, extra })
    const before = await scene.sumRelayBalances()
    expect(await service.verify(body)).toMatchObject({ isValid: true })
    expect(await service.settle(body)).toMatchObject({ success: true, payer: wallet.address.toRawString() })
    expect(await chain.token.balanceOf(payTo)).toBe(1_000_000n)
    expect(await chain.isDeployed(wallet.address)).toBe(true)
    const cost = before - (await scene.sumRelayBalances())
    expect(cost).toBeGreaterThan(0n)
    expect(cost).toBeLessThan(50_000_000n)
    // The next payment comes from the deployed wallet.
    const next = await sponsoredPayment({ chain, wallet, payTo, responseDestination, extra })
    expect(await service.settle(next)).toMatchObject({ success: true })
    expect(await chain.token.balanceOf(payTo)).toBe(2_000_000n)
  })

  it('is answered under the network name that the caller used', async () => {
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

  it('is announced with sponsored fees and the response destination', async () => {
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
