import { beforeAll, describe, expect, it } from 'vitest'
import { offlineRouters } from '../../../../src/chains/evm/offline/offlineNetwork.js'
import { AppError } from '../../../../src/errors.js'
import type { Settlement } from '../../../../src/ports/settlementJournal.js'
import type { Explanation } from '../../../../src/protocol/explanations.js'
import { wirePaymentRequest } from '../../../../src/protocol/wire.js'
import { createSchemeRegistry } from '../../../../src/schemes/registry.js'
import type { Scheme } from '../../../../src/schemes/scheme.js'
import { createExplainPayment } from '../../../../src/usecases/core/explain/explainPayment.js'
import { fingerprintRequest } from '../../../../src/usecases/core/idempotency/fingerprint.js'
import { createHoldFunds, createPreviewHold } from '../../../../src/usecases/core/verify/holdFunds.js'
import { createVerifyPayment } from '../../../../src/usecases/core/verify/verifyPayment.js'
import { openScene, readBody, type Scene } from '../../../chains/sandbox/scene.js'
import { randomAddress } from '../../../support/evm/authorization.js'
import { type ExactPaymentBody, exactPayment } from '../../../support/evm/payment.js'
import { uptoPayment } from '../../../support/evm/uptoPermit2.js'
import { createEoa } from '../../../support/evm/wallets.js'
import { createMemoryHolds } from '../../../support/memoryHolds.js'
import { createMemoryJournal } from '../../../support/memoryJournal.js'
import { createMemoryLogger } from '../../../support/memoryLogger.js'
import { waitLimitMs } from '../../../support/pollUntil.js'

const token = {
  name: 'USDC',
  version: '2',
  chainId: 84532,
  verifyingContract: '0x036CbD53842c5426634e7929541eC2318f3dCF7e',
} as const
const chain = { network: 'eip155:84532', token }

let scene: Scene
beforeAll(async () => {
  scene = await openScene()
})

const open = (schemes: readonly Scheme[] = scene.schemes) => {
  const journal = createMemoryJournal()
  const holds = createMemoryHolds()
  const { clock } = scene
  const shared = { registry: createSchemeRegistry(schemes), journal, deadlineMs: waitLimitMs }
  const verifyPayment = createVerifyPayment({
    ...shared,
    quotaGate: async () => null,
    holdFunds: createHoldFunds({ holds, clock }),
    logger: createMemoryLogger(),
  })
  const explainPayment = createExplainPayment({
    ...shared,
    clock,
    logger: createMemoryLogger(),
    previewHold: createPreviewHold({ holds, clock }),
  })
  return {
    journal,
    holds,
    explain: (body: unknown, caller = 'anonymous') => explainPayment({ body, caller, isAwaited: () => true }),
    /** The answer of /verify, or the code of its error. */
    verify: async (body: unknown, caller = 'anonymous') => {
      const parsed = wirePaymentRequest.safeParse(body)
      if (!parsed.success) return { errorCode: 'INVALID_REQUEST' }
      try {
        const request = { body: parsed.data, caller, quota: null, isAwaited: () => true }
        return { answer: await verifyPayment(request) }
      } catch (error) {
        if (error instanceof AppError) return { errorCode: error.code }
        throw error
      }
    },
  }
}

const sign = () => exactPayment({ chain, wallet: createEoa() })
const firstFailed = ({ rules }: Explanation) => rules.find(({ state }) => state === 'failed')

type Change = (body: ExactPaymentBody) => unknown

const withRequirements =
  (changes: Readonly<Record<string, unknown>>): Change =>
  (body) => ({ ...body, paymentRequirements: { ...body.paymentRequirements, ...changes } })

const withAccepted =
  (changes: Readonly<Record<string, unknown>>): Change =>
  ({ paymentPayload, ...body }) => ({
    ...body,
    paymentPayload: { ...paymentPayload, accepted: { ...paymentPayload.accepted, ...changes } },
  })

const withPayload =
  (changes: Readonly<Record<string, unknown>>): Change =>
  (body) => ({ ...body, paymentPayload: { ...body.paymentPayload, ...changes } })

const withAuthorization =
  (changes: Readonly<Record<string, unknown>>): Change =>
  ({ paymentPayload, ...body }) => ({
    ...body,
    paymentPayload: {
      ...paymentPayload,
      payload: {
        ...paymentPayload.payload,
        authorization: { ...paymentPayload.payload.authorization, ...changes },
      },
    },
  })

/** What a developer sends by mistake: the rule that says so, where, what was found and what is expected. */
const mistakes: Readonly<
  Record<string, readonly [change: Change, rule: string, path: string, found: string, expected: string]>
> = {
  'no payload': [
    ({ paymentRequirements }) => ({ paymentRequirements }),
    'request_form',
    'paymentPayload',
    'nothing',
    'a value',
  ],
  'requirements in another letter case': [
    ({ paymentPayload, paymentRequirements }) => ({
      paymentPayload,
      paymentrequirements: paymentRequirements,
    }),
    'request_form',
    'paymentRequirements',
    'nothing, but paymentrequirements',
    'a value',
  ],
  'a recipient under another name': [
    ({ paymentRequirements: { payTo, ...requirements }, ...body }) => ({
      ...body,
      paymentRequirements: { ...requirements, pay_to: payTo },
    }),
    'request_form',
    'paymentRequirements.payTo',
    'nothing, but pay_to',
    'a value',
  ],
  'an amount with a fraction': [
    withRequirements({ amount: '0.01' }),
    'request_form',
    'paymentRequirements.amount',
    '0.01',
    'a whole number of smallest units, as decimal digits',
  ],
  'a timeout of the wrong type': [
    withRequirements({ maxTimeoutSeconds: '60' }),
    'request_form',
    'paymentRequirements.maxTimeoutSeconds',
    '60',
    'a number',
  ],
  'a payload that is a header': [
    withPayload({ payload: 'eyJhIjoxfQ==' }),
    'payload_form',
    'paymentPayload.payload',
    'eyJhIjoxfQ==',
    'a JSON object',
  ],
  'a version that does not exist': [
    withPayload({ x402Version: 3 }),
    'protocol_version',
    'x402Version',
    '{"request":{"x402Version":2},"paymentPayload":{"x402Version":3}}',
    '1 or 2, and the same wherever it is named',
  ],
  'a scheme in upper case': [
    (body) =>
      withAccepted({ scheme: 'EXACT' })(Object.assign(body, withRequirements({ scheme: 'EXACT' })(body))),
    'scheme_served',
    'paymentRequirements.scheme',
    'EXACT',
    'exact or upto, in this spelling',
  ],
  'a network that is not served': [
    (body) =>
      withAccepted({ network: 'eip155:1' })(
        Object.assign(body, withRequirements({ network: 'eip155:1' })(body)),
      ),
    'scheme_served',
    'paymentRequirements.network',
    'eip155:1',
    'eip155:84532',
  ],
  'another scheme in the payload': [
    withAccepted({ scheme: 'upto' }),
    'scheme_match',
    'paymentPayload.accepted.scheme',
    'upto',
    'exact, as in paymentRequirements',
  ],
  'another network in the payload': [
    withAccepted({ network: 'eip155:8453' }),
    'network_match',
    'paymentPayload.accepted.network',
    'eip155:8453',
    'eip155:84532, as in paymentRequirements',
  ],
  'another amount accepted': [
    withAccepted({ amount: '9999' }),
    'accepted_amount',
    'paymentPayload.accepted.amount',
    '9999',
    '10000, as in paymentRequirements',
  ],
  'another recipient accepted': [
    withAccepted({ payTo: token.verifyingContract }),
    'accepted_pay_to',
    'paymentPayload.accepted.payTo',
    token.verifyingContract,
    ', as in paymentRequirements',
  ],
  'a recipient that is no address': [
    (body) =>
      withAccepted({ payTo: 'alice.eth' })(
        Object.assign(body, withRequirements({ payTo: 'alice.eth' })(body)),
      ),
    'requirements_terms',
    'paymentRequirements.payTo',
    'alice.eth',
    'an address of eip155:84532',
  ],
  'a payer that is no address': [
    withAuthorization({ from: 'alice.eth' }),
    'payload_fields',
    'paymentPayload.payload.authorization.from',
    'alice.eth',
    'an EVM address',
  ],
  'a nonce that is missing': [
    withAuthorization({ nonce: undefined }),
    'payload_fields',
    'paymentPayload.payload.authorization.nonce',
    'nothing',
    '32 bytes of hex',
  ],
}

describe('a mistake in the request', () => {
  it.each(Object.entries(mistakes))(
    '%s is explained',
    async (_title, [change, rule, path, found, expected]) => {
      const service = open()
      const body = change(await sign())
      const explanation = await service.explain(body)
      expect(firstFailed(explanation)).toMatchObject({
        rule,
        path,
        found,
        expected: expect.stringContaining(expected),
        remedy: expect.stringMatching(/\.$/),
      })
      const { answer, errorCode } = await service.verify(body)
      expect(explanation.verdict).toBe('invalid')
      expect(explanation.reason).toBe(answer?.invalidReason)
      expect(explanation.errorCode).toBe(errorCode)
      expect(firstFailed(explanation)?.reason).toBe(answer?.invalidReason)
    },
  )

  it('is explained beside all others of the form', async () => {
    const { paymentPayload } = await sign()
    const { rules } = await open().explain({ paymentPayload, paymentRequirements: { scheme: 5, asset: '' } })
    const [form] = rules
    expect(form).toMatchObject({ rule: 'request_form', path: 'paymentRequirements.scheme', found: '5' })
    expect(form?.problems?.map(({ path }) => path)).toEqual(
      expect.arrayContaining(['paymentRequirements.network', 'paymentRequirements.payTo']),
    )
  })

  it('does not keep the payment from being judged, where its terms differ from those accepted', async () => {
    const body = withAuthorization({ validBefore: '1' })(await sign())
    const { rules } = await open().explain(
      withAccepted({ amount: '9999' })(Object.assign(await sign(), body)),
    )
    const failed = rules.filter(({ state }) => state === 'failed').map(({ rule }) => rule)
    expect(failed).toEqual(expect.arrayContaining(['accepted_amount', 'valid_before']))
  })

  it('is shown in one line of visible ASCII, cut to 100 characters', async () => {
    const spoiled = `\u202e<script>\n${'x'.repeat(500)}`
    const { rules } = await open().explain(withAuthorization({ from: spoiled })(await sign()))
    const found = rules.find(({ rule }) => rule === 'payload_fields')?.found ?? ''
    expect(found).toMatch(/^\\u202e<script>\\u000ax+\.\.\.$/)
    expect(found).toHaveLength(100)
  })

  it('is explained whatever the body is', async () => {
    let deep: unknown = {}
    for (let depth = 0; depth < 20_000; depth += 1) deep = { deep }
    for (const body of [
      {},
      { paymentPayload: deep, paymentRequirements: [deep] },
      { paymentPayload: null },
    ]) {
      expect(await open().explain(body)).toMatchObject({ verdict: 'invalid', errorCode: 'INVALID_REQUEST' })
    }
  })
})

describe('an explanation', () => {
  it('of a valid payment has every rule passed, with what helps', async () => {
    const body = await sign()
    const { verdict, rules, facts, payer, network } = await open().explain(body)
    expect({ verdict, payer, network }).toEqual({
      verdict: 'valid',
      payer: body.paymentPayload.payload.authorization.from,
      network: chain.network,
    })
    expect(new Set(rules.map(({ state }) => state))).toEqual(new Set(['passed']))
    expect(Object.fromEntries(facts.map(({ fact, value }) => [fact, value]))).toMatchObject({
      required_amount: '0.01 USDC (10000 smallest units)',
      token_name: 'USDC',
      service_time: scene.clock.now().toISOString(),
    })
  })

  it('says every broken rule, the first of which is the reason', async () => {
    const body = withAuthorization({ to: randomAddress(), validBefore: '1', value: '1' })(await sign())
    const service = open()
    const { reason, rules } = await service.explain(body)
    expect(rules.filter(({ state }) => state === 'failed').map(({ rule }) => rule)).toEqual([
      'recipient',
      'authorized_amount',
      'valid_before',
    ])
    expect((await service.verify(body)).answer?.invalidReason).toBe(reason)
  })

  it('skips what was not reached, and names the rule for which', async () => {
    const { rules } = await open().explain(withAuthorization({ from: 'nobody' })(await sign()))
    const skipped = rules.filter(({ state }) => state === 'skipped')
    expect(skipped.map(({ rule }) => rule)).toEqual(expect.arrayContaining(['recipient', 'signature']))
    expect(new Set(skipped.map(({ blockedBy }) => blockedBy))).toEqual(new Set(['payload_fields']))
  })

  it('is unknown while the chain does not answer, and so is every rule that needs it', async () => {
    const silent = scene.schemes.map(
      (scheme): Scheme => ({
        ...scheme,
        verify: async (_payment, { trace }) => {
          trace?.expect(['signature', 'simulation'])
          trace?.note('signature', null)
          throw new Error('No node answers')
        },
      }),
    )
    const { verdict, errorCode, rules } = await open(silent).explain(await sign())
    expect({ verdict, errorCode }).toEqual({ verdict: 'unknown', errorCode: 'VERIFICATION_FAILED' })
    expect(rules.find(({ rule }) => rule === 'signature')?.state).toBe('passed')
    expect(rules.find(({ rule }) => rule === 'simulation')?.state).toBe('unknown')
  })

  it('has the refusal that /verify gives without the chain while the chain does not answer', async () => {
    const silent = scene.schemes.map(
      (scheme): Scheme => ({
        ...scheme,
        verify: async () => {
          throw new Error('No node answers')
        },
      }),
    )
    const service = open(silent)
    const body = withAccepted({ amount: '9999' })(await sign())
    const { answer } = await service.verify(body)
    expect(answer?.invalidReason).toBe('accepted_requirements_mismatch')
    const { verdict, reason } = await service.explain(body)
    expect({ verdict, reason }).toEqual({ verdict: 'invalid', reason: 'accepted_requirements_mismatch' })
  })

  it('has the refusal of /verify where the requirements are malformed too', async () => {
    const service = open()
    const body = withAccepted({ amount: '1' })(await sign())
    const { paymentRequirements, ...rest } = Object(body)
    const malformed = { ...rest, paymentRequirements: { ...paymentRequirements, payTo: 'nonsense' } }
    const { answer, errorCode } = await service.verify(malformed)
    const explanation = await service.explain(malformed)
    expect({ reason: explanation.reason, errorCode: explanation.errorCode }).toEqual({
      reason: answer?.invalidReason,
      errorCode,
    })
  })

  it('holds nothing, and sees what is held for another account', async () => {
    const service = open()
    const body = await uptoPayment({ chain, wallet: createEoa(), facilitator: offlineRouters.shared })
    expect(await service.explain(body, 'first')).toMatchObject({ verdict: 'valid' })
    expect(service.holds.reserved()).toBe(0)
    expect((await service.verify(body, 'first')).answer).toMatchObject({ isValid: true })
    const explanation = await service.explain(body, 'second')
    expect(explanation).toMatchObject({ verdict: 'invalid', reason: 'duplicate_settlement' })
    expect(firstFailed(explanation)?.rule).toBe('funds_free')
    expect((await service.verify(body, 'second')).answer?.invalidReason).toBe('duplicate_settlement')
    expect(service.holds.reserved()).toBe(1)
  })
})

describe('a payment that is settled', () => {
  const settle = async (service: ReturnType<typeof open>, changes: Partial<Settlement>) => {
    const body = await sign()
    const payment = readBody(body)
    const scheme = scene.find('exact', chain.network)
    const { payTo, asset, amount, network } = payment.requirements
    const authorizationId = scheme.identify(payment) ?? ''
    const { from: payer } = body.paymentPayload.payload.authorization
    service.journal.put({ authorizationId, payTo, asset, amount, network, payer, ...changes })
    return body
  }

  it('for another caller is refused for that alone, and says nothing of the settlement', async () => {
    const service = open()
    const transaction = '0xsecret'
    const stored = { state: 'confirmed', caller: 'first', consumedBy: 'one', transaction } as const
    const body = withAuthorization({ validBefore: '1' })(await settle(service, stored))
    const explanation = await service.explain(body, 'second')
    const { answer } = await service.verify(body, 'second')
    expect(answer?.invalidReason).toBe('duplicate_settlement')
    expect(explanation).toMatchObject({ verdict: 'invalid', reason: 'duplicate_settlement' })
    expect(firstFailed(explanation)).toMatchObject({ rule: 'settled_once', reason: 'duplicate_settlement' })
    expect(explanation.rules.map(({ state, rule }) => (state === 'failed' ? rule : null))).toContain(
      'valid_before',
    )
    expect(JSON.stringify(explanation)).not.toContain(transaction)
  })

  it('for the same request is valid, whatever the chain says of it since', async () => {
    const service = open()
    const body = await settle(service, { state: 'pending', caller: 'first', transaction: '0xsent' })
    const spent = withAuthorization({ validBefore: '1' })(body)
    service.journal.change(service.journal.list()[0]?.id ?? '', {
      fingerprint: fingerprintRequest(wirePaymentRequest.parse(spent)),
    })
    expect((await service.verify(spent, 'first')).answer).toMatchObject({ isValid: true })
    const explanation = await service.explain(spent, 'first')
    expect(explanation.verdict).toBe('valid')
    expect(firstFailed(explanation)).toBeUndefined()
    expect(explanation.rules.find(({ rule }) => rule === 'valid_before')).toMatchObject({
      state: 'skipped',
      blockedBy: 'settled_once',
    })
  })
})
