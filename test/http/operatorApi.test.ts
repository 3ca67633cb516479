import { describe, expect, it, vi } from 'vitest'
import { networkPause } from '../../src/http/schemas/operatorExamples.js'
import { Secret } from '../../src/platform/secret.js'
import type { AnsweredRequest, OperatorUseCases } from '../../src/usecases/operator/useCases.js'
import { knownKey, testApp } from './support/app.js'

const token = 'an-operator-token-of-some-length'
const id = '0b8a7a0c-3f0e-4a9c-9d43-1f6f0a2a9d51'

const openApp = (operator: Partial<OperatorUseCases> = {}) =>
  testApp({ operator, operatorToken: new Secret(token) })

const routes = [
  ['GET', '/v1/operator/overview'],
  ['GET', '/v1/operator/callers'],
  ['GET', '/v1/operator/accounts'],
  ['POST', `/v1/operator/accounts/${id}/tier`],
  ['POST', `/v1/operator/accounts/${id}/revoke`],
  ['GET', '/v1/operator/pauses'],
  ['PUT', '/v1/operator/pauses'],
  ['DELETE', '/v1/operator/pauses?kind=network&network=base'],
  ['POST', `/v1/operator/deliveries/${id}/redeliver`],
  ['GET', '/v1/operator/audit'],
] as const

describe.each(routes)('%s %s', (method, url) => {
  it.each([
    ['without a token', {}],
    ['with another token', { authorization: 'Bearer another-operator-token-of-its' }],
    ['with an API key', { authorization: `Bearer ${knownKey}` }],
    ['with the token in X-API-Key', { 'x-api-key': token }],
  ])('is refused %s, and nothing is done', async (_, headers) => {
    const called = vi.fn()
    const operator = new Proxy({}, { get: () => called, ownKeys: () => [] })
    const response = await openApp(operator).inject({ method, url, headers })
    expect(response.statusCode).toBe(401)
    expect(called).not.toHaveBeenCalled()
  })

  it('is closed where no token is set', async () => {
    const response = await testApp().inject({ method, url, headers: { authorization: `Bearer ${token}` } })
    expect(response.statusCode).toBe(403)
  })

  it('forbids caching', async () => {
    const response = await openApp().inject({ method, url, headers: { authorization: `Bearer ${token}` } })
    expect(response.statusCode).not.toBe(401)
    expect(response.headers['cache-control']).toBe('no-store')
  })
})

const ask = async (
  operator: Partial<OperatorUseCases>,
  request: {
    readonly method?: 'GET' | 'POST' | 'PUT' | 'DELETE'
    readonly url: string
    readonly body?: object
  },
) => {
  const { method = 'GET', url, body } = request
  const response = await openApp(operator).inject({
    method,
    url: `/v1/operator${url}`,
    headers: { authorization: `Bearer ${token}` },
    remoteAddress: '203.0.113.7',
    ...(body === undefined ? {} : { body }),
  })
  return { status: response.statusCode, json: response.json() }
}

describe('PUT /v1/operator/pauses', () => {
  const put = async (body: object) => {
    const setPause = vi.fn(async () => ({ pause: networkPause, changed: true }))
    return { ...(await ask({ setPause }, { method: 'PUT', url: '/pauses', body })), setPause }
  }
  const target = { kind: 'network', network: 'base' }

  it('passes on target, reason, name and address', async () => {
    const body = { target, reason: '  Why ', by: 'Ada' }
    const { status, json, setPause } = await put(body)
    expect([status, json]).toEqual([200, { pause: networkPause, changed: true }])
    expect(setPause).toHaveBeenCalledWith({ target, reason: 'Why', by: 'Ada' }, '203.0.113.7')
  })

  it.each([
    ['no reason', { target }],
    ['an empty reason', { target, reason: ' ' }],
    ['a long reason', { target, reason: 'x'.repeat(201) }],
    ['a reason of two lines', { target, reason: 'a\nb' }],
    ['a reason with a direction override', { target, reason: 'a\u202eb' }],
    ['no target', { reason: 'Why' }],
    ['an unknown kind', { target: { kind: 'everything' }, reason: 'Why' }],
    ['a field of another kind', { target: { ...target, accountId: id }, reason: 'Why' }],
    ['a scheme without its name', { target: { ...target, kind: 'scheme' }, reason: 'Why' }],
    ['an account that is no id', { target: { kind: 'account', accountId: 'x' }, reason: 'Why' }],
    ['an unknown field', { target, reason: 'Why', until: 'tomorrow' }],
  ])('refuses %s', async (_, body) => {
    const { status, json, setPause } = await put(body)
    expect([status, json.code]).toEqual([400, 'INVALID_REQUEST'])
    expect(setPause).not.toHaveBeenCalled()
  })
})

describe('DELETE /v1/operator/pauses', () => {
  const clear = async (query: string) => {
    const clearPause = vi.fn(async () => ({ cleared: true, pauses: [] }))
    return { ...(await ask({ clearPause }, { method: 'DELETE', url: `/pauses?${query}` })), clearPause }
  }

  it.each([
    ['kind=network&network=base&by=Ada', { kind: 'network', network: 'base' }, 'Ada'],
    ['kind=scheme&network=base&scheme=upto', { kind: 'scheme', network: 'base', scheme: 'upto' }, undefined],
    [`kind=account&accountId=${id.toUpperCase()}`, { kind: 'account', accountId: id }, undefined],
  ])('takes %s', async (query, target, by) => {
    const { status, clearPause } = await clear(query)
    expect(status).toBe(200)
    expect(clearPause).toHaveBeenCalledWith(target, { by, address: '203.0.113.7' })
  })

  it.each([
    '',
    'kind=network',
    'kind=network&network=base&scheme=exact',
    'kind=all',
    'kind=account&accountId=x',
  ])('refuses %j', async (query) => {
    const { status, clearPause } = await clear(query)
    expect(status).toBe(400)
    expect(clearPause).not.toHaveBeenCalled()
  })
})

describe('the counts of callers', () => {
  const countOf = async (request: { readonly url: string; readonly headers?: Record<string, string> }) => {
    const counted: AnsweredRequest[] = []
    const app = testApp({
      operator: { countCaller: (answered) => counted.push(answered) },
      operatorToken: new Secret(token),
      core: {
        verifyPayment: async () => ({ isValid: false, invalidReason: 'insufficient_funds' }),
      },
    })
    const isPayment = request.url === '/verify'
    await app.inject({
      ...request,
      remoteAddress: '2001:db8:1:2:3:4:5:6',
      ...(isPayment ? { method: 'POST', body: payment } : {}),
    })
    return counted
  }
  const payment = {
    paymentPayload: { x402Version: 2, payload: {} },
    paymentRequirements: {
      scheme: 'exact',
      network: 'eip155:84532',
      amount: '1',
      asset: '0x036CbD53842c5426634e7929541eC2318f3dCF7e',
      payTo: '0x209693Bc6afc0C5328bA36FaF03C514EF312287C',
      maxTimeoutSeconds: 60,
    },
  }

  it('have the reason of a refused payment, and the network of its caller', async () => {
    expect(await countOf({ url: '/verify' })).toMatchObject([
      { accountId: null, network: '2001:db8:1:2::/64', isSettle: false, reason: 'insufficient_funds' },
    ])
  })

  it('have the account of a key, and no reason for what succeeds', async () => {
    expect(await countOf({ url: '/dashboard/info', headers: { 'x-api-key': knownKey } })).toMatchObject([
      { accountId: '2f6f3c1e-6f0b-4a53-9b0e-0d6f7c9a1b11', reason: null },
    ])
  })

  it('have the code of an error', async () => {
    expect(await countOf({ url: '/nowhere' })).toMatchObject([{ accountId: null, reason: 'NOT_FOUND' }])
  })

  it.each(['/health', '/v1/operator/overview'])('leave out %s', async (url) => {
    expect(await countOf({ url, headers: { authorization: `Bearer ${token}` } })).toEqual([])
  })
})
