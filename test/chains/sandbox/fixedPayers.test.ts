import { PublicKey } from '@solana/web3.js'
import { Address } from '@ton/core'
import { getAddress } from 'viem'
import { beforeAll, describe, expect, it } from 'vitest'
import { sandboxAddressList } from '../../../src/protocol/sandbox.js'
import { drainEventLoop } from '../../support/manualClock.js'
import { toBase58 } from '../../support/tron/keys.js'
import { openScene, readBody, resolve, type Scene } from './scene.js'

let scene: Scene
beforeAll(async () => {
  scene = await openScene()
})

const settled = { success: true }
const valid = { isValid: true }
const refusedAs = (reason: string) => ({
  verify: { isValid: false, invalidReason: reason },
  settle: { success: false, errorReason: reason },
})

const endings = ['cafe01', 'cafe02', 'cafe03', 'cafe11', 'cafe12', 'cafe13', 'cafe99']

/** Written by other libraries, so that a change of the published addresses is noticed. */
const addresses = {
  eip155: endings.map((each) => getAddress(`0x${each.padStart(40, '0')}`)),
  solana: [
    'SandboxVerifyok1111111111111111111111111111',
    'SandboxBadSignature111111111111111111111111',
    'SandboxExpired11111111111111111111111111111',
    'SandboxPaid11111111111111111111111111111111',
    'SandboxNoFunds11111111111111111111111111111',
    'SandboxPending11111111111111111111111111111',
    'SandboxWaitsTwoSeconds111111111111111111111',
  ].map((each) => new PublicKey(each).toBase58()),
  ton: endings.map((each) => new Address(0, Buffer.from(each.padStart(64, '0'), 'hex')).toRawString()),
  tron: endings.map((each) => toBase58(`41${each.padStart(40, '0')}`)),
} as const

const reasons = {
  eip155: [
    'invalid_exact_evm_payload_signature',
    'invalid_exact_evm_payload_authorization_valid_before',
    'insufficient_funds',
  ],
  solana: [
    'invalid_exact_svm_payload_signature_invalid',
    'settle_exact_svm_block_height_exceeded',
    'insufficient_funds',
  ],
  ton: ['message_verification_failed', 'authorization_expired', 'insufficient_jetton_balance'],
  tron: ['invalid_exact_tron_signature', 'authorization_expired', 'insufficient_balance'],
} as const

const namespaces = ['eip155', 'solana', 'ton', 'tron'] as const
const list = (namespace: string) =>
  scene.sandbox.listAddresses(scene.clock.now()).filter(({ family }) => family === namespace)

// A payload without a nonce is another payment in the next ten minutes.
const windowMs = 600_000
const [rounds, roundMs] = [100, 100]

/** Verifies or settles while the clock runs, within one window. */
const run = async <T>(start: () => Promise<T>): Promise<T> => {
  const leftMs = windowMs - (scene.clock.now().getTime() % windowMs)
  if (leftMs <= rounds * roundMs) await scene.clock.advance(leftMs)
  let isDone = false
  const watched = start().finally(() => {
    isDone = true
  })
  for (let round = 0; round < rounds && !isDone; round++) await scene.clock.advance(roundMs)
  return await watched
}

describe.each(namespaces)('the fixed payers of %s', (namespace) => {
  it('are listed with their answers', () => {
    const [signature, expired, funds] = reasons[namespace]
    expect(list(namespace).map(({ verify, settle }) => ({ verify, settle }))).toEqual([
      { verify: valid, settle: settled },
      refusedAs(signature),
      refusedAs(expired),
      { verify: valid, settle: settled },
      { verify: valid, settle: { success: false, errorReason: funds } },
      { verify: valid, settle: { success: false, errorReason: 'settlement_pending', status: 'pending' } },
      { verify: valid, settle: settled },
    ])
  })

  it('have the published addresses', () => {
    expect(list(namespace).map(({ address }) => address)).toEqual(addresses[namespace])
  })

  it('are valid on the wire', () => {
    const addressed = { addresses: list(namespace) }
    expect(sandboxAddressList.parse(addressed)).toEqual(addressed)
  })

  it('answer their ready requests as listed', async () => {
    for (const { address, verify, settle, request } of list(namespace)) {
      const verdict = await run(() => scene.verify(request))
      expect(verdict.isValid ? { isValid: true } : { isValid: false, invalidReason: verdict.reason }).toEqual(
        verify,
      )
      expect(verdict.payer).toBe(address)

      const authorized = await run(() => scene.verify(request, true))
      if (!authorized.isValid) {
        expect({ success: false, errorReason: authorized.reason }).toEqual(settle)
        continue
      }
      const { outcome } = await run(() => scene.settle(request))
      expect(outcome.state).toBe(settle.success ? 'confirmed' : 'pending')
    }
  })

  it('have a new nonce in each listing, and each is another authorization', () => {
    const [first, second] = [list(namespace), list(namespace)].map((each) =>
      each.map(({ request }) => {
        const payment = readBody(request)
        return scene.find('exact', payment.requirements.network).identify(payment)
      }),
    )
    expect(new Set([...(first ?? []), ...(second ?? [])]).size).toBe(14)
  })
})

describe.each(namespaces)('a payment by a payload of %s that names only its payer', (namespace) => {
  const places = [
    ['payload.payer', (payer: string) => ({ payload: { payer } })],
    ['payload.authorization.payer', (payer: string) => ({ payload: { authorization: { payer } } })],
    ['payer beside the payload', (payer: string) => ({ payer, payload: {} })],
    ['payload.payer in lower case', (payer: string) => ({ payload: { payer: foldCase(payer) } })],
  ] as const
  const foldCase = (payer: string) => (/^(0x|0:)/.test(payer) ? payer.toLowerCase() : payer)

  it.each(places)('is decided by it: %s', async (_name, write) => {
    for (const { address, verify, request } of list(namespace)) {
      const { paymentRequirements } = request
      const body = {
        paymentPayload: { accepted: paymentRequirements, ...write(address) },
        paymentRequirements,
      }
      const verdict = await run(() => scene.verify(body))
      expect({ isValid: verdict.isValid, payer: verdict.payer }).toEqual({
        isValid: verify.isValid,
        payer: address,
      })
    }
  })

  it('is the same authorization when it is repeated, and another one when anything differs', async () => {
    const [{ address, request } = { address: '', request: null }] = list(namespace)
    if (request === null) throw new Error('There is no fixed payer')
    const { paymentRequirements } = request
    const identify = (payload: object, amount = '10000') => {
      const requirements = { ...paymentRequirements, amount }
      const body = { paymentPayload: { accepted: requirements, payload }, paymentRequirements: requirements }
      const payment = readBody(body)
      return scene.find('exact', payment.requirements.network).identify(payment)
    }
    const id = identify({ payer: address, order: 7 })
    expect(identify({ order: 7, payer: address })).toBe(id)
    expect(identify({ payer: address, order: 8 })).not.toBe(id)
    expect(identify({ payer: address, order: 7 }, '10001')).not.toBe(id)
    // With a nonce, the terms are not part of it, as in production.
    const withNonce = { payer: address, nonce: 'nonce-0001' }
    expect(identify(withNonce, '10001')).toBe(identify(withNonce))
    expect(identify(withNonce)).not.toBe(identify({ payer: address, nonce: 'nonce-0002' }))
    // The same text later is another payment.
    await scene.clock.advance(600_000)
    expect(identify({ payer: address, order: 7 })).not.toBe(id)
  })
})

describe('in its genuine place, a fixed payer', () => {
  const places = [
    ['permit2Authorization.from', 'eip155', (from: string) => ({ permit2Authorization: { from } })],
    ['authorization.from of TON', 'ton', (from: string) => ({ signedBoc: 'AA==', authorization: { from } })],
    ['authorization.from of TRON', 'tron', (from: string) => ({ authorization: { from } })],
  ] as const

  it.each(places)('decides: %s', async (_name, namespace, write) => {
    const [fixed] = list(namespace)
    const paymentRequirements = fixed?.request.paymentRequirements
    const payload = write(fixed?.address ?? '')
    const body = { paymentPayload: { accepted: paymentRequirements, payload }, paymentRequirements }
    expect(await scene.verify(body)).toMatchObject({ isValid: true, payer: fixed?.address })
  })

  it('decides an upto payment by a permit, whose nonce all strangers share', async () => {
    const [example] = list('eip155')
    if (example === undefined) throw new Error('There is no fixed payer')
    const requirements = { ...example.request.paymentRequirements, scheme: 'upto' }
    const bodyOf = (owner: string, paymentNonce: string) => ({
      paymentPayload: {
        accepted: requirements,
        payload: { authorization: { owner, nonce: '0' }, paymentNonce },
      },
      paymentRequirements: requirements,
      settleAmount: '4000',
    })
    const expected = new Map([
      ['CAFE01', null],
      ['CAFE02', 'invalid_permit_signature'],
      ['CAFE03', 'permit_expired'],
    ])
    for (const [suffix, reason] of expected) {
      const verdict = await scene.verify(bodyOf(`0x${suffix.padStart(40, '0')}`, `0x${'11'.repeat(32)}`))
      expect(verdict.isValid ? null : verdict.reason).toBe(reason)
    }
    const ids = await Promise.all(
      ['11', '22'].map((each) =>
        scene.verify(bodyOf(`0x${'CAFE11'.padStart(40, '0')}`, `0x${each.repeat(32)}`), true),
      ),
    )
    expect(ids[0]).toMatchObject({ isValid: true, amount: 4_000n, authorizedAmount: 10_000n })
    expect(new Set(ids.map((each) => (each.isValid ? each.authorizationId : null))).size).toBe(2)
  })
})

describe('CAFE13', () => {
  it.each(namespaces)('is confirmed on %s 60 s later, from its row alone', async (namespace) => {
    const pending = list(namespace)[5]
    const { outcome, row } = await scene.settle(pending?.request)
    expect(outcome).toEqual({ state: 'pending', transaction: row.transaction })
    const other = (await scene.reopen()).find(
      ({ kind }) => kind.scheme === row.scheme && kind.network === row.network,
    )
    if (other === undefined) throw new Error('The network is missing')
    await scene.clock.advance(59_000)
    expect((await resolve(other, row)).state).toBe('pending')
    await scene.clock.advance(1_000)
    const confirmed = await resolve(other, row)
    expect(confirmed).toMatchObject({ state: 'confirmed', transaction: row.transaction })
    expect(await resolve(other, row)).toEqual(confirmed)
  })
})

describe('CAFE99', () => {
  it('takes two seconds', async () => {
    const slow = list('eip155')[6]
    let isDone = false
    const verifying = scene.verifyOnce(slow?.request).then((verdict) => {
      isDone = true
      return verdict
    })
    await drainEventLoop()
    for (let round = 0; round < 19; round++) await scene.clock.advance(100)
    expect(isDone).toBe(false)
    await scene.clock.advance(100)
    expect((await verifying).isValid).toBe(true)
  })

  it('ends when the caller is gone', async () => {
    const payment = readBody(list('eip155')[6]?.request)
    let isAwaited = true
    const verifying = scene
      .find('exact', payment.requirements.network)
      .verify(payment, { isAwaited: () => isAwaited })
    const rejected = expect(verifying).rejects.toThrow('The caller is gone')
    await drainEventLoop()
    isAwaited = false
    await scene.clock.advance(100)
    await rejected
    expect(scene.clock.countSleepers()).toBe(0)
  })
})
