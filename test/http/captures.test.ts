import { describe, expect, it } from 'vitest'
import { AppError } from '../../src/errors.js'
import type { KeyScope } from '../../src/protocol/accounts.js'
import type { AtDeadline, HeldPaymentDetails } from '../../src/protocol/heldPayments.js'
import type { CaptureUseCases } from '../../src/usecases/captures/useCases.js'
import { keyOwner, knownKey, testApp } from './support/app.js'

const hash = `0x${'aB'.repeat(32)}`
const held = { network: 'eip155:84532', paymentInfoHash: hash }
const capture = { ...held, amount: '4000' }
const keyed = { authorization: `Bearer ${knownKey}` }
const key = { 'idempotency-key': 'order-1' }

const payment: HeldPaymentDetails = {
  network: held.network,
  paymentInfoHash: hash.toLowerCase(),
  status: 'held',
  payer: '0x01',
  payTo: '0x02',
  asset: '0x03',
  amount: '10000',
  capturableAmount: '6000',
  refundableAmount: '4000',
  capturedAmount: '4000',
  voidedAmount: '0',
  reclaimedAmount: '0',
  refundedAmount: '0',
  captureDeadline: '2026-01-01T00:00:00.000Z',
  atDeadline: 'nothing',
  refundDeadline: '2026-01-02T00:00:00.000Z',
  createdAt: '2026-01-01T00:00:00.000Z',
  settlements: [],
}

const open = () => {
  const asked: unknown[] = []
  const captures: Partial<CaptureUseCases> = {
    moveHold: async ({ accountId, network, paymentInfoHash, idempotencyKey, asked: move }) => {
      asked.push({ accountId, network, paymentInfoHash, idempotencyKey, ...move })
      return { status: 'confirmed', transaction: '0xab', settlementId: 'id', payment }
    },
    getHeldPayment: async ({ network, paymentInfoHash }) => {
      asked.push({ network, paymentInfoHash })
      return payment
    },
    listHeldPayments: async ({ accountId: _, ...query }) => {
      asked.push(query)
      return { payments: [] }
    },
  }
  const app = testApp({ captures })
  const post = (url: string, payload: object, headers: Record<string, string> = { ...keyed, ...key }) =>
    app.inject({ method: 'POST', url, payload, headers })
  return { app, post, asked }
}

describe('POST /v1/captures', () => {
  it('passes on what is asked for, with the hash in lower case', async () => {
    const { post, asked } = open()
    const feeReceiver = `0x${'Cd'.repeat(20)}`
    const response = await post('/v1/captures', { ...capture, fee: '10', feeReceiver, voidRemainder: true })
    expect(response.statusCode).toBe(200)
    expect(response.json()).toMatchObject({ status: 'confirmed', payment: { capturedAmount: '4000' } })
    expect(response.headers['cache-control']).toContain('no-store')
    expect(asked).toEqual([
      {
        accountId: expect.any(String),
        network: held.network,
        paymentInfoHash: hash.toLowerCase(),
        idempotencyKey: 'order-1',
        type: 'capture',
        amount: 4_000n,
        fee: 10n,
        feeReceiver: feeReceiver.toLowerCase(),
        voidsRemainder: true,
      },
    ])
  })

  it.each([
    ['network', undefined],
    ['network', ''],
    ['network', 8453],
    ['paymentInfoHash', undefined],
    ['paymentInfoHash', 'x'],
    ['paymentInfoHash', hash.slice(0, -1)],
    ['paymentInfoHash', [hash]],
    ['amount', undefined],
    ['amount', 4_000],
    ['amount', ''],
    ['amount', '0'],
    ['amount', '000'],
    ['amount', '-1'],
    ['amount', '1.5'],
    ['amount', '0x10'],
    ['amount', '1e3'],
    ['amount', '1'.repeat(38)],
    ['fee', 10],
    ['fee', '-1'],
    ['feeReceiver', '0x1'],
    ['voidRemainder', 'true'],
    ['amout', '1'],
  ])('refuses a wrong %s: %j', async (field, value) => {
    const { post, asked } = open()
    const response = await post('/v1/captures', { ...capture, [field]: value })
    expect(response.statusCode).toBe(400)
    expect(response.json().code).toBe('INVALID_REQUEST')
    if (field !== 'amout') expect(response.json().message).toContain(field)
    expect(asked).toEqual([])
  })

  it('states why nothing was sent', async () => {
    const moveHold = async () => {
      const options = { reason: 'invalid_auth_capture_evm_insufficient_authorization' } as const
      throw new AppError('PAYMENT_REFUSED', 'Too much; 6000 can be captured and 0 refunded now', options)
    }
    const app = testApp({ captures: { moveHold } })
    const response = await app.inject({
      method: 'POST',
      url: '/v1/captures',
      payload: capture,
      headers: { ...keyed, ...key },
    })
    expect(response.statusCode).toBe(400)
    expect(response.json()).toMatchObject({
      code: 'PAYMENT_REFUSED',
      errorReason: 'invalid_auth_capture_evm_insufficient_authorization',
      message: expect.stringContaining('6000'),
    })
  })
})

describe('an Idempotency-Key', () => {
  it.each(['/v1/captures', '/v1/refunds'])('is required of POST %s', async (url) => {
    const { post, asked } = open()
    expect((await post(url, capture, keyed)).json()).toMatchObject({ code: 'INVALID_IDEMPOTENCY_KEY' })
    expect(asked).toEqual([])
  })

  it('may be absent from POST /v1/voids, of which there is one', async () => {
    const { post, asked } = open()
    expect((await post('/v1/voids', held, keyed)).statusCode).toBe(200)
    expect(asked).toMatchObject([{ type: 'void', idempotencyKey: null }])
  })

  it.each(['/v1/captures', '/v1/voids', '/v1/refunds'])('must be well formed for POST %s', async (url) => {
    const { post } = open()
    const response = await post(url, capture, { ...keyed, 'idempotency-key': 'a b' })
    expect(response.json()).toMatchObject({ code: 'INVALID_IDEMPOTENCY_KEY' })
  })
})

describe('the holds of an account', () => {
  it('are read by network and hash, in any letter case', async () => {
    const { app, asked } = open()
    const response = await app.inject({ url: `/v1/payments/eip155:84532/${hash}`, headers: keyed })
    expect(response.json()).toEqual(payment)
    expect(asked).toEqual([{ network: 'eip155:84532', paymentInfoHash: hash.toLowerCase() }])
  })

  it('are listed in pages, by status', async () => {
    const { app, asked } = open()
    await app.inject({ url: '/v1/payments?status=held&limit=2', headers: keyed })
    expect(asked).toEqual([{ status: 'held', limit: 2 }])
    for (const query of ['status=open', 'limit=0', 'cursor=x', 'stauts=held']) {
      const response = await app.inject({ url: `/v1/payments?${query}`, headers: keyed })
      expect(response.statusCode).toBe(400)
    }
    const malformed = await app.inject({ url: '/v1/payments/eip155:84532/0x1', headers: keyed })
    expect(malformed.statusCode).toBe(400)
  })

  it.each([
    ['POST', '/v1/captures'],
    ['POST', '/v1/voids'],
    ['POST', '/v1/refunds'],
    ['GET', '/v1/payments'],
    ['GET', `/v1/payments/eip155:84532/${hash}`],
  ] as const)('need a key: %s %s', async (method, url) => {
    const { app, asked } = open()
    expect((await app.inject({ method, url })).statusCode).toBe(401)
    expect(asked).toEqual([])
  })

  it('of others are not found', async () => {
    const app = testApp()
    const response = await app.inject({ url: `/v1/payments/eip155:84532/${hash}`, headers: keyed })
    expect(response.statusCode).toBe(404)
  })
})

const deadlineUrl = `/v1/payments/${held.network}/${hash}/deadline`
const defaultsUrl = '/v1/hold-defaults'

/** The account's holds and default, as the use cases keep them. */
const openDeadlines = (scopes: readonly KeyScope[] = keyOwner.key.scopes) => {
  const asked: unknown[] = []
  let ofNew: AtDeadline = 'nothing'
  const app = testApp({
    dashboard: {
      authenticate: async ({ scope }) => {
        if (scope == null || scopes.includes(scope)) return keyOwner
        throw new AppError('FORBIDDEN', `The API key lacks the scope ${scope}`)
      },
    },
    captures: {
      setAtDeadline: async (query) => {
        asked.push(query)
        return { ...payment, atDeadline: query.atDeadline }
      },
      setDefault: async (accountId, atDeadline) => {
        asked.push({ accountId, atDeadline })
        ofNew = atDeadline
        return { atDeadline }
      },
      getDefault: async () => ({ atDeadline: ofNew }),
    },
  })
  const post = (url: string, body?: unknown, headers: Readonly<Record<string, string>> = {}) =>
    app.inject({
      method: 'POST',
      url,
      headers: {
        ...keyed,
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
        ...headers,
      },
      ...(body === undefined ? {} : { payload: typeof body === 'string' ? body : JSON.stringify(body) }),
    })
  return { app, post, asked }
}

describe('what is done at the deadline of a hold', () => {
  it('is stated for the own account, with the hash in lower case, as often as it likes', async () => {
    const { post, asked } = openDeadlines()
    for (const atDeadline of ['capture', 'capture', 'void', 'nothing']) {
      const response = await post(deadlineUrl, { atDeadline })
      expect(response.statusCode).toBe(200)
      expect(response.json()).toEqual({ ...payment, atDeadline })
      expect(response.headers['cache-control']).toContain('no-store')
    }
    const query = { accountId: keyOwner.id, network: held.network, paymentInfoHash: hash.toLowerCase() }
    expect(asked).toEqual(
      ['capture', 'capture', 'void', 'nothing'].map((atDeadline) => ({ ...query, atDeadline })),
    )
  })

  it.each([
    ['x', hash],
    [held.network, '0x1'],
    [held.network, hash.slice(2)],
    [held.network, `${hash}00`],
    [held.network, hash.replace('a', 'g')],
    ['x'.repeat(129), hash],
  ])('is refused or not found for network %s and hash %s', async (network, paymentInfoHash) => {
    const { app } = openDeadlines()
    const isUnknown = network === 'x'
    const own = isUnknown ? testApp() : app
    const response = await own.inject({
      method: 'POST',
      url: `/v1/payments/${network}/${paymentInfoHash}/deadline`,
      headers: keyed,
      payload: { atDeadline: 'void' },
    })
    expect(response.statusCode).toBe(isUnknown ? 404 : 400)
  })

  it.each([
    ['REQUEST_IN_PROGRESS', 409],
    ['INVALID_REQUEST', 400],
    ['NOT_FOUND', 404],
    ['SERVICE_UNAVAILABLE', 503],
  ] as const)('is answered %s as %i', async (code, status) => {
    const app = testApp({
      captures: {
        setAtDeadline: async () => {
          throw new AppError(code, 'It is refused', { retryAfterSeconds: 30 })
        },
      },
    })
    const response = await app.inject({
      method: 'POST',
      url: deadlineUrl,
      headers: keyed,
      payload: { atDeadline: 'void' },
    })
    expect({ status: response.statusCode, code: response.json().code }).toEqual({ status, code })
    expect(response.headers['retry-after']).toBe('30')
  })
})

describe('what is done at the deadlines of new holds', () => {
  it('is nothing until it is stated, and then what was stated last', async () => {
    const { app, post, asked } = openDeadlines()
    const read = async () => {
      const response = await app.inject({ url: defaultsUrl, headers: keyed })
      expect(response.headers['cache-control']).toContain('no-store')
      return response.json()
    }
    expect(await read()).toEqual({ atDeadline: 'nothing' })
    for (const atDeadline of ['capture', 'capture', 'void']) {
      expect((await post(defaultsUrl, { atDeadline })).json()).toEqual({ atDeadline })
      expect(await read()).toEqual({ atDeadline })
    }
    expect(asked).toEqual(
      ['capture', 'capture', 'void'].map((atDeadline) => ({ accountId: keyOwner.id, atDeadline })),
    )
  })
})

describe.each([deadlineUrl, defaultsUrl])('a statement to %s', (url) => {
  it.each([
    [undefined],
    [''],
    ['null'],
    ['[]'],
    ['"void"'],
    ['{"atDeadline":"void"'],
    [{}],
    [{ atDeadline: null }],
    [{ atDeadline: '' }],
    [{ atDeadline: 'Void' }],
    [{ atDeadline: 'refund' }],
    [{ atDeadline: ['void'] }],
    [{ atDeadline: { toString: 'void' } }],
    [{ atDeadline: true }],
    [{ atDeadline: 'void', amount: '1' }],
    [{ atDeadline: 'void', accountId: 'another' }],
    ['{"atDeadline":"void","__proto__":{"x":1}}'],
  ])('is refused as %j', async (body) => {
    const { post, asked } = openDeadlines()
    expect((await post(url, body)).statusCode).toBe(400)
    expect(asked).toEqual([])
  })

  it.each(['text/plain', 'application/x-www-form-urlencoded', 'multipart/form-data; boundary=x'])(
    'is refused as a form of another site sends it: %s',
    async (contentType) => {
      const { post, asked } = openDeadlines()
      const response = await post(url, '{"atDeadline":"void"}', { 'content-type': contentType })
      expect(response.statusCode).toBe(415)
      expect(asked).toEqual([])
    },
  )

  it('needs a key in a header, which no browser adds by itself', async () => {
    const { app, asked } = openDeadlines()
    const none = { authorization: '' }
    for (const headers of [none, { cookie: `authorization=Bearer ${knownKey}; x-api-key=${knownKey}` }]) {
      const payload = { atDeadline: 'void' }
      const response = await app.inject({ method: 'POST', url, headers, payload })
      expect(response.statusCode).toBe(401)
      const inQuery = await app.inject({ method: 'POST', url: `${url}?apiKey=${knownKey}`, payload })
      expect(inQuery.statusCode).toBe(401)
    }
    expect(asked).toEqual([])
  })

  it('needs the scope settle', async () => {
    const { post, asked } = openDeadlines(['read', 'verify', 'manage'])
    const response = await post(url, { atDeadline: 'void' })
    expect({ status: response.statusCode, code: response.json().code }).toEqual({
      status: 403,
      code: 'FORBIDDEN',
    })
    expect(asked).toEqual([])
    expect((await openDeadlines(['settle']).post(url, { atDeadline: 'void' })).statusCode).toBe(200)
  })

  it('is allowed to no page of another origin', async () => {
    const { app, post } = openDeadlines()
    const headers = {
      origin: 'https://attacker.example',
      'access-control-request-method': 'POST',
      'access-control-request-headers': 'authorization,content-type',
    }
    const preflight = await app.inject({ method: 'OPTIONS', url, headers })
    expect(preflight.headers['access-control-allow-origin']).toBeUndefined()
    const response = await post(url, { atDeadline: 'void' }, { origin: headers.origin })
    expect(response.headers['access-control-allow-origin']).toBeUndefined()
  })

  it.each(['PUT', 'PATCH', 'DELETE'] as const)('is not made by %s', async (method) => {
    const { app, asked } = openDeadlines()
    const response = await app.inject({ method, url, headers: keyed, payload: { atDeadline: 'void' } })
    expect([404, 405]).toContain(response.statusCode)
    expect(asked).toEqual([])
  })
})
