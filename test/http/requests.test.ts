import { gzipSync } from 'node:zlib'
import { describe, expect, it, vi } from 'vitest'
import { testApp } from './support/app.js'
import { paymentBody, paymentBodyWith } from './support/payment.js'

const json = { 'content-type': 'application/json' }

const post = async (payload: string | Buffer, headers: Record<string, string> = json) => {
  const verifyPayment = vi.fn(async () => ({ isValid: true }))
  const response = await testApp({ core: { verifyPayment } }).inject({
    method: 'POST',
    url: '/verify',
    payload,
    headers,
  })
  return {
    status: response.statusCode,
    body: response.json(),
    calls: verifyPayment.mock.calls.length,
    response,
  }
}

describe('a body of /verify', () => {
  it('is passed on unchanged', async () => {
    const verifyPayment = vi.fn(async () => ({ isValid: true }))
    const payload = paymentBody()
    await testApp({ core: { verifyPayment } }).inject({ method: 'POST', url: '/verify', payload })
    expect(verifyPayment).toHaveBeenCalledWith(
      expect.objectContaining({ body: payload, caller: 'anonymous' }),
    )
  })

  it.each([
    ['an array', '[]', 'The body must be a JSON object'],
    ['a number', '7', 'The body must be a JSON object'],
    ['a string', '"x"', 'The body must be a JSON object'],
    ['null', 'null', 'The body must be a JSON object'],
    ['nothing', '', 'The body is empty; a JSON object is expected'],
    ['spaces', '  ', 'The body is not valid JSON'],
    ['broken JSON', '{"paymentPayload": {', 'The body is not valid JSON'],
    ['a form', 'paymentPayload=1', 'The body is not valid JSON'],
    ['an empty object', '{}', 'paymentPayload: is required; paymentRequirements: is required'],
    ['a duplicate key', '{"paymentPayload":{},"paymentPayload":{}}', 'paymentPayload: duplicate key'],
    ['a prototype', '{"__proto__":{}}', '__proto__: this key is not allowed'],
  ])('that is %s is rejected with INVALID_REQUEST', async (_name, payload, message) => {
    const { status, body, calls } = await post(payload)
    expect({ status, code: body.code, calls }).toEqual({ status: 400, code: 'INVALID_REQUEST', calls: 0 })
    expect(body.message).toContain(message)
  })

  it.each([
    [{ amount: '-1' }, 'paymentRequirements.amount: must be a whole number of smallest units'],
    [{ amount: '1.5' }, 'paymentRequirements.amount: must be a whole number of smallest units'],
    [{ amount: '0x10' }, 'paymentRequirements.amount: must be a whole number of smallest units'],
    [{ amount: '' }, 'paymentRequirements.amount: must be a whole number of smallest units'],
    [{ amount: 1.5 }, 'paymentRequirements.amount: '],
    [{ amount: undefined }, 'paymentRequirements.amount: is required'],
    [{ scheme: 7 }, 'paymentRequirements.scheme: must be a string'],
    [{ scheme: '' }, 'paymentRequirements.scheme: must not be empty'],
    [{ network: 'n'.repeat(200) }, 'paymentRequirements.network: must have at most 128 characters'],
    [{ payTo: null }, 'paymentRequirements.payTo: must be a string'],
    [{ asset: undefined }, 'paymentRequirements.asset: is required'],
    [{ maxTimeoutSeconds: 0 }, 'paymentRequirements.maxTimeoutSeconds: must be greater than 0'],
    [{ maxTimeoutSeconds: '60' }, 'paymentRequirements.maxTimeoutSeconds: must be a number'],
    [{ extra: [] }, 'paymentRequirements.extra: '],
  ])('with requirements %o is rejected with the path of the field', async (requirements, message) => {
    const { status, body, calls } = await post(JSON.stringify(paymentBodyWith(requirements)))
    expect({ status, code: body.code, calls }).toEqual({ status: 400, code: 'INVALID_REQUEST', calls: 0 })
    expect(body.message).toContain(message)
    expect(body.message).not.toMatch(/invalid input|expected|received|zod/i)
  })

  it('with any payload content is accepted: the payload is untrusted and verified later', async () => {
    const body = { ...paymentBody(), paymentPayload: { anything: [1, null] } }
    expect((await post(JSON.stringify(body))).status).toBe(200)
  })

  it.each([
    'application/json',
    'application/json; charset=utf-8',
    'application/json;charset=UTF-8',
    'APPLICATION/JSON',
    'application/vnd.x402+json',
    'application/problem+json; charset="utf-8"',
  ])('is accepted as %s', async (contentType) => {
    const { status } = await post(JSON.stringify(paymentBody()), { 'content-type': contentType })
    expect(status).toBe(200)
  })

  it.each([
    'text/plain',
    'application/x-www-form-urlencoded',
    'multipart/form-data; boundary=x',
    'application/xml',
    'application/jsonp',
    'text/json',
    'application/json; charset=utf-16',
    'application/json; charset=latin1',
    'nonsense',
    '/',
  ])('is rejected as %s', async (contentType) => {
    const { status, body } = await post(JSON.stringify(paymentBody()), { 'content-type': contentType })
    expect({ status, code: body.code }).toEqual({ status: 415, code: 'UNSUPPORTED_MEDIA_TYPE' })
  })

  it('without a content type is rejected', async () => {
    const { status, body } = await post(Buffer.from(JSON.stringify(paymentBody())), {})
    expect({ status, code: body.code }).toEqual({ status: 415, code: 'UNSUPPORTED_MEDIA_TYPE' })
  })

  it('that is compressed is rejected with Accept-Encoding', async () => {
    const { status, body, response } = await post(gzipSync(JSON.stringify(paymentBody())), {
      ...json,
      'content-encoding': 'gzip',
    })
    expect({ status, code: body.code }).toEqual({ status: 415, code: 'UNSUPPORTED_MEDIA_TYPE' })
    expect(response.headers['accept-encoding']).toBe('identity')
  })

  it('over the limit is REQUEST_TOO_LARGE', async () => {
    const { status, body } = await post(JSON.stringify({ filler: 'x'.repeat(65_536) }))
    expect({ status, code: body.code }).toEqual({ status: 413, code: 'REQUEST_TOO_LARGE' })
    expect(body.message).toContain('65536 bytes')
  })

  it('exactly at the limit is accepted', async () => {
    const body = paymentBody()
    const missing = 65_536 - JSON.stringify({ ...body, filler: '' }).length
    expect((await post(JSON.stringify({ ...body, filler: 'x'.repeat(missing) }))).status).toBe(200)
  })
})
