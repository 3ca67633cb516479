import { describe, expect, it } from 'vitest'
import { openStreamBody } from '../../../../src/protocol/streams.js'
import { isNonceUsed, setUsdcAllowance } from '../../../support/evm/permit2.js'
import { uptoPayment as uptoPermit2Payment } from '../../../support/evm/uptoPermit2.js'
import { createEoa, type EoaWallet } from '../../../support/evm/wallets.js'
import { pollUntil } from '../../../support/pollUntil.js'
import { rejectionOf } from '../../../support/rejectionOf.js'
import { useScene } from '../../../support/useScene.js'
import { planPermit } from '../permit2/exact/scene.js'
import { openScene } from '../scene.js'
import { openUpto, type UptoService } from './scene.js'

/* The resource server has the account `shop`; its payer asks without an account, or with one of its own. */

const scene = useScene(openScene)

const shop = 'shop'
const payers = ['anonymous', 'account-of-the-payer']
const duplicate = { success: false, errorReason: 'duplicate_settlement', transaction: '' }
const heldForAnother = 'This authorization is held for another account'

const openStreamAs = async ({ core }: UptoService, body: unknown, caller: string) => {
  const request = { body: openStreamBody.parse(body), caller, quota: null, isAwaited: () => true }
  return (await core.useCases.streams.openStream(request)).answer
}

const planPermit2 = async ({ router }: UptoService, wallet: EoaWallet = createEoa()) => {
  const payTo = createEoa().address
  await scene.chain.mint(wallet.address, 10_000n)
  await setUsdcAllowance(scene.chain, wallet.address)
  return { body: await uptoPermit2Payment({ chain: scene.chain, wallet, payTo, facilitator: router }), payTo }
}

const forms = [
  ['permit', (service: UptoService) => service.plan()],
  ['Permit2', (service: UptoService) => planPermit2(service)],
] as const

describe.each(forms)('an authorization by %s that an account has verified', (_form, plan) => {
  it.each(payers)('is neither settled for 0, nor verified, nor held by a stream for %s', async (payer) => {
    const service = await openUpto(scene)
    const { body, payTo } = await plan(service)
    expect(await service.verify(body, shop)).toMatchObject({ isValid: true })
    for (const settleAmount of ['0', '1', '10000']) {
      expect(await service.settle({ ...body, settleAmount }, payer)).toMatchObject({
        ...duplicate,
        errorMessage: heldForAnother,
      })
    }
    expect(await service.verify(body, payer)).toMatchObject({
      isValid: false,
      invalidReason: 'duplicate_settlement',
      invalidMessage: heldForAnother,
    })
    expect(await rejectionOf(openStreamAs(service, body, payer))).toMatchObject({
      code: 'PAYMENT_REFUSED',
      reason: 'duplicate_settlement',
    })
    expect(await service.settle({ ...body, settleAmount: '7000' }, shop)).toMatchObject({
      success: true,
      settledAmount: '7000',
    })
    expect(await scene.chain.balanceOf(payTo)).toBe(7_000n)
  })

  it('is not settled for 0 by one of many requests at once', async () => {
    const service = await openUpto(scene)
    const { body, payTo } = await plan(service)
    expect(await service.verify(body, shop)).toMatchObject({ isValid: true })
    const answers = await Promise.all([
      ...Array.from({ length: 10 }, (_, index) =>
        service.settle({ ...body, settleAmount: '0' }, payers[index % 2]),
      ),
      service.settle({ ...body, settleAmount: '7000' }, shop),
    ])
    expect(answers.filter(({ success }) => success)).toEqual([answers.at(-1)])
    expect(await scene.chain.balanceOf(payTo)).toBe(7_000n)
  })

  it('is opened as a stream by the same account', async () => {
    const service = await openUpto(scene)
    const { body } = await plan(service)
    await service.verify(body, shop)
    expect(await openStreamAs(service, body, shop)).toMatchObject({ stream: { status: 'active' } })
  })

  it('is theirs again once the hold of the account has ended', async () => {
    const service = await openUpto(scene)
    const { body } = await plan(service)
    await service.verify(body, shop)
    await scene.database.pool().query("update reservations set expires_at = now() - interval '1 second'")
    expect(await service.verify(body)).toMatchObject({ isValid: true })
  })
})

describe('the nonce of a Permit2 authorization that an account holds', () => {
  const holds = [
    ['a stream', (service: UptoService, body: unknown) => openStreamAs(service, body, shop)],
    ['a verification', (service: UptoService, body: unknown) => service.verify(body, shop)],
  ] as const

  it.each(holds)(
    'by %s is not burned by an exact payment of the payer to another wallet of its own',
    async (_by, hold) => {
      const service = await openUpto(scene)
      const wallet = createEoa()
      const { body, payTo } = await planPermit2(service, wallet)
      await hold(service, body)
      const { nonce } = body.paymentPayload.payload.permit2Authorization
      const exact = await planPermit(scene, { wallet, amount: 1n, permit: { nonce } })
      for (const payer of [...payers, 'another-shop']) {
        expect(await service.settle(exact.body, payer)).toMatchObject(duplicate)
        expect(await service.verify(exact.body, payer)).toMatchObject({
          isValid: false,
          invalidReason: 'duplicate_settlement',
          invalidMessage: heldForAnother,
        })
      }
      // The same account would pay another recipient with it.
      expect(await service.settle(exact.body, shop)).toMatchObject(duplicate)
      expect(await isNonceUsed(scene.chain, exact.body)).toBe(false)
      expect(await scene.chain.balanceOf(payTo)).toBe(0n)
    },
  )

  it('settles the stream after such attempts', async () => {
    const service = await openUpto(scene)
    const wallet = createEoa()
    const { body, payTo } = await planPermit2(service, wallet)
    const { stream } = await openStreamAs(service, body, shop)
    const { nonce } = body.paymentPayload.payload.permit2Authorization
    const exact = await planPermit(scene, { wallet, amount: 1n, permit: { nonce } })
    const end = { streamId: stream.id, finalAmount: '7000' }
    const [closed, ...stolen] = await Promise.all([
      service.core.useCases.streams.closeStream({ caller: shop, token: null }, end),
      ...payers.map((payer) => service.settle(exact.body, payer)),
    ])
    expect(closed).toMatchObject({ stream: { status: 'closed', settledAmount: '7000' } })
    for (const each of stolen) expect(each).toMatchObject({ success: false })
    expect(await scene.chain.balanceOf(payTo)).toBe(7_000n)
  })

  it('that was settled for 0 is not verified under exact', async () => {
    const service = await openUpto(scene)
    const wallet = createEoa()
    const { body } = await planPermit2(service, wallet)
    const { nonce } = body.paymentPayload.payload.permit2Authorization
    expect(await service.settle({ ...body, settleAmount: '0' }, shop)).toMatchObject({ success: true })
    const exact = await planPermit(scene, { wallet, amount: 1n, permit: { nonce } })
    expect(await service.verify(exact.body)).toMatchObject({ invalidReason: 'duplicate_settlement' })
  })
})

describe.each(forms)('a hold by %s of a caller without an account', (_form, plan) => {
  it('yields to an account, and then keeps nothing from it', async () => {
    const service = await openUpto(scene)
    const { body } = await plan(service)
    expect(await service.verify(body)).toMatchObject({ isValid: true })
    expect(await service.verify(body, shop)).toMatchObject({ isValid: true })
    expect(await service.settle({ ...body, settleAmount: '0' })).toMatchObject(duplicate)
    expect(await service.settle({ ...body, settleAmount: '5' }, shop)).toMatchObject({ success: true })
  })

  it('of a stream yields to an account; the stream fails once that has settled', async () => {
    const service = await openUpto(scene)
    const { body, payTo } = await plan(service)
    const { stream, streamToken: token = null } = await openStreamAs(service, body, 'anonymous')
    expect(await service.settle({ ...body, settleAmount: '0' })).toMatchObject(duplicate)
    expect(await service.verify(body, shop)).toMatchObject({ isValid: true })
    expect(await service.settle({ ...body, settleAmount: '5' }, shop)).toMatchObject({ success: true })
    const actor = { caller: 'anonymous', token }
    const end = { streamId: stream.id, finalAmount: '7000' }
    expect(await service.core.useCases.streams.closeStream(actor, end)).toMatchObject({
      stream: { status: 'failed', errorReason: 'duplicate_settlement' },
    })
    expect(await scene.chain.balanceOf(payTo)).toBe(5n)
  })
})

describe('the funds of a payer', () => {
  it('are not kept from an account by authorizations that callers without one have verified', async () => {
    const service = await openUpto(scene)
    const wallet = createEoa()
    const [first, second, third] = [
      await planPermit2(service, wallet),
      await planPermit2(service, wallet),
      await planPermit2(service, wallet),
    ]
    for (const { body } of [first, second, third]) {
      expect(await service.verify(body)).toMatchObject({ isValid: true })
    }
    const fourth = await uptoPermit2Payment({ chain: scene.chain, wallet, facilitator: service.router })
    expect(await service.verify(fourth)).toMatchObject({ invalidReason: 'insufficient_funds' })
    expect(await service.verify(fourth, shop)).toMatchObject({ isValid: true })
    // What an account holds counts for everyone.
    const fifth = await uptoPermit2Payment({ chain: scene.chain, wallet, facilitator: service.router })
    expect(await service.verify(fifth, 'another-shop')).toMatchObject({ isValid: true })
    const sixth = await uptoPermit2Payment({ chain: scene.chain, wallet, facilitator: service.router })
    expect(await service.verify(sixth, 'another-shop')).toMatchObject({ isValid: true })
    const seventh = await uptoPermit2Payment({ chain: scene.chain, wallet, facilitator: service.router })
    expect(await service.verify(seventh, 'another-shop')).toMatchObject({
      invalidReason: 'insufficient_funds',
    })
  })
})

describe.each(forms)('an authorization by %s whose settlement is under way', (form, plan) => {
  it('is not verified by another request', async () => {
    const service = await openUpto(scene, { environment: { SETTLE_WAIT_SECONDS: '1' } })
    const { body } = await plan(service)
    await scene.chain.control.setAutomine(false)
    const settleAmount = form === 'permit' ? '0' : '1'
    expect(await service.settle({ ...body, settleAmount })).toMatchObject({
      errorReason: 'settlement_pending',
    })
    for (const caller of [shop, 'anonymous']) {
      expect(await service.verify(body, caller)).toMatchObject({
        isValid: false,
        invalidReason: 'duplicate_settlement',
      })
    }
  })
})

it('a settlement holds the funds as long as it is pending, whatever time-out its request has', async () => {
  const service = await openUpto(scene, { environment: { SETTLE_WAIT_SECONDS: '1' } })
  const wallet = createEoa()
  await scene.chain.mint(wallet.address, 20_000n)
  await setUsdcAllowance(scene.chain, wallet.address)
  const plan = (amount: bigint) =>
    uptoPermit2Payment({ chain: scene.chain, wallet, facilitator: service.router, amount })
  const [first, second] = [await plan(10_000n), await plan(15_000n)]
  await scene.chain.control.setAutomine(false)
  expect(await service.settle({ ...first, settleAmount: '10000' })).toMatchObject({
    errorReason: 'settlement_pending',
  })
  await scene.database.pool().query("update reservations set expires_at = now() - interval '1 hour'")
  expect(await service.verify(second, shop)).toMatchObject({ invalidReason: 'insufficient_funds' })
  await scene.chain.control.setAutomine(true)
  await scene.chain.mint(wallet.address, 5_000n)
  await pollUntil(async () => {
    await service.reconcile()
    return (await service.verify(second, shop)).isValid
  }, 'the settlement to be confirmed')
})

describe('one balance', () => {
  it.each([
    ['anonymous', 'anonymous'],
    [shop, 'anonymous'],
    [shop, shop],
  ])(
    'backs one authorization of %s, although %s verifies it again for less and shorter',
    async (caller, payer) => {
      const service = await openUpto(scene)
      const wallet = createEoa()
      await scene.chain.mint(wallet.address, 10_000n)
      await setUsdcAllowance(scene.chain, wallet.address)
      const verdicts: boolean[] = []
      for (let round = 0; round < 5; round++) {
        const body = await uptoPermit2Payment({ chain: scene.chain, wallet, facilitator: service.router })
        verdicts.push((await service.verify(body, caller)).isValid)
        const paymentRequirements = { ...body.paymentRequirements, maxTimeoutSeconds: 0.001 }
        await service.verify({ ...body, paymentRequirements, settleAmount: '0' }, payer)
        await service.settle({ ...body, paymentRequirements, settleAmount: '10001' }, payer)
      }
      expect(verdicts).toEqual([true, false, false, false, false])
      const { rows } = await scene.database
        .pool()
        .query('select sum(amount) from reservations where payer = $1', [wallet.address.toLowerCase()])
      expect(rows).toEqual([{ sum: '10000' }])
    },
  )
})
