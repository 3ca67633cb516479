import { describe, expect, it } from 'vitest'
import { testApp } from './support/app.js'

describe('X-Request-ID', () => {
  it.each(['a', 'A-z_0-9', 'x'.repeat(64)])('%s is repeated', async (given) => {
    const response = await testApp().inject({ url: '/health', headers: { 'x-request-id': given } })
    expect(response.headers['x-request-id']).toBe(given)
  })

  it.each(['', 'x'.repeat(65), 'a b', 'a,b', 'ä', '<script>', 'a\tb'])('%o is replaced', async (given) => {
    const response = await testApp().inject({ url: '/health', headers: { 'x-request-id': given } })
    expect(response.headers['x-request-id']).toMatch(/^[0-9a-f]{8}-[0-9a-f-]{27}$/)
  })

  it('is generated for requests without one', async () => {
    const app = testApp()
    const ids = await Promise.all(
      [1, 2, 3].map(async () => (await app.inject('/health')).headers['x-request-id']),
    )
    expect(new Set(ids).size).toBe(3)
  })

  it.each([
    ['GET', '/nothing', 404],
    ['DELETE', '/verify', 405],
    ['GET', '/%', 400],
    ['POST', '/verify', 400],
    ['OPTIONS', '/verify', 204],
    ['GET', '/docs/static/nothing', 404],
  ] as const)('is on the response to %s %s', async (method, url, status) => {
    const response = await testApp().inject({ method, url, headers: { 'x-request-id': 'mine' } })
    expect(response.statusCode).toBe(status)
    expect(response.headers['x-request-id']).toBe('mine')
  })
})

describe('a web page of any origin', () => {
  const headers = { origin: 'https://shop.example' }

  it('can read responses, errors and exposed headers', async () => {
    for (const url of ['/supported', '/nothing', '/%']) {
      const response = await testApp().inject({ url, headers })
      expect(response.headers['access-control-allow-origin']).toBe('*')
    }
  })

  it.each([
    ['GET', '/supported', 200],
    ['POST', '/verify', 400],
    ['POST', '/nothing', 404],
    ['GET', '/verify', 405],
  ] as const)('can read exposed headers on the response to %s %s', async (method, url, status) => {
    const { headers: answered, statusCode } = await testApp().inject({ method, url, headers })
    expect(statusCode).toBe(status)
    expect(answered['access-control-allow-origin']).toBe('*')
    const exposed = String(answered['access-control-expose-headers']).split(', ')
    expect(exposed).toEqual(
      expect.arrayContaining([
        'X-Request-ID',
        'X-Idempotency-Replayed',
        'EXTENSION-RESPONSES',
        'Retry-After',
        'X-RateLimit-Limit',
        'X-RateLimit-Remaining',
        'X-RateLimit-Reset',
        'X-RateLimit-Tier',
      ]),
    )
    expect(answered).not.toHaveProperty('access-control-allow-credentials')
  })

  it.each([
    'Idempotency-Key',
    'PAYMENT-SIGNATURE',
    'PAYMENT-RESPONSE',
    'X-PAYMENT',
    'Authorization',
    'X-API-Key',
  ])('can send %s', async (name) => {
    const response = await testApp().inject({
      method: 'OPTIONS',
      url: '/settle',
      headers: {
        ...headers,
        'access-control-request-method': 'POST',
        'access-control-request-headers': name.toLowerCase(),
      },
    })
    expect(response.statusCode).toBe(204)
    expect(String(response.headers['access-control-allow-headers']).split(', ')).toContain(name)
    expect(response.headers['access-control-allow-methods']).toContain('POST')
  })
})

describe('X-Content-Type-Options', () => {
  it.each([
    ['GET', '/supported', 200],
    ['GET', '/nothing', 404],
    ['GET', '/%', 400],
    ['POST', '/verify', 400],
    ['GET', '/dashboard/info', 401],
    ['GET', '/metrics', 200],
  ] as const)('is nosniff on the response to %s %s', async (method, url, status) => {
    const response = await testApp().inject({ method, url })
    expect(response.statusCode).toBe(status)
    expect(response.headers['x-content-type-options']).toBe('nosniff')
  })
})
