import type { Hex } from 'viem'
import { beforeAll, describe, expect, it } from 'vitest'
import { findRecipientRouter } from '../../../src/chains/evm/contracts/routers.js'
import { knownNetworks } from '../../../src/chains/evm/networks.js'
import { randomAddress, randomHex, unixNow } from '../../support/evm/authorization.js'
import { type ExactPaymentOptions, exactPayment, toFlat, toV1 } from '../../support/evm/payment.js'
import { type PermitPaymentOptions, permitPayment } from '../../support/evm/permit2.js'
import { splitSignature, type UptoPaymentOptions, uptoPayment } from '../../support/evm/upto.js'
import { uptoPayment as uptoByPermit2 } from '../../support/evm/uptoPermit2.js'
import { createEoa } from '../../support/evm/wallets.js'
import { openScene, resolve, type Scene } from './scene.js'

let scene: Scene
beforeAll(async () => {
  scene = await openScene()
})

// As Circle's contracts have them.
const domainNames = { 84532: 'USDC', 11155111: 'USDC', 421614: 'USD Coin', 11155420: 'USDC' } as const

const chainOf = (chainId: keyof typeof domainNames, name: string = domainNames[chainId]) => {
  const verifyingContract = knownNetworks.find((each) => each.chainId === chainId)?.tokens[0]?.address
  if (verifyingContract === undefined) throw new Error('The network is unknown')
  return { network: `eip155:${chainId}`, token: { name, version: '2', chainId, verifyingContract } }
}

const base = chainOf(84532)
const pay = (options: Partial<ExactPaymentOptions> = {}) =>
  exactPayment({ chain: base, wallet: createEoa(), ...options })

const tamper = (signature: Hex): Hex =>
  `${signature.slice(0, 20) as Hex}${signature[20] === '1' ? '2' : '1'}${signature.slice(21)}`

describe('exact by EIP-3009', () => {
  it.each([84532, 11155111, 421614, 11155420] as const)(
    'verifies and settles what a client signs with a new key on eip155:%i',
    async (chainId) => {
      const wallet = createEoa()
      const body = await pay({ chain: chainOf(chainId), wallet })
      expect(await scene.verify(body)).toMatchObject({
        isValid: true,
        payer: wallet.address,
        amount: 10_000n,
        authorizedAmount: 10_000n,
      })
      const { outcome, row, scheme } = await scene.settle(body)
      expect(outcome).toMatchObject({
        state: 'confirmed',
        transaction: expect.stringMatching(/^0x5a4db0[0-9a-f]{58}$/),
        block: { hash: expect.stringMatching(/^0x5a4db0[0-9a-f]{58}$/) },
      })
      expect(await resolve(scheme, row)).toEqual(outcome)
    },
  )

  it('takes the published names of a domain on which lists disagree', async () => {
    for (const name of ['USDC', 'USD Coin']) {
      expect((await scene.verify(await pay({ chain: chainOf(421614, name) }))).isValid).toBe(true)
    }
  })

  it('reads version 1 and the flat shape', async () => {
    const body = await pay()
    expect((await scene.verify(toV1(body))).isValid).toBe(true)
    expect((await scene.verify(toFlat(body))).isValid).toBe(true)
  })

  it('has the authorization id of production: letter case and requirements are no part of it', async () => {
    const body = await pay()
    const { authorization } = body.paymentPayload.payload
    const verdict = await scene.verify(body)
    const id = `eip155:84532/${base.token.verifyingContract}/${authorization.from}/${authorization.nonce}`
    expect(verdict).toMatchObject({ authorizationId: id.toLowerCase() })
  })

  const now = unixNow()
  const rows: readonly (readonly [string, Partial<ExactPaymentOptions>, string])[] = [
    [
      'a signature of another key',
      { signature: `0x${'11'.repeat(64)}1b` },
      'invalid_exact_evm_payload_signature',
    ],
    [
      'another recipient',
      { authorization: { to: randomAddress() } },
      'invalid_exact_evm_payload_recipient_mismatch',
    ],
    [
      'an amount that is too low',
      { authorization: { value: '9999' } },
      'invalid_exact_evm_payload_authorization_value',
    ],
    [
      'an expired authorization',
      { authorization: { validBefore: String(now - 1) } },
      'invalid_exact_evm_payload_authorization_valid_before',
    ],
    [
      'an authorization that is not valid yet',
      { authorization: { validAfter: String(now + 600) } },
      'invalid_exact_evm_payload_authorization_valid_after',
    ],
    ['a wrong domain name', { chain: chainOf(84532, 'USD Coin') }, 'invalid_exact_evm_token_name_mismatch'],
    [
      'a wrong domain version',
      { chain: { ...base, token: { ...base.token, version: '1' } } },
      'invalid_exact_evm_token_version_mismatch',
    ],
    [
      'a signature for another chain',
      { chain: { ...base, token: { ...base.token, chainId: 1 } } },
      'invalid_exact_evm_payload_signature',
    ],
    [
      'a token that is not listed',
      { chain: { ...base, token: { ...base.token, verifyingContract: randomAddress() } } },
      'unsupported_asset',
    ],
    ['an amount of 0', { amount: 0n }, 'invalid_payment_amount'],
    ['a malformed signature', { signature: '0x12' }, 'invalid_exact_evm_payload_signature'],
    [
      'a wallet that is not deployed',
      { signature: `0x${'00'.repeat(65)}${'6492'.repeat(16)}` },
      'invalid_exact_evm_payload_signature',
    ],
  ]
  it.each(rows)('refuses %s', async (_title, options, reason) => {
    expect(await scene.verify(await pay(options))).toMatchObject({ isValid: false, reason })
  })

  it('refuses a tampered signature, and an authorization that was changed after it was signed', async () => {
    const body = await pay()
    const { payload } = body.paymentPayload
    const withProof = (proof: object) => ({
      ...body,
      paymentPayload: { ...body.paymentPayload, payload: { ...payload, ...proof } },
    })
    const reason = 'invalid_exact_evm_payload_signature'
    for (const proof of [
      { signature: tamper(payload.signature) },
      { authorization: { ...payload.authorization, value: '20000' } },
      { authorization: { ...payload.authorization, nonce: randomHex(32) } },
    ]) {
      expect(await scene.verify(withProof(proof))).toMatchObject({ isValid: false, reason })
    }
  })

  it('refuses at /settle what expires before it could land', async () => {
    const seconds = Math.floor(scene.clock.now().getTime() / 1_000)
    const body = await pay({ authorization: { validBefore: String(seconds + 6) } })
    expect((await scene.verify(body)).isValid).toBe(true)
    expect(await scene.verify(body, true)).toMatchObject({
      isValid: false,
      reason: 'invalid_exact_evm_payload_authorization_valid_before',
    })
  })
})

describe('exact by Permit2', () => {
  const permit = (options: Partial<PermitPaymentOptions> = {}) =>
    permitPayment({ chain: base, wallet: createEoa(), ...options })

  it('verifies and settles', async () => {
    const body = await permit()
    expect(await scene.verify(body)).toMatchObject({ isValid: true, amount: 10_000n })
    expect((await scene.settle(body)).outcome.state).toBe('confirmed')
  })

  it.each([
    ['a wrong spender', { permit: { spender: randomAddress() } }, 'invalid_permit2_spender'],
    [
      'another amount',
      { permit: { permitted: { token: base.token.verifyingContract, amount: '1' } } },
      'permit2_amount_mismatch',
    ],
    ['a passed deadline', { permit: { deadline: '1' } }, 'permit2_deadline_expired'],
    [
      'a signature of another key',
      { signature: `0x${'11'.repeat(64)}1b` as Hex },
      'invalid_permit2_signature',
    ],
  ] as const)('refuses %s', async (_title, options, reason) => {
    expect(await scene.verify(await permit(options))).toMatchObject({ isValid: false, reason })
  })
})

describe('upto', () => {
  const routerOf = (): Hex =>
    scene.find('upto', base.network).describeKind()?.extra?.facilitatorAddress as Hex
  const upto = (options: Partial<UptoPaymentOptions> = {}) =>
    uptoPayment({ chain: base, wallet: createEoa(), router: routerOf(), ...options })

  it('announces a facilitator, and the router of each recipient', async () => {
    const scheme = scene.find('upto', base.network)
    const payTo = randomAddress()
    const router = await scheme.network.routers?.find(payTo)
    expect(router).toEqual({
      address: findRecipientRouter(routerOf(), payTo),
      isDeployed: true,
      shared: null,
    })
    expect(scheme.describeKind()?.extra).toEqual({
      assetTransferMethods: ['eip2612', 'permit2'],
      facilitatorAddress: routerOf(),
    })
    expect((await scheme.describeAsset(null, null))?.extra).not.toHaveProperty('routerAddress')
    const terms = await scheme.describeAsset(null, payTo)
    expect(terms).toMatchObject({ extra: { name: 'USDC', version: '2', routerAddress: router?.address } })
  })

  it('settles a part of a permit', async () => {
    const body = { ...(await upto()), settleAmount: '2500' }
    expect(await scene.verify(body)).toMatchObject({
      isValid: true,
      amount: 2_500n,
      authorizedAmount: 10_000n,
      hold: { allowance: null },
    })
    const { outcome, row, scheme } = await scene.settle(body)
    expect(outcome).toMatchObject({ state: 'confirmed', settledAmount: 2_500n })
    expect(await resolve(scheme, row)).toEqual(outcome)
  })

  it('needs settleAmount to settle', async () => {
    expect(await scene.verify(await upto(), true)).toMatchObject({ reason: 'settle_amount_required' })
  })

  it('refuses more than the maximum', async () => {
    expect(await scene.verify({ ...(await upto()), settleAmount: '10001' }, true)).toMatchObject({
      reason: 'settle_amount_above_maximum',
    })
  })

  it.each([
    ['another spender', { permit: { spender: randomAddress() } }, 'invalid_permit_spender'],
    ['the router for any recipient', { isBound: false }, 'invalid_permit_spender'],
    ['a value below the maximum', { permit: { value: 9_999n } }, 'permit_amount_mismatch'],
    ['a passed deadline', { permit: { deadline: 1n } }, 'permit_expired'],
    [
      'a signature of another key',
      { signature: `0x${'11'.repeat(64)}1b` as Hex },
      'invalid_permit_signature',
    ],
  ] as const)('refuses %s', async (_title, options, reason) => {
    expect(await scene.verify(await upto(options))).toMatchObject({ isValid: false, reason })
  })

  it('refuses a tampered signature', async () => {
    const wallet = createEoa()
    const body = await upto({ wallet })
    const { signature } = body.paymentPayload.payload
    if (typeof signature === 'string') throw new Error('It is not split')
    const forged = splitSignature(tamper(`${signature.r}${signature.s.slice(2)}1b`))
    const payload = { ...body.paymentPayload.payload, signature: forged }
    expect(
      await scene.verify({ ...body, paymentPayload: { ...body.paymentPayload, payload } }),
    ).toMatchObject({ isValid: false, payer: wallet.address, reason: 'invalid_permit_signature' })
  })

  it('takes Permit2, and the charge of x402', async () => {
    const facilitator = routerOf()
    const body = await uptoByPermit2({ chain: base, wallet: createEoa(), facilitator })
    expect(await scene.verify(body)).toMatchObject({ isValid: true, authorizedAmount: 10_000n })
    const charged = { ...body, paymentRequirements: { ...body.paymentRequirements, amount: '4000' } }
    expect((await scene.settle(charged)).outcome).toMatchObject({ settledAmount: 4_000n })
    const foreign = await uptoByPermit2({ chain: base, wallet: createEoa(), facilitator: randomAddress() })
    expect(await scene.verify(foreign)).toMatchObject({ reason: 'upto_facilitator_mismatch' })
  })
})
