import fc from 'fast-check'
import { beforeAll, describe, expect, it } from 'vitest'
import type { Payment } from '../../../src/protocol/payment.js'
import { openScene, readBody, type Scene } from './scene.js'

let scene: Scene
beforeAll(async () => {
  scene = await openScene()
})

const paymentOf = (network: string, scheme: string, payload: object, stated: unknown): Payment => {
  const example = scene.sandbox.listAddresses(new Date()).find(({ networks }) => networks.includes(network))
  const requirements = { ...example?.request.paymentRequirements, network, scheme }
  return readBody({
    paymentPayload: { accepted: requirements, payload, payer: stated },
    paymentRequirements: requirements,
  })
}

describe('an untrusted payload', () => {
  it('is answered, whatever it contains, and its authorization id is that of verify', async () => {
    const field = fc.oneof(fc.jsonValue(), fc.constant('0x0000000000000000000000000000000000CAFE11'))
    const form = fc.record(
      { payer: field, from: field, owner: field, nonce: field, value: field, signature: field },
      { requiredKeys: [] },
    )
    const payload = fc.oneof(
      fc.dictionary(fc.string(), fc.jsonValue()),
      fc.record(
        {
          payer: field,
          nonce: field,
          signature: field,
          authorization: form,
          permit2Authorization: form,
          transaction: fc.base64String(),
          signedTransaction: fc.string(),
          signedBoc: fc.base64String(),
        },
        { requiredKeys: [] },
      ),
    )
    for (const scheme of scene.schemes) {
      const { kind } = scheme
      await fc.assert(
        fc.asyncProperty(payload, field, async (proof, stated) => {
          const payment = paymentOf(kind.network, kind.scheme, proof, stated)
          const verdict = await scheme.verify(payment, { isAwaited: () => true })
          if (verdict.isValid) expect(scheme.identify(payment)).toBe(verdict.authorizationId)
          else scheme.identify(payment)
        }),
        { numRuns: 50 },
      )
    }
  })

  it('nested too deeply is answered', async () => {
    let nested: unknown = 'end'
    for (let depth = 0; depth < 20_000; depth++) nested = [nested]
    const payment = paymentOf(
      'eip155:84532',
      'exact',
      { payer: '0x0000000000000000000000000000000000CAFE11', nested },
      null,
    )
    const scheme = scene.find('exact', 'eip155:84532')
    expect(await scheme.verify(payment, { isAwaited: () => true })).toMatchObject({ isValid: true })
  })

  it('has an amount: 0 is refused', async () => {
    const [example] = scene.sandbox.listAddresses(new Date())
    const requirements = { ...example?.request.paymentRequirements, amount: '0' }
    const body = {
      paymentPayload: { accepted: requirements, payload: { payer: example?.address } },
      paymentRequirements: requirements,
    }
    expect(await scene.verify(body)).toMatchObject({ isValid: false, reason: 'invalid_payment_amount' })
  })
})
