import { describe, expect, it } from 'vitest'
import { AppError, errorStatus } from '../../src/errors.js'
import { testApp } from './support/app.js'
import { paymentBody } from './support/payment.js'

const statuses = [
  ['INVALID_REQUEST', 400],
  ['INVALID_IDEMPOTENCY_KEY', 400],
  ['INVALID_AMOUNT', 400],
  ['AMOUNT_EXCEEDED', 400],
  ['INVALID_VOUCHER', 400],
  ['PAYMENT_REFUSED', 400],
  ['UNAUTHORIZED', 401],
  ['SIGN_IN_FAILED', 401],
  ['FORBIDDEN', 403],
  ['NOT_FOUND', 404],
  ['METHOD_NOT_ALLOWED', 405],
  ['REQUEST_TIMEOUT', 408],
  ['REQUEST_IN_PROGRESS', 409],
  ['PAYLOAD_MISMATCH', 409],
  ['PREVIOUS_REQUEST_FAILED', 409],
  ['STREAM_NOT_ACTIVE', 409],
  ['INVALID_SEQUENCE', 409],
  ['INTENT_NOT_PENDING', 409],
  ['NO_ROUTE_SELECTED', 409],
  ['STREAM_EXPIRED', 410],
  ['INTENT_EXPIRED', 410],
  ['ROUTE_EXPIRED', 410],
  ['REQUEST_TOO_LARGE', 413],
  ['UNSUPPORTED_MEDIA_TYPE', 415],
  ['RATE_LIMITED', 429],
  ['QUOTA_EXCEEDED', 429],
  ['INTERNAL_ERROR', 500],
  ['VERIFICATION_FAILED', 500],
  ['SETTLEMENT_FAILED', 500],
  ['IDEMPOTENCY_UNAVAILABLE', 503],
  ['SERVICE_UNAVAILABLE', 503],
] as const

const verifyThatThrows = async (error: unknown) => {
  const app = testApp({
    core: {
      verifyPayment: async () => {
        throw error
      },
    },
  })
  return await app.inject({ method: 'POST', url: '/verify', payload: paymentBody() })
}

describe('an error', () => {
  it('has a status in the specification table, and vice versa', () => {
    expect(Object.entries(errorStatus)).toEqual(statuses)
  })

  it.each(statuses)('%s is sent with status %i and { code, message }', async (code, status) => {
    const response = await verifyThatThrows(new AppError(code, 'What happened'))
    expect(response.statusCode).toBe(status)
    expect(response.json()).toEqual({ code, message: 'What happened' })
    expect(response.headers['content-type']).toBe('application/json; charset=utf-8')
  })

  it('carries its operational code, and Retry-After in body and header', async () => {
    const response = await verifyThatThrows(
      new AppError('SERVICE_UNAVAILABLE', 'No node answers', {
        operationalCode: 'SVC-2004',
        retryAfterSeconds: 1.2,
      }),
    )
    expect(response.headers['retry-after']).toBe('2')
    expect(response.json()).toEqual({
      code: 'SERVICE_UNAVAILABLE',
      message: 'No node answers',
      operationalCode: 'SVC-2004',
      retryAfter: 2,
    })
  })

  it.each([
    ['Error', new Error('connect ECONNREFUSED 10.0.0.3:5432')],
    ['error with a status', Object.assign(new Error('upstream'), { statusCode: 418 })],
    [
      'error that looks like one of Fastify',
      Object.assign(new Error('x'), { code: 'FST_ERR_X', statusCode: 400 }),
    ],
    ['connection reset', Object.assign(new Error('read ECONNRESET'), { code: 'ECONNRESET' })],
    ['string', 'boom'],
    ['object', { secret: 'boom' }],
  ])('that is an internal %s is INTERNAL_ERROR without details', async (_name, error) => {
    const response = await verifyThatThrows(error)
    expect(response.statusCode).toBe(500)
    expect(response.json()).toEqual({ code: 'INTERNAL_ERROR', message: 'Internal error' })
  })

  it('while serializing a response is INTERNAL_ERROR', async () => {
    const app = testApp({
      core: { listSupported: () => JSON.parse('{"kinds":[{}],"extensions":[],"signers":{}}') },
    })
    const response = await app.inject('/supported')
    expect(response.json()).toEqual({ code: 'INTERNAL_ERROR', message: 'Internal error' })
  })

  it('on /ready has the form of errors, although 503 has another schema there', async () => {
    const app = testApp({
      core: {
        checkReadiness: async () => {
          throw new AppError('SERVICE_UNAVAILABLE', 'Not now')
        },
      },
    })
    expect((await app.inject('/ready')).json()).toEqual({ code: 'SERVICE_UNAVAILABLE', message: 'Not now' })
  })
})

describe('a path', () => {
  it.each([
    ['/nothing', 404, 'NOT_FOUND'],
    ['/verify/', 404, 'NOT_FOUND'],
    ['/VERIFY', 404, 'NOT_FOUND'],
    ['/docs/static/nothing.js', 404, 'NOT_FOUND'],
    ['/docs/static/..%2f..%2fpackage.json', 404, 'NOT_FOUND'],
    ['/%', 400, 'INVALID_REQUEST'],
    ['/%zz?a=b', 400, 'INVALID_REQUEST'],
    ['/v1/settlements/%ff', 400, 'INVALID_REQUEST'],
    [`/v1/settlements/${'a'.repeat(500)}`, 400, 'INVALID_REQUEST'],
  ])('%s responds %i %s', async (url, status, code) => {
    const response = await testApp().inject(url)
    expect({ status: response.statusCode, code: response.json().code }).toEqual({ status, code })
    expect(response.headers['x-request-id']).toBeTypeOf('string')
    expect(response.headers['access-control-allow-origin']).toBe('*')
  })

  it.each([
    ['DELETE', '/settle', 'POST, OPTIONS'],
    ['GET', '/verify', 'POST, OPTIONS'],
    ['HEAD', '/verify', 'POST, OPTIONS'],
    ['POST', '/health', 'GET, HEAD, OPTIONS'],
    ['PUT', '/v1/settlements/9401b76e-f466-496f-8524-886a61ebf067', 'GET, HEAD, OPTIONS'],
    ['PATCH', '/v1/settlements?network=a', 'GET, HEAD, OPTIONS'],
  ] as const)(
    'called with %s %s responds METHOD_NOT_ALLOWED with an Allow header',
    async (method, url, allow) => {
      const response = await testApp().inject({ method, url })
      expect(response.statusCode).toBe(405)
      expect(response.headers.allow).toBe(allow)
      if (method !== 'HEAD') expect(response.json().code).toBe('METHOD_NOT_ALLOWED')
    },
  )

  it('that does not exist is rejected before the body is parsed', async () => {
    const response = await testApp().inject({ method: 'POST', url: '/nothing', payload: '{{{' })
    expect(response.json().code).toBe('NOT_FOUND')
  })
})
