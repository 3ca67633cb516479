import { describe, expect, it, vi } from 'vitest'
import { AppError } from '../../src/errors.js'
import { Secret } from '../../src/platform/secret.js'
import type { PresentedKey } from '../../src/usecases/dashboard/useCases.js'
import { dashboardUseCases, keyOwner, knownKey, type TestAppOptions, testApp } from './support/app.js'
import { paymentBody } from './support/payment.js'
import { listen, open, readAll } from './support/sockets.js'

type Headers = Readonly<Record<string, string>>

const watched = (parts: TestAppOptions = {}) => {
  const authenticate = vi.fn(parts.dashboard?.authenticate ?? dashboardUseCases().authenticate)
  return { app: testApp({ ...parts, dashboard: { ...parts.dashboard, authenticate } }), authenticate }
}

const verify = async (headers: Headers, parts: TestAppOptions = {}, query = '') => {
  const verifyPayment = vi.fn(async (_request: { readonly caller: string }) => ({ isValid: true }))
  const { app, authenticate } = watched({ ...parts, core: { verifyPayment } })
  const response = await app.inject({
    method: 'POST',
    url: `/verify${query}`,
    payload: paymentBody(),
    headers,
  })
  return { response, authenticate, caller: verifyPayment.mock.calls[0]?.[0].caller }
}

const other = `qtn_sk_${'f'.repeat(64)}`
const jwt = `${'eyJhbGciOiJFUzI1NiJ9'}.${'eyJzdWIiOiJjZHAifQ'}.${'c2ln'}`

describe('a key', () => {
  it.each([
    ['as a bearer token', { authorization: `Bearer ${knownKey}` }],
    ['as a bearer token in any letter case', { authorization: `bEARER  ${knownKey}` }],
    ['in X-API-Key', { 'x-api-key': knownKey }],
    ['in both headers', { authorization: `Bearer ${knownKey}`, 'x-api-key': knownKey }],
    ['beside credentials for a proxy', { authorization: 'Basic dXNlcjpwYXNz', 'x-api-key': knownKey }],
  ])('%s authenticates the request as its account', async (_name, headers) => {
    const { response, authenticate, caller } = await verify(headers)
    expect(response.statusCode).toBe(200)
    expect(caller).toBe(keyOwner.id)
    expect(authenticate).toHaveBeenCalledOnce()
  })

  it.each([
    ['as a bearer token', { authorization: `Bearer ${other}` }],
    ['in X-API-Key', { 'x-api-key': other }],
    ['in both headers', { authorization: `Bearer ${other}`, 'x-api-key': other }],
  ])('that is unknown, %s, is rejected with 401, required or not', async (_name, headers) => {
    for (const apiKeyRequired of [false, true]) {
      const { response, caller } = await verify(headers, { apiKeyRequired })
      expect(response.statusCode).toBe(401)
      expect(response.json().code).toBe('UNAUTHORIZED')
      expect(response.headers['www-authenticate']).toBe('Bearer')
      expect(response.headers['cache-control']).toBe('no-store')
      expect(caller).toBeUndefined()
    }
  })

  it.each([
    ['Bearer without a key', { authorization: 'Bearer' }],
    ['Bearer and a space only', { authorization: 'Bearer ' }],
    ['two keys after Bearer', { authorization: `Bearer ${knownKey} ${knownKey}` }],
    ['two keys after Bearer, joined by a comma', { authorization: `Bearer ${knownKey},${knownKey}` }],
    ['the key without Bearer', { authorization: knownKey }],
    ['an empty X-API-Key', { 'x-api-key': '' }],
    ['a blank X-API-Key', { 'x-api-key': ' ' }],
    ['Bearer in X-API-Key', { 'x-api-key': `Bearer ${knownKey}` }],
    ['two keys in X-API-Key', { 'x-api-key': `${knownKey}, ${knownKey}` }],
    ['non-ASCII letters', { 'x-api-key': 'qtn_sk_é' }],
    ['two headers with different keys', { authorization: `Bearer ${knownKey}`, 'x-api-key': other }],
    ['two headers with different keys, swapped', { authorization: `Bearer ${other}`, 'x-api-key': knownKey }],
    ['two headers, one of them empty', { authorization: `Bearer ${knownKey}`, 'x-api-key': '' }],
    [
      'two headers with keys that differ in letter case',
      { authorization: 'Bearer qtn_sk_abc', 'x-api-key': 'qtn_sk_ABC' },
    ],
  ])('that is ambiguous or malformed (%s) is rejected with 401 without a lookup', async (_name, headers) => {
    const { response, authenticate } = await verify(headers)
    expect(response.statusCode).toBe(401)
    expect(response.json().code).toBe('UNAUTHORIZED')
    expect(response.headers['www-authenticate']).toBe('Bearer')
    expect(authenticate).not.toHaveBeenCalled()
  })

  it.each([
    ['X-API-Key', [`X-API-Key: ${knownKey}`, `X-API-Key: ${knownKey}`]],
    ['X-API-Key in two letter cases', [`X-API-Key: ${knownKey}`, `x-api-key: ${other}`]],
    ['Authorization', [`Authorization: Bearer ${knownKey}`, `Authorization: Bearer ${other}`]],
    ['Authorization, once empty', [`Authorization: Bearer ${knownKey}`, 'Authorization:']],
  ])('in a repeated header %s is rejected with 401', async (_name, lines) => {
    const { app, authenticate } = watched()
    const socket = await open(await listen(app))
    const answer = readAll(socket)
    socket.write(['GET /supported HTTP/1.1', 'Host: a', 'Connection: close', ...lines, '', ''].join('\r\n'))
    expect(await answer).toContain('HTTP/1.1 401 ')
    expect(authenticate).not.toHaveBeenCalled()
    await app.close()
  })

  it('is never taken from the query string', async () => {
    const query = `?api_key=${knownKey}&apiKey=${knownKey}&key=${knownKey}&authorization=Bearer%20${knownKey}&x-api-key=${knownKey}`
    const open = await verify({}, {}, query)
    expect(open.caller).toBe('anonymous')
    const closed = await verify({}, { apiKeyRequired: true }, query)
    expect(closed.response.statusCode).toBe(401)
    for (const { authenticate } of [open, closed]) expect(authenticate).not.toHaveBeenCalled()
  })

  it('is checked before the body is read', async () => {
    const { app } = watched()
    const response = await app.inject({
      method: 'POST',
      url: '/register',
      headers: { 'x-api-key': other, 'content-type': 'application/json' },
      payload: '{{{',
    })
    expect(response.statusCode).toBe(401)
  })

  it('that is restricted to other clients is rejected with 403', async () => {
    const authenticate = async () => {
      throw new AppError('FORBIDDEN', 'This API key may not be used from this address')
    }
    const { response } = await verify({ 'x-api-key': knownKey }, { dashboard: { authenticate } })
    expect(response.statusCode).toBe(403)
    expect(response.json()).toEqual({
      code: 'FORBIDDEN',
      message: 'This API key may not be used from this address',
    })
  })

  it('that cannot be checked because the store is down receives 503, not 401', async () => {
    const authenticate = async () => {
      throw new Error('connect ECONNREFUSED 10.0.0.3:5432')
    }
    const { response } = await verify({ 'x-api-key': knownKey }, { dashboard: { authenticate } })
    expect(response.statusCode).toBe(503)
    expect(response.json()).toEqual({
      code: 'SERVICE_UNAVAILABLE',
      message: 'API keys cannot be checked at the moment',
      retryAfter: 1,
    })
    expect(response.headers['retry-after']).toBe('1')
  })
})

describe('a credential of another provider', () => {
  const foreign: [string, Headers][] = [
    ['a JWT as bearer token', { authorization: `Bearer ${jwt}` }],
    ['a JWT without a scheme', { authorization: jwt }],
    ['another secret as bearer token', { authorization: 'Bearer sk_live_51H8' }],
    ['another secret in X-API-Key', { 'x-api-key': 'cdp-4f2a' }],
    ['different ones in both headers', { authorization: `Bearer ${jwt}`, 'x-api-key': 'cdp-4f2a' }],
  ]

  it.each(foreign)('(%s) is ignored where no key is needed, without a lookup', async (_name, headers) => {
    const { response, authenticate, caller } = await verify(headers)
    expect(response.statusCode).toBe(200)
    expect(caller).toBe('anonymous')
    expect(authenticate).not.toHaveBeenCalled()
    const { app } = watched({ apiKeyRequired: true })
    for (const url of ['/supported', '/info', '/tiers']) {
      expect((await app.inject({ url, headers })).statusCode).toBe(200)
    }
  })

  it.each(foreign)('(%s) receives 401 where a key is needed', async (_name, headers) => {
    const { response, authenticate, caller } = await verify(headers, { apiKeyRequired: true })
    expect(response.statusCode).toBe(401)
    expect(response.json()).toMatchObject({ code: 'UNAUTHORIZED' })
    expect(response.headers['www-authenticate']).toBe('Bearer')
    expect(caller).toBeUndefined()
    expect(authenticate).not.toHaveBeenCalled()
    const { app } = watched()
    expect((await app.inject({ url: '/dashboard/info', headers })).statusCode).toBe(401)
  })

  it.each([
    ['a JWT beside our key', { authorization: `Bearer ${jwt}`, 'x-api-key': knownKey }],
    ['another X-API-Key beside our key', { authorization: `Bearer ${knownKey}`, 'x-api-key': 'cdp-4f2a' }],
  ])('(%s) leaves the request to our key', async (_name, headers) => {
    expect((await verify(headers)).caller).toBe(keyOwner.id)
  })

  it('never hides a wrong key of ours beside it', async () => {
    const { response } = await verify({ authorization: `Bearer ${jwt}`, 'x-api-key': other })
    expect(response.statusCode).toBe(401)
  })

  it('is ignored in a repeated header too', async () => {
    const { app } = watched()
    const socket = await open(await listen(app))
    const answer = readAll(socket)
    const lines = [`Authorization: Bearer ${jwt}`, 'Authorization: Bearer sk_live_51H8']
    socket.write(['GET /supported HTTP/1.1', 'Host: a', 'Connection: close', ...lines, '', ''].join('\r\n'))
    expect(await answer).toContain('HTTP/1.1 200 ')
    await app.close()
  })
})

describe('a request without a key', () => {
  it.each([
    ['with no header', {}],
    ['with an empty Authorization', { authorization: '' }],
    ['with credentials for a proxy', { authorization: 'Basic dXNlcjpwYXNz' }],
  ])('%s is anonymous, without a lookup', async (_name, headers) => {
    const { response, authenticate, caller } = await verify(headers)
    expect(response.statusCode).toBe(200)
    expect(caller).toBe('anonymous')
    expect(authenticate).not.toHaveBeenCalled()
  })

  it.each([{}, { authorization: '' }, { authorization: 'Basic dXNlcjpwYXNz' }])(
    'receives 401 if keys are required (%j), without a lookup',
    async (headers) => {
      const { response, authenticate, caller } = await verify(headers, { apiKeyRequired: true })
      expect(response.statusCode).toBe(401)
      expect(response.headers['www-authenticate']).toBe('Bearer')
      expect(caller).toBeUndefined()
      expect(authenticate).not.toHaveBeenCalled()
    },
  )

  it('is served on public routes even if keys are required', async () => {
    const { app } = watched({ apiKeyRequired: true })
    for (const url of ['/supported', '/info', '/tiers', '/stats/keys', '/docs']) {
      expect((await app.inject(url)).statusCode).toBe(200)
    }
  })
})

describe('the use of a key', () => {
  const useOf = async (
    headers: Headers,
    trustProxy: readonly string[] = [],
  ): Promise<PresentedKey | undefined> => {
    const { app, authenticate } = watched({ trustProxy })
    await app.inject({
      url: '/dashboard/info',
      remoteAddress: '10.1.2.3',
      headers: { 'x-api-key': knownKey, ...headers },
    })
    return authenticate.mock.calls[0]?.[0]
  }

  it('uses the client address behind trusted proxies', async () => {
    const forwarded = { 'x-forwarded-for': '198.51.100.7' }
    expect(await useOf(forwarded)).toMatchObject({
      apiKey: knownKey,
      address: '10.1.2.3',
      refererHost: null,
    })
    expect(await useOf(forwarded, ['10.0.0.0/8'])).toMatchObject({ address: '198.51.100.7' })
  })

  it.each([
    [{ referer: 'https://Shop.Example:8443/cart?x=1' }, 'shop.example'],
    [{ origin: 'https://shop.example' }, 'shop.example'],
    [{ referer: 'https://shop.example/', origin: 'https://other.example' }, 'shop.example'],
    [{ referer: 'https://shop.example@evil.example/' }, 'evil.example'],
    [{ referer: 'https://evil.example/https://shop.example/' }, 'evil.example'],
    [{ referer: 'https://evil.example\\@shop.example/' }, 'evil.example'],
    [{ referer: 'https://xn--bcher-kva.example/' }, 'xn--bcher-kva.example'],
    [{ referer: 'shop.example' }, null],
    [{ referer: 'about:blank', origin: 'null' }, null],
    [{ referer: '', origin: 'https://shop.example' }, 'shop.example'],
    [{ 'x-forwarded-host': 'shop.example', host: 'shop.example' }, null],
  ])('uses the referrer host of %j: %s', async (headers, refererHost) => {
    expect(await useOf(headers)).toMatchObject({ refererHost })
  })
})

describe('routes that ignore keys', () => {
  it.each(['/health', '/ready', '/metrics'])('%s responds even if the key store is down', async (url) => {
    const { app, authenticate } = watched()
    const response = await app.inject({ url, headers: { 'x-api-key': other, authorization: 'Bearer' } })
    expect(response.statusCode).toBe(200)
    expect(authenticate).not.toHaveBeenCalled()
  })

  it.each([
    ['GET', '/nothing', 404],
    ['DELETE', '/dashboard/info', 405],
    ['OPTIONS', '/dashboard/info', 204],
  ] as const)('%s %s responds %i, with or without a key', async (method, url, status) => {
    const { app, authenticate } = watched()
    const response = await app.inject({ method, url, headers: { 'x-api-key': other } })
    expect(response.statusCode).toBe(status)
    expect(authenticate).not.toHaveBeenCalled()
  })
})

describe('GET /v1/settlements, for everyone and for operators', () => {
  const token = 'an-operator-token-of-some-length'
  const byTransaction = '?network=a&transaction=b'
  const byStatus = '?status=pending'

  const ask = async (query: string, headers: Headers) => {
    const { app, authenticate } = watched({ operatorToken: new Secret(token) })
    const { statusCode } = await app.inject({ url: `/v1/settlements${query}`, headers })
    return { status: statusCode, lookUps: authenticate.mock.calls.length }
  }

  it.each([
    ['the operator by status', byStatus, { authorization: `Bearer ${token}` }, 200, 0],
    ['the operator by transaction', byTransaction, { authorization: `Bearer ${token}` }, 404, 0],
    ['a wrong token by status', byStatus, { authorization: `Bearer ${token}x` }, 401, 0],
    ['a key by status', byStatus, { authorization: `Bearer ${knownKey}` }, 401, 0],
    ['a key beside the token', byStatus, { authorization: `Bearer ${token}`, 'x-api-key': knownKey }, 200, 1],
    [
      'a wrong key beside the token',
      byStatus,
      { authorization: `Bearer ${token}`, 'x-api-key': other },
      401,
      1,
    ],
    ['a key by transaction', byTransaction, { authorization: `Bearer ${knownKey}` }, 404, 1],
    ['a wrong key by transaction', byTransaction, { authorization: `Bearer ${other}` }, 401, 1],
    ['the operator’s token as X-API-Key', byStatus, { 'x-api-key': token }, 401, 0],
    ['the JWT of another provider by transaction', byTransaction, { authorization: `Bearer ${jwt}` }, 404, 0],
    ['the JWT of another provider by status', byStatus, { authorization: `Bearer ${jwt}` }, 401, 0],
  ])('handles %s', async (_name, query, headers, status, lookUps) => {
    expect(await ask(query, headers)).toEqual({ status, lookUps })
  })

  it('does not treat the bearer token of an operator route as a key, but checks X-API-Key', async () => {
    const { app, authenticate } = watched({ operatorToken: new Secret(token) })
    app.get('/operators-only', { config: { access: 'operator' } }, async () => ({ ok: true }))
    const authorization = `Bearer ${token}`
    expect((await app.inject({ url: '/operators-only', headers: { authorization } })).statusCode).toBe(200)
    expect(authenticate).not.toHaveBeenCalled()
    const headers = { authorization, 'x-api-key': other }
    expect((await app.inject({ url: '/operators-only', headers })).statusCode).toBe(401)
  })
})
