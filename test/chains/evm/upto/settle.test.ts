import { encodeFunctionData, type Hex } from 'viem'
import { describe, expect, it } from 'vitest'
import { findRecipientRouter } from '../../../../src/chains/evm/contracts/routers.js'
import { randomAddress } from '../../../support/evm/authorization.js'
import { deployTestToken } from '../../../support/evm/testTokens.js'
import { type UptoPaymentBody, uptoPayment } from '../../../support/evm/upto.js'
import { uptoPayment as uptoPermit2Payment } from '../../../support/evm/uptoPermit2.js'
import { permit2612TypedData, permitTokenAbi } from '../../../support/evm/uptoRouter.js'
import {
  createDelegatedEoa,
  createEoa,
  createSoladyWallet,
  deployWallet,
  type PayerWallet,
} from '../../../support/evm/wallets.js'
import { pollUntil } from '../../../support/pollUntil.js'
import { useScene } from '../../../support/useScene.js'
import { planPermit } from '../permit2/exact/scene.js'
import { openScene, openSlowly, quickFinality, readOneBlockLater } from '../scene.js'
import { countSent, expectRefused, sendAsStranger, sweep } from '../strangers.js'
import { openUpto, type PlannedUpto, type UptoService } from './scene.js'

const scene = useScene(openScene)

const settle = (service: UptoService, { body }: Pick<PlannedUpto, 'body'>, settleAmount: bigint | string) =>
  service.settle({ ...body, settleAmount: String(settleAmount) })

const nonceOf = (owner: Hex): Promise<bigint> =>
  scene.chain.client.readContract({
    address: scene.chain.token.verifyingContract,
    abi: permitTokenAbi,
    functionName: 'nonces',
    args: [owner],
  })

/** Submits the permit without the router, as anyone may. */
const frontRun = async ({ body }: PlannedUpto): Promise<void> => {
  const { authorization, signature } = body.paymentPayload.payload
  if (typeof signature === 'string') throw new Error('The signature is not in parts')
  const { owner, spender, value, deadline } = authorization
  await sendAsStranger(scene, {
    to: scene.chain.token.verifyingContract,
    data: encodeFunctionData({
      abi: permitTokenAbi,
      functionName: 'permit',
      args: [owner, spender, BigInt(value), BigInt(deadline), signature.v, signature.r, signature.s],
    }),
  })
}

const takesBoth = { EVM_SHARED_ROUTER_PERMITS: 'true' }

describe('a payment by permit', () => {
  it.each([
    ['of the recipient', true],
    ['that is shared', false],
  ])('for the router %s moves what was used, and no more', async (_, isBound) => {
    const service = await openUpto(scene, { environment: takesBoth })
    const planned = await service.plan({ isBound })
    const { body, payer, payTo } = planned
    expect(await service.verify(body)).toMatchObject({ isValid: true, payer })
    expect(await settle(service, planned, 2_500n)).toMatchObject({ success: true, payer, amount: '2500' })
    expect(await scene.chain.balanceOf(payTo)).toBe(2_500n)
    expect(await scene.chain.balanceOf(payer)).toBe(7_500n)
  })

  it('for 0 moves nothing, and uses the permit up on chain', async () => {
    const service = await openUpto(scene)
    const planned = await service.plan({})
    const settled = await settle(service, planned, 0n)
    expect(settled).toMatchObject({ success: true, amount: '0' })
    expect(settled.transaction).toMatch(/^0x[0-9a-f]{64}$/)
    expect(await nonceOf(planned.payer)).toBe(1n)
    expect(await scene.chain.balanceOf(planned.payTo)).toBe(0n)
    expect(await settle(service, planned, 1n)).toMatchObject({
      success: false,
      errorReason: 'duplicate_settlement',
    })
  })

  it('of a returning payer uses the next nonce, and the rest of an earlier permit stays out of reach', async () => {
    const service = await openUpto(scene)
    const wallet = createEoa()
    const payTo = createEoa().address
    const first = await service.plan({ wallet, payTo, balance: 20_000n })
    expect(await settle(service, first, 1_000n)).toMatchObject({ success: true })
    const second = await service.plan({ wallet, payTo, balance: 0n, permit: { nonce: 1n } })
    expect(await settle(service, second, 3_000n)).toMatchObject({ success: true })
    expect(await scene.chain.balanceOf(payTo)).toBe(4_000n)
  })

  const wallets: readonly (readonly [string, () => Promise<PayerWallet>])[] = [
    [
      'a contract wallet (EIP-1271)',
      async () => deployWallet(scene.chain, await createSoladyWallet(scene.chain)),
    ],
    ['a delegated account (EIP-7702)', () => createDelegatedEoa(scene.chain, { checksSignatures: true })],
  ]
  it.each(wallets)('of %s is settled', async (_, create) => {
    const service = await openUpto(scene)
    const planned = await service.plan({ wallet: await create() })
    expect(await service.verify(planned.body)).toMatchObject({ isValid: true })
    expect(await settle(service, planned, 2_500n)).toMatchObject({ success: true })
    expect(await scene.chain.balanceOf(planned.payTo)).toBe(2_500n)
  })

  it('that another account submitted first is settled all the same', async () => {
    const service = await openUpto(scene)
    const planned = await service.plan()
    expect(await service.verify(planned.body)).toMatchObject({ isValid: true })
    await frontRun(planned)
    expect(await service.verify(planned.body)).toMatchObject({ isValid: true })
    expect(await settle(service, planned, 2_500n)).toMatchObject({ success: true })
    expect(await scene.chain.balanceOf(planned.payTo)).toBe(2_500n)
  })

  it('that another account submits while our transaction waits is settled all the same', async () => {
    const { service, settleAfter } = await openSlowUpto()
    const planned = await service.plan()
    const settled = await settleAfter({ ...planned.body, settleAmount: '2500' }, () => frontRun(planned))
    expect(settled).toMatchObject({ success: true })
    expect(await scene.chain.balanceOf(planned.payTo)).toBe(2_500n)
  })

  it('is settled for one of two requests with different amounts, and the other moves nothing', async () => {
    const service = await openUpto(scene)
    const planned = await service.plan()
    const answers = await Promise.all([settle(service, planned, 2_000n), settle(service, planned, 3_000n)])
    const [winner, ...others] = answers.filter(({ success }) => success)
    const [loser] = answers.filter(({ success }) => !success)
    expect(others).toEqual([])
    expect(loser).toMatchObject({ errorReason: 'duplicate_settlement' })
    expect(await scene.chain.balanceOf(planned.payTo)).toBe(BigInt(winner?.amount ?? ''))
  })
})

/** The payer has settled one permit and left a part of its allowance, and has signed a second one. */
const planSecond = async (service: UptoService, isBound: boolean) => {
  const wallet = createEoa()
  const payTo = createEoa().address
  const first = await service.plan({ wallet, payTo, isBound, balance: 20_000n })
  expect(await settle(service, first, 1_000n)).toMatchObject({ success: true })
  const second = await service.plan({
    wallet,
    payTo,
    isBound,
    balance: 0n,
    maxAmount: 5_000n,
    permit: { nonce: 1n },
  })
  const { spender } = second.body.paymentPayload.payload.authorization
  const sign = (permit: { readonly spender: Hex; readonly value: bigint }) =>
    service.plan({ wallet, payTo, isBound, balance: 0n, permit: { nonce: 1n, ...permit } })
  return { wallet, payTo, second, spender, sign }
}

describe.each([
  ['of the recipient', true],
  ['that is shared', false],
])('a permit for the router %s that the payer cancelled', (_, isBound) => {
  it('by a permit for another spender draws nothing from what an earlier one left', async () => {
    const service = await openUpto(scene, { environment: takesBoth })
    const { payTo, second, sign } = await planSecond(service, isBound)
    await frontRun(await sign({ spender: createEoa().address, value: 0n }))
    expect(await service.verify(second.body)).toMatchObject({
      isValid: false,
      invalidReason: 'permit_allowance_changed',
    })
    for (const amount of [1n, 5_000n]) {
      expect(await settle(service, second, amount)).toMatchObject({
        success: false,
        errorReason: 'permit_allowance_changed',
        transaction: '',
      })
    }
    expect(await scene.chain.balanceOf(payTo)).toBe(1_000n)
  })

  it('as the documentation says is refused by the chain, too, while our transaction waits', async () => {
    const { service, settleAfter } = await openSlowUpto(takesBoth)
    const { payTo, second, spender, sign } = await planSecond(service, isBound)
    const cancelling = await sign({ spender, value: 0n })
    const pending = await settleAfter({ ...second.body, settleAmount: '1' }, () => frontRun(cancelling))
    await readOneBlockLater(scene, service, pending)
    expect(await service.verify(second.body)).toMatchObject({ invalidReason: 'permit_allowance_changed' })
    expect(await scene.chain.balanceOf(payTo)).toBe(1_000n)
  })
})

/** The places of the answers in a transaction. */
const groupByTransaction = (answers: readonly { readonly transaction: string }[]) => {
  const places = new Map<string, number[]>()
  for (const [at, { transaction }] of answers.entries()) {
    places.set(transaction, [...(places.get(transaction) ?? []), at])
  }
  return places
}

describe('a permit for the router of any recipient', () => {
  const bodyFor = ({ body }: PlannedUpto, payTo: Hex): UptoPaymentBody => {
    const requirements = { ...body.paymentRequirements, payTo }
    return {
      ...body,
      paymentPayload: { ...body.paymentPayload, accepted: requirements },
      paymentRequirements: requirements,
    }
  }

  it('is refused for every recipient, and not offered', async () => {
    const service = await openUpto(scene)
    const planned = await service.plan({ isBound: false })
    const thief = createEoa().address
    for (const payTo of [thief, planned.payTo]) {
      const body = bodyFor(planned, payTo)
      expect(await service.verify(body)).toMatchObject({
        isValid: false,
        invalidReason: 'invalid_permit_spender',
        invalidMessage: expect.stringContaining('GET /v1/router'),
      })
      expect(await settle(service, { body }, 10_000n)).toMatchObject({
        errorReason: 'invalid_permit_spender',
        transaction: '',
      })
      expect(await scene.chain.balanceOf(payTo)).toBe(0n)
    }
    const { core } = service.core.useCases
    const kind = core.listSupported().kinds.find(({ scheme }) => scheme === 'upto')
    expect(kind?.extra).not.toHaveProperty('routerAddress')
    const { network } = scene.chain
    const { payTo } = planned
    expect(await core.findRouter({ network, payTo })).not.toHaveProperty('sharedRouterAddress')
    // Also for a draft that names it, such as one copied from an earlier /supported.
    const routerAddress = service.router.toLowerCase()
    const draft = { scheme: 'upto', network, maxAmount: '10000', payTo, extra: { routerAddress } }
    expect(await core.completeAccepts({ accepts: [draft] })).toMatchObject({
      accepts: [{ extra: { routerAddress: findRecipientRouter(service.router, payTo) } }],
    })
  })

  it('is settled where the operator says so, also for a stranger', async () => {
    const service = await openUpto(scene, { environment: takesBoth })
    const planned = await service.plan({ isBound: false })
    const stranger = createEoa().address
    expect(await settle(service, { body: bodyFor(planned, stranger) }, 10_000n)).toMatchObject({
      success: true,
    })
    expect(await scene.chain.balanceOf(stranger)).toBe(10_000n)
    const { core } = service.core.useCases
    expect(core.listSupported().kinds.find(({ scheme }) => scheme === 'upto')?.extra).toMatchObject({
      routerAddress: service.router,
    })
    const { network } = scene.chain
    expect(await core.findRouter({ network, payTo: stranger })).toMatchObject({
      sharedRouterAddress: service.router,
    })
  })
})

describe('many payments', () => {
  it('of every form share transactions, also two equal ones of one payer', async () => {
    const { chain } = scene
    const proxy = await scene.openProxy()
    const service = await openUpto(scene, { rpcUrls: [proxy.url] })
    const payTo = createEoa().address
    const wallet = createEoa()
    const plan = async () => {
      const byPermit2 = await planPermit({ chain }, { wallet, payTo, amount: 2_500n })
      await chain.mint(wallet.address, 20_000n)
      const charge = await uptoPermit2Payment({ chain, wallet, payTo, facilitator: service.router })
      return [
        { ...(await service.plan({ payTo })).body, settleAmount: '2500' },
        byPermit2.body,
        { ...charge, settleAmount: '2500' },
        (await scene.plan({ payTo, amount: 2_500n })).body,
      ]
    }
    // A batch is as large as single transactions of each form showed.
    for (const body of await plan()) expect(await service.settle(body)).toMatchObject({ success: true })
    // Simulations that end together reach the queue together.
    proxy.setFault('eth_call', { kind: 'delay', milliseconds: 300 })
    let settled = 4
    await pollUntil(async () => {
      const bodies = [...(await plan()), ...(await plan())]
      const answers = await Promise.all(bodies.map((body) => service.settle(body)))
      expect(answers.map(({ errorReason }) => errorReason)).toEqual(bodies.map(() => undefined))
      settled += answers.length
      expect(await chain.balanceOf(payTo)).toBe(BigInt(settled) * 2_500n)
      return [...groupByTransaction(answers).values()].some((places) => countForms(places) > 1)
    }, 'payments of two forms in one transaction')
  })
})

/** Of answers at these places. */
const countForms = (places: readonly number[]): number => new Set(places.map((at) => at % 4)).size

describe('refused without a transaction', () => {
  const plans: readonly (readonly [string, (service: UptoService) => Promise<PlannedUpto>, string])[] = [
    [
      'a permit for another spender',
      (service) => service.plan({ permit: { spender: createEoa().address } }),
      'invalid_permit_spender',
    ],
    [
      'a permit below the maximum',
      (service) => service.plan({ permit: { value: 9_999n } }),
      'permit_amount_mismatch',
    ],
    ['an expired permit', (service) => service.plan({ permit: { deadline: 1n } }), 'permit_expired'],
    [
      'a nonce that is not the next one',
      (service) => service.plan({ permit: { nonce: 1n } }),
      'permit_nonce_mismatch',
    ],
    [
      "another account's signature",
      async (service) => {
        const stranger = createEoa()
        const planned = await service.plan()
        const { authorization } = planned.body.paymentPayload.payload
        const signature = await stranger.signTypedData(
          permit2612TypedData(scene.chain.token, {
            owner: planned.payer,
            spender: authorization.spender,
            value: 10_000n,
            nonce: 0n,
            deadline: BigInt(authorization.deadline),
          }),
        )
        return { ...planned, body: withSignature(planned.body, signature) }
      },
      'invalid_permit_signature',
    ],
    [
      'a payment to oneself',
      (service) => {
        const wallet = createEoa()
        return service.plan({ wallet, payTo: wallet.address })
      },
      'self_payment',
    ],
  ]
  it.each(plans)('is %s', async (_, plan, reason) => {
    const service = await openUpto(scene)
    const { body } = await plan(service)
    await expectRefused(scene, service, body, reason, { settleAmount: '1' })
  })

  it('is a payer without the maximum, until what was used is known', async () => {
    const service = await openUpto(scene)
    const planned = await service.plan({ balance: 9_999n })
    const refused = { isValid: false, invalidReason: 'insufficient_funds' }
    expect(await service.verify(planned.body)).toMatchObject(refused)
    expect(await settle(service, planned, 10_000n)).toMatchObject({ errorReason: 'insufficient_funds' })
    expect(await settle(service, planned, 9_999n)).toMatchObject({ success: true })
  })

  it('is the payload of exact, with a sentence', async () => {
    const service = await openUpto(scene)
    const { body } = await service.plan()
    const exact = await scene.plan()
    const payload = { ...body.paymentPayload, payload: exact.body.paymentPayload.payload }
    const answer = await service.verify({ ...body, paymentPayload: payload })
    expect(answer).toMatchObject({ isValid: false, invalidReason: 'unsupported_asset_transfer_method' })
    expect(answer.invalidMessage).toContain('EIP-3009')
  })

  it('is a token without permit, and the alternative is named', async () => {
    const { chain } = scene
    const token = await deployTestToken(chain, 'LegacyToken3009')
    const service = await openUpto(scene, { environment: { [`EVM_TOKENS_${chain.chainId}`]: token.address } })
    const wallet = createEoa()
    await token.mint(wallet.address, 10_000n)
    const body = await uptoPayment({ chain: token, router: service.router, wallet })
    await expectRefused(scene, service, body, 'permit_not_supported', { settleAmount: '1' })
    expect((await service.verify(body)).invalidMessage).toMatch(/Permit2/)
  })

  it.each([
    ['above the maximum', '10001', 'settle_amount_above_maximum'],
    ['below minAmount', '99', 'settle_amount_below_minimum'],
    ['that is missing', undefined, 'settle_amount_required'],
  ])('is an amount to settle %s', async (_, settleAmount, reason) => {
    const service = await openUpto(scene)
    const { body } = await service.plan({ requirements: { minAmount: '100' } })
    const before = await countSent(scene, service)
    const answer = await service.settle({ ...body, ...(settleAmount === undefined ? {} : { settleAmount }) })
    expect(answer).toMatchObject({ success: false, errorReason: reason })
    expect(await countSent(scene, service)).toBe(before)
    // The authorization is not used up by it.
    expect(await service.settle({ ...body, settleAmount: '100' })).toMatchObject({ success: true })
  })

  it('is every permit while the router is not deployed, where /supported lists upto by Permit2', async () => {
    const service = await scene.open()
    const { kinds } = service.core.useCases.core.listSupported()
    expect(kinds.find(({ scheme }) => scheme === 'upto')?.extra).toEqual({
      assetTransferMethods: ['permit2'],
      facilitatorAddress: service.signers[0]?.address,
    })
    const body = await uptoPayment({ chain: scene.chain, wallet: createEoa(), router: randomAddress() })
    expect(await service.verify(body)).toMatchObject({
      isValid: false,
      invalidReason: 'router_not_deployed',
    })
  })
})

describe('what changes between verify and settle', () => {
  it('an owner who was emptied is refused', async () => {
    const service = await openUpto(scene)
    const wallet = createEoa()
    const planned = await service.plan({ wallet })
    expect(await service.verify(planned.body)).toMatchObject({ isValid: true })
    await sweep(scene, wallet, 10_000n)
    expect(await settle(service, planned, 1n)).toMatchObject({
      success: false,
      errorReason: 'insufficient_funds',
      transaction: '',
    })
  })

  it('a nonce that another permit used is refused', async () => {
    const service = await openUpto(scene)
    const wallet = createEoa()
    const planned = await service.plan({ wallet })
    const other = await service.plan({ wallet, balance: 0n, permit: { spender: createEoa().address } })
    expect(await service.verify(planned.body)).toMatchObject({ isValid: true })
    await frontRun(other)
    expect(await settle(service, planned, 1n)).toMatchObject({
      success: false,
      errorReason: 'permit_allowance_changed',
      transaction: '',
    })
  })

  it('an owner who is emptied while our transaction waits fails for good, in a final block', async () => {
    const { service, settleAfter } = await openSlowUpto()
    const wallet = createEoa()
    const planned = await service.plan({
      wallet,
      permit: { deadline: BigInt(Math.floor(Date.now() / 1_000) + 3_600) },
    })
    const pending = await settleAfter({ ...planned.body, settleAmount: '10000' }, () =>
      sweep(scene, wallet, 10_000n),
    )
    const later = await readOneBlockLater(scene, service, pending)
    expect(later).toMatchObject({ status: 'failed', errorReason: 'invalid_upto_evm_transaction_failed' })
    expect(await scene.chain.balanceOf(planned.payTo)).toBe(0n)
  })
})

const openSlowUpto = (settings: Readonly<Record<string, string>> = {}) =>
  openSlowly(scene, (rpcUrls) =>
    openUpto(scene, { rpcUrls, environment: { ...quickFinality(scene), ...settings } }),
  )

const withSignature = (body: UptoPaymentBody, signature: Hex): UptoPaymentBody => ({
  ...body,
  paymentPayload: { ...body.paymentPayload, payload: { ...body.paymentPayload.payload, signature } },
})
