import { describe, expect, it } from 'vitest'
import { accountRequests } from '../../src/http/schemas/accounts.js'
import { knownKey, testApp } from './support/app.js'

const listed = 'https://console.example'
const unlisted = [
  ...['https://evil.example', 'null', 'http://console.example', 'https://console.example:8443', ''],
  ...['https://console.example.evil.example', 'HTTPS://CONSOLE.EXAMPLE', 'https://a.console.example', '*'],
]
// Shared: building an app takes longer than all requests of this file.
const listing = testApp({ accountOrigins: [listed, 'http://localhost:3000'] })
const app = () => listing
const closed = testApp()

const allowOf = (headers: Readonly<Record<string, unknown>>) =>
  Object.fromEntries(Object.entries(headers).filter(([name]) => name.startsWith('access-control-')))

const requests = [
  { method: 'POST', url: '/register', payload: accountRequests.register.project.value },
  { method: 'POST', url: '/register', payload: {} },
  { method: 'POST', url: '/lookup', payload: accountRequests.lookup.address.value },
  { method: 'POST', url: '/l%6fokup', payload: accountRequests.lookup.address.value },
  { method: 'GET', url: '/lookup' },
  { method: 'GET', url: '/dashboard/info' },
  { method: 'HEAD', url: '/dashboard/keys' },
  { method: 'GET', url: '/%64ashboard/keys?a=b' },
  { method: 'GET', url: '/dashboard/nothing' },
  { method: 'POST', url: '/dashboard/rotate' },
  { method: 'GET', url: `/v1/payments/eip155:84532/0x${'ab'.repeat(32)}` },
  { method: 'POST', url: `/v1/payments/eip155:84532/0x${'ab'.repeat(32)}/deadline` },
  { method: 'POST', url: '/dashboard/webhook', payload: { webhookUrl: '' } },
] as const

describe('a page of another origin', () => {
  it.each(requests)('cannot read the response to $method $url', async (request) => {
    for (const keys of [{}, { 'x-api-key': knownKey }, { 'x-api-key': 'wrong' }]) {
      for (const origin of unlisted) {
        const response = await app().inject({ ...request, headers: { origin, ...keys } })
        expect(allowOf(response.headers)).toEqual({})
      }
    }
  })

  it.each(requests)('can read it if the origin is listed: $method $url', async (request) => {
    for (const keys of [{}, { 'x-api-key': knownKey }]) {
      const response = await app().inject({ ...request, headers: { origin: listed, ...keys } })
      expect(allowOf(response.headers)).toEqual({
        'access-control-allow-origin': listed,
        'access-control-expose-headers': expect.stringContaining('Retry-After'),
      })
      expect(response.headers.vary).toBe('Origin')
    }
  })

  it.each(requests)('cannot read it if no origin is listed: $method $url', async (request) => {
    for (const origin of [listed, ...unlisted]) {
      const response = await closed.inject({ ...request, headers: { origin } })
      expect(allowOf(response.headers)).toEqual({})
    }
  })

  it('receives CORS headers only if it sends an Origin', async () => {
    const headers = { 'x-api-key': knownKey }
    for (const { method, url } of requests.filter((request) => !request.url.endsWith('nothing'))) {
      if (url === '/lookup' && method === 'GET') continue
      expect(allowOf((await app().inject({ method, url, headers })).headers), url).toEqual({})
    }
  })
})

describe('a preflight', () => {
  const ask = (url: string, origin: string, service = app()) =>
    service.inject({
      method: 'OPTIONS',
      url,
      headers: {
        origin,
        'access-control-request-method': 'POST',
        'access-control-request-headers': 'content-type,x-api-key',
      },
    })
  const paths = [
    '/register',
    '/lookup',
    '/l%6Fokup',
    '/dashboard/keys',
    '/%64ashboard/rotate',
    '/dashboard/x?a=b',
  ]

  it.each(paths)('for %s allows nothing to an unlisted origin', async (url) => {
    for (const origin of unlisted) {
      const response = await ask(url, origin)
      expect(response.statusCode).toBe(204)
      expect(allowOf(response.headers)).toEqual({})
    }
    const response = await ask(url, listed, testApp())
    expect({ status: response.statusCode, allow: allowOf(response.headers) }).toEqual({
      status: 204,
      allow: {},
    })
  })

  it.each(paths)('for %s allows a listed origin the methods and headers of the API', async (url) => {
    for (const origin of [listed, 'http://localhost:3000']) {
      const response = await ask(url, origin)
      expect(response.statusCode).toBe(204)
      expect(response.headers).toMatchObject({
        'access-control-allow-origin': origin,
        'access-control-allow-methods': 'GET, HEAD, POST, DELETE, OPTIONS',
        'access-control-allow-headers': expect.stringContaining('X-API-Key'),
        'access-control-max-age': '86400',
        vary: 'Origin',
      })
      expect(response.headers).not.toHaveProperty('access-control-allow-credentials')
    }
  })

  it.each(['/verify', '/settle', '/supported', '/stats/keys', '/registered', '/dashboard'])(
    'for %s is allowed from every origin',
    async (url) => {
      const { headers } = await ask(url, 'https://evil.example')
      expect(headers['access-control-allow-origin']).toBe('*')
      expect(headers['access-control-allow-headers']).toContain('X-API-Key')
    },
  )
})

describe('every account route', () => {
  it('is not readable by a page of another origin', async () => {
    const service = testApp()
    await service.ready()
    const routes = service
      .listRoutes()
      .filter(({ path, access }) => access === 'dashboard' || ['/register', '/lookup'].includes(path))
    expect(routes.length).toBeGreaterThan(14)
    for (const { method, path } of routes) {
      const headers = { origin: 'https://evil.example', 'x-api-key': knownKey }
      const given = method === 'POST' ? 'POST' : 'GET'
      const response = await service.inject({ method: given, url: path.replace('{id}', 'x'), headers })
      expect(allowOf(response.headers), `${method} ${path}`).toEqual({})
    }
  })
})
