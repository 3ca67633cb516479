import { concatHex, encodeAbiParameters, type Hex, maxUint256 } from 'viem'
import { describe, expect, it } from 'vitest'
import { systemClock } from '../../../../src/platform/clock.js'
import { type ByReason, listByReason } from '../../../support/byReason.js'
import { randomAddress, randomHex, unixNow } from '../../../support/evm/authorization.js'
import { multicall3Address } from '../../../support/evm/localChain.js'
import { type ExactPaymentBody, toFlat, toV1 } from '../../../support/evm/payment.js'
import { deployTestToken } from '../../../support/evm/testTokens.js'
import { encodeTransfer } from '../../../support/evm/transfer.js'
import { expectExplained } from '../../../support/explained.js'
import { useScene } from '../../../support/useScene.js'
import { openScene, type PaymentPlan, planPayment } from '../scene.js'
import { sendAsStranger } from '../strangers.js'

const scene = useScene(openScene)

/** A payment of the specification's table; a function is given the current second, and the clock stands still. */
interface Case {
  readonly plan: PaymentPlan | ((now: number) => PaymentPlan)
  readonly operationalCode?: string
}

const anyToken = () => ({ [`EVM_TOKENS_${scene.chain.chainId}`]: '*' })

const rows: ByReason<Case> = {
  valid: {
    'Amount: value equals amount': { plan: { amount: 10_000n } },
    'Amount: value exceeds amount': { plan: { authorization: { value: '10001' }, balance: 10_001n } },
    'Time: validAfter is now': { plan: (now) => ({ authorization: { validAfter: String(now) } }) },
    'Time: validAfter is 0': { plan: { authorization: { validAfter: '0' } } },
    'Time: validBefore is one second ahead': {
      plan: (now) => ({ authorization: { validBefore: String(now + 1) } }),
    },
    'Time: validBefore is the maximum uint256': {
      plan: { authorization: { validBefore: String(maxUint256) } },
    },
    'Balance: exactly the value': { plan: { amount: 7n, balance: 7n } },
    'Recipient: different letter case': {
      plan: () => {
        const payTo = randomAddress()
        return { payTo, requirements: { payTo: `0x${payTo.slice(2).toUpperCase()}` } }
      },
    },
    "Domain: the token's own without extra": { plan: { requirements: { extra: {} } } },
    'Additional fields are ignored': {
      plan: { requirements: { extra: { name: 'USDC', version: '2', x: 1 } } },
    },
  },
  invalid_exact_evm_payload_authorization_value: {
    'Amount: value is one below amount': { plan: { authorization: { value: '9999' } } },
    'Amount: the value is 0': { plan: { authorization: { value: '0' } } },
  },
  invalid_payment_amount: {
    'Amount: the required amount is 0': { plan: { amount: 1n, requirements: { amount: '0' } } },
    'Amount: value and amount are 0': { plan: { amount: 0n } },
  },
  insufficient_funds: {
    'Amount: the maximum uint256': { plan: { amount: maxUint256, balance: 1n }, operationalCode: 'SVC-3003' },
    'Balance: one less than the value': { plan: { amount: 7n, balance: 6n }, operationalCode: 'SVC-3003' },
  },
  invalid_exact_evm_payload_authorization_valid_after: {
    'Time: validAfter is one second ahead': {
      plan: (now) => ({ authorization: { validAfter: String(now + 1) } }),
    },
  },
  invalid_exact_evm_payload_authorization_valid_before: {
    'Time: validBefore is now': {
      plan: (now) => ({ authorization: { validBefore: String(now) } }),
      operationalCode: 'SVC-1011',
    },
  },
  invalid_exact_evm_payload_recipient_mismatch: {
    'Recipient: another address': { plan: { authorization: { to: randomAddress() } } },
  },
  invalid_exact_evm_payload_signature: {
    'Signature: of another key': {
      plan: { authorization: { from: randomAddress() } },
      operationalCode: 'SVC-1006',
    },
    'Signature: 65 zero bytes': { plan: { signature: `0x${'00'.repeat(65)}` }, operationalCode: 'SVC-1006' },
    'Signature: one byte': { plan: { signature: '0x01' } },
    'Signature: ten thousand random bytes': { plan: { signature: randomHex(10_000) } },
    'Signature: v is 29': { plan: { signature: concatHex([randomHex(64), '0x1d']) } },
    'Signature: random bytes with the ERC-6492 marker': {
      plan: { signature: concatHex([randomHex(100), `0x${'6492'.repeat(16)}`]) },
    },
    'Signature: only the ERC-6492 marker': { plan: { signature: `0x${'6492'.repeat(16)}` } },
  },
  invalid_exact_evm_payload_undeployed_smart_wallet: {
    'Signature: of a wallet that is not deployed, by default': {
      plan: { signature: wrap(randomAddress(), '0x1234', randomHex(65)) },
    },
  },
  unsupported_scheme: {
    'Scheme: another scheme': { plan: { requirements: { scheme: 'auth-capture' } } },
    'Scheme: in upper case': { plan: { requirements: { scheme: 'EXACT' } } },
  },
  invalid_network: {
    'Network: not served': { plan: { requirements: { network: 'eip155:1' } } },
  },
  network_mismatch: {
    'Network: different in the payload': { plan: { accepted: { network: 'eip155:8453' } } },
  },
  unsupported_asset: {
    'Asset: not accepted': { plan: { requirements: { asset: randomAddress() } } },
  },
  invalid_exact_evm_token_name_mismatch: {
    'Domain: wrong extra.name': {
      plan: { requirements: { extra: { name: 'USD Coin', version: '2' } } },
      operationalCode: 'SVC-1006',
    },
  },
  invalid_exact_evm_token_version_mismatch: {
    'Domain: wrong extra.version': {
      plan: { requirements: { extra: { name: 'USDC', version: '1' } } },
      operationalCode: 'SVC-1006',
    },
  },
}

function wrap(factory: Hex, factoryData: Hex, signature: Hex): Hex {
  const wrapped = encodeAbiParameters(
    [{ type: 'address' }, { type: 'bytes' }, { type: 'bytes' }],
    [factory, factoryData, signature],
  )
  return concatHex([wrapped, `0x${'6492'.repeat(16)}`])
}

describe('the verification table', () => {
  it.each(listByReason(rows))('%s: %s', async (_title, reason, { plan, operationalCode }) => {
    // A chain that mined several blocks within a second is ahead of the wall clock.
    const now = Math.max(unixNow(), (await scene.chain.control.getHead()).timestamp)
    const clock = { now: () => new Date(now * 1_000), sleep: systemClock.sleep }
    const service = await scene.open({ clock })
    const { body, payer } = await scene.plan({ now, ...(typeof plan === 'function' ? plan(now) : plan) })
    const answer = await service.verify(body)
    await expectExplained(service, body, answer)
    if (reason === 'valid') {
      expect(answer).toEqual({ isValid: true, payer })
      return
    }
    expect(answer).toMatchObject({
      isValid: false,
      invalidReason: reason,
      invalidMessage: expect.any(String),
    })
    if (operationalCode !== undefined) expect(answer).toMatchObject({ operationalCode })
    expect(await service.settle(body)).toMatchObject({ success: false, errorReason: reason, transaction: '' })
  })

  it('an overpayment settles in full', async () => {
    const service = await scene.open()
    const { body, payTo } = await scene.plan({ authorization: { value: '12345' }, balance: 50_000n })
    expect(await service.settle(body)).toMatchObject({ success: true, amount: '12345' })
    expect(await scene.chain.balanceOf(payTo)).toBe(12_345n)
  })

  it('an authorization that becomes valid this second settles', async () => {
    const service = await scene.open()
    const { body, payTo } = await scene.plan({ authorization: { validAfter: String(unixNow()) } })
    expect(await service.verify(body)).toMatchObject({ isValid: true })
    expect(await service.settle(body)).toMatchObject({ success: true })
    expect(await scene.chain.balanceOf(payTo)).toBe(10_000n)
  })

  it('an authorization that is valid for one second beyond the margin settles; otherwise it is refused', async () => {
    const at = Math.max(unixNow(), (await scene.chain.control.getHead()).timestamp)
    const standing = { now: () => new Date(at * 1_000), sleep: systemClock.sleep }
    const service = await scene.open({ clock: standing })
    const [short, long] = await Promise.all([
      scene.plan({ authorization: { validBefore: String(at + 6) } }),
      scene.plan({ authorization: { validBefore: String(at + 7) } }),
    ])
    await scene.chain.control.setNextBlockTimestamp(at + 1)
    expect(await service.settle(long.body)).toMatchObject({ success: true })
    expect(await service.settle(short.body)).toMatchObject({
      errorReason: 'invalid_exact_evm_payload_authorization_valid_before',
    })
  })

  it('a used authorization is refused', async () => {
    const service = await scene.open()
    const { body } = await scene.plan({ balance: 50_000n })
    await sendAsStranger(scene, encodeTransfer(body))
    expect(await service.verify(body)).toMatchObject({
      isValid: false,
      invalidReason: 'invalid_exact_evm_nonce_already_used',
      operationalCode: 'SVC-3002',
    })
  })
})

describe('a token', () => {
  it('that is paused is refused', async () => {
    const service = await scene.open()
    const { body } = await scene.plan()
    await scene.chain.setPaused(true)
    const answer = await service.verify(body)
    await scene.chain.setPaused(false)
    expect(answer).toMatchObject({ isValid: false, invalidReason: 'token_paused' })
    expect(await service.verify(body)).toMatchObject({ isValid: true })
  })

  it.each(['payer', 'payTo'] as const)('that blocks the %s is refused', async (who) => {
    const service = await scene.open()
    const { body, payer, payTo } = await scene.plan()
    await scene.chain.setBlacklisted(who === 'payer' ? payer : payTo, true)
    expect(await service.verify(body)).toMatchObject({ isValid: false, invalidReason: 'account_blocked' })
  })

  it('with only the v, r, s form of EIP-3009 is accepted for ordinary keys', async () => {
    const token = await deployTestToken(scene.chain, 'LegacyToken3009')
    const service = await scene.open({ environment: anyToken() })
    const { body, payTo } = await planPayment(scene.chain, token)
    expect(await service.settle(body)).toMatchObject({ success: true })
    expect(await token.balanceOf(payTo)).toBe(10_000n)
  })

  it('without EIP-3009 is refused', async () => {
    const token = await deployTestToken(scene.chain, 'No3009Token')
    const service = await scene.open({ environment: anyToken() })
    const { body } = await planPayment(scene.chain, token)
    expect(await service.verify(body)).toMatchObject({
      invalidReason: 'invalid_exact_evm_eip3009_not_supported',
    })
  })

  it('without code is refused', async () => {
    const service = await scene.open({ environment: anyToken() })
    const { body } = await scene.plan({ requirements: { asset: randomAddress() } })
    expect(await service.verify(body)).toMatchObject({ invalidReason: 'asset_not_deployed_contract' })
  })

  it('that is a contract but not a token has an unknown domain', async () => {
    const service = await scene.open({ environment: anyToken() })
    const asset = multicall3Address
    const { body } = await scene.plan({ requirements: { asset, extra: {} } })
    expect(await service.verify(body)).toMatchObject({
      invalidReason: 'invalid_exact_evm_missing_eip712_domain',
    })
    const named = await scene.plan({ requirements: { asset } })
    expect(await service.verify(named.body)).toMatchObject({ isValid: false })
  })

  it('is accepted only when the operator lists it', async () => {
    const [listed, other] = [
      await deployTestToken(scene.chain, 'LegacyToken3009'),
      await deployTestToken(scene.chain, 'LegacyToken3009'),
    ]
    const service = await scene.open({
      environment: { [`EVM_TOKENS_${scene.chain.chainId}`]: `${listed.address}:Test Token:1:6` },
    })
    expect(await service.verify((await planPayment(scene.chain, listed)).body)).toMatchObject({
      isValid: true,
    })
    expect(await service.verify((await planPayment(scene.chain, other)).body)).toMatchObject({
      invalidReason: 'unsupported_asset',
    })
    expect(await service.verify((await scene.plan()).body)).toMatchObject({
      invalidReason: 'unsupported_asset',
    })
  })
})

describe('the request format', () => {
  const shapes: readonly [string, (body: ExactPaymentBody) => unknown, string][] = [
    ['version 2', (body) => body, 'eip155:84532'],
    ['version 1', toV1, 'base-sepolia'],
    ['the flat format', toFlat, 'eip155:84532'],
    [
      'version 2 with payVersion',
      ({ x402Version, ...rest }) => ({ ...rest, payVersion: x402Version }),
      'eip155:84532',
    ],
    [
      'version 2 with a short network name',
      (body) => ({
        ...body,
        paymentRequirements: { ...body.paymentRequirements, network: 'base-sepolia' },
      }),
      'base-sepolia',
    ],
  ]

  it.each(shapes)(
    "of %s is understood and answered with the caller's name of the network",
    async (_name, shape, network) => {
      const service = await scene.open()
      const { body, payer, payTo } = await scene.plan()
      const shaped = shape(body)
      expect(await service.verify(shaped)).toEqual({ isValid: true, payer })
      expect(await service.settle(shaped)).toMatchObject({ success: true, network, payer })
      expect(await scene.chain.balanceOf(payTo)).toBe(10_000n)
    },
  )

  it.each(shapes)('of %s does not create another payment of the same authorization', async (_name, shape) => {
    const service = await scene.open()
    const { body, payTo } = await scene.plan({ balance: 50_000n })
    expect(await service.settle(body)).toMatchObject({ success: true })
    expect(await service.settle(shape(body))).toMatchObject({ errorReason: 'duplicate_settlement' })
    expect(await scene.chain.balanceOf(payTo)).toBe(10_000n)
  })
})

describe('a malformed proof', () => {
  const fields = ['from', 'to', 'value', 'validAfter', 'validBefore', 'nonce'] as const
  const notNumbers = [
    '',
    ' 1',
    '1 ',
    '-1',
    '+1',
    '1.0',
    '1e3',
    '0x10',
    '١',
    String(2n ** 256n),
    null,
    true,
    {},
    [],
    1.5,
    -1,
  ]
  const notAddresses = [
    '',
    '0x',
    'vitalik.eth',
    `0x${'1'.repeat(39)}`,
    `0x${'1'.repeat(41)}`,
    `0x${'g'.repeat(40)}`,
    1,
    null,
  ]
  const notNonces = ['', '0x', `0x${'1'.repeat(63)}`, `0x${'1'.repeat(66)}`, '1'.repeat(64), 7, null]
  const notSignatures = [
    '',
    '0x',
    '0x1',
    '0xzz',
    'ab'.repeat(65),
    `0x${'00'.repeat(20_000)}`,
    7,
    null,
    { v: 27 },
  ]

  const changes: readonly (readonly [
    string,
    (proof: { signature: unknown; authorization: object }) => unknown,
  ])[] = [
    ...fields.map(
      (field) =>
        [
          `without ${field}`,
          ({ signature, authorization }: { signature: unknown; authorization: object }) => ({
            signature,
            authorization: Object.fromEntries(
              Object.entries(authorization).filter(([name]) => name !== field),
            ),
          }),
        ] as const,
    ),
    ...(['value', 'validAfter', 'validBefore'] as const).flatMap((field) =>
      notNumbers.map((bad) => withField(field, bad)),
    ),
    ...(['from', 'to'] as const).flatMap((field) => notAddresses.map((bad) => withField(field, bad))),
    ...notNonces.map((bad) => withField('nonce', bad)),
    ...notSignatures.map(
      (bad) =>
        [
          `signature ${describeValue(bad)}`,
          ({ authorization }: { authorization: object }) => ({ signature: bad, authorization }),
        ] as const,
    ),
    ['without a signature', ({ authorization }) => ({ authorization })],
    ['without an authorization', ({ signature }) => ({ signature })],
    ['with a list as authorization', ({ signature }) => ({ signature, authorization: [] })],
    ['that is empty', () => ({})],
  ]

  function withField(field: string, bad: unknown) {
    return [
      `${field} ${describeValue(bad)}`,
      ({ signature, authorization }: { signature: unknown; authorization: object }) => ({
        signature,
        authorization: { ...authorization, [field]: bad },
      }),
    ] as const
  }

  function describeValue(value: unknown): string {
    return JSON.stringify(value).slice(0, 24)
  }

  it('is invalid_payload_structure, whichever field is invalid', async () => {
    const service = await scene.open()
    const { body } = await scene.plan()
    const { paymentPayload } = body
    for (const [title, change] of changes) {
      const malformed = {
        ...body,
        paymentPayload: { ...paymentPayload, payload: change(paymentPayload.payload) },
      }
      expect(await service.verify(malformed), title).toMatchObject({
        isValid: false,
        invalidReason: 'invalid_payload_structure',
        invalidMessage: expect.stringContaining('payload'),
      })
      expect(await service.settle(malformed), title).toMatchObject({
        success: false,
        errorReason: 'invalid_payload_structure',
        transaction: '',
      })
    }
    expect(await service.verify(body)).toMatchObject({ isValid: true })
  })

  it.each([
    ['no payload', { x402Version: 2, accepted: undefined }],
    ['a string as payload', { payload: 'text' }],
    ['a list as payload', { payload: [] }],
    ['a number as scheme', { accepted: { scheme: 1 } }],
  ])('with %s is invalid_payload_structure', async (_what, change) => {
    const service = await scene.open()
    const { body } = await scene.plan()
    const { payload, ...rest } = body.paymentPayload
    const paymentPayload =
      'payload' in change ? { ...rest, ...change } : { ...rest, ...change, payload: undefined }
    expect(payload).toBeDefined()
    expect(await service.verify({ ...body, paymentPayload })).toMatchObject({
      invalidReason: 'invalid_payload_structure',
    })
  })

  it('with numbers instead of strings is read', async () => {
    const service = await scene.open()
    const { body, payer } = await scene.plan()
    const { signature, authorization } = body.paymentPayload.payload
    const { value, validAfter, validBefore } = authorization
    const inNumbers = {
      ...authorization,
      value: Number(value),
      validAfter: Number(validAfter),
      validBefore: Number(validBefore),
    }
    const paymentPayload = { ...body.paymentPayload, payload: { signature, authorization: inNumbers } }
    expect(await service.verify({ ...body, paymentPayload })).toEqual({ isValid: true, payer })
  })
})
