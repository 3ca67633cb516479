import { describe, expect, it } from 'vitest'
import { AppError } from '../../src/errors.js'
import { intentExamples } from '../../src/http/schemas/intents.js'
import { changedIntent, executedIntent, intentWithRoutes, routedIntent } from '../../src/protocol/intents.js'
import type { IntentUseCases } from '../../src/usecases/intents/useCases.js'
import { keyOwner, knownKey, testApp } from './support/app.js'

const { id } = intentExamples
const body = intentExamples.create.symbol.value
const withRoutes = intentWithRoutes.parse({
  intent: intentExamples.intent,
  availableRoutes: [intentExamples.intentRoute],
  recommendedRoute: intentExamples.intentRoute,
  unavailable: [intentExamples.unavailableRoute],
})
const paymentPayload = { x402Version: 2, accepted: {}, payload: {} }

/** Answers the examples, and keeps what it was asked. */
const open = (given: Partial<IntentUseCases> = {}, apiKeyRequired = false) => {
  const calls: unknown[] = []
  const answer =
    <Answer>(value: Answer) =>
    async (call: unknown) => {
      calls.push(call)
      return value
    }
  const app = testApp({
    apiKeyRequired,
    intents: {
      createIntent: answer({ answer: withRoutes, isReplayed: false }),
      getIntent: answer(withRoutes),
      listIntents: answer({ intents: [] }),
      selectRoute: answer(routedIntent.parse(intentExamples.route.response.routed.value)),
      executeIntent: answer(executedIntent.parse(intentExamples.execute.response.completed.value)),
      cancelIntent: answer(changedIntent.parse(intentExamples.cancel.cancelled.value)),
      refreshIntent: answer(withRoutes),
      ...given,
    },
  })
  return { app, calls }
}

const keyed = { 'x-api-key': knownKey }

describe('the endpoints of intents', () => {
  it('POST /v1/intent creates one, for five minutes unless stated', async () => {
    const { app, calls } = open()
    const response = await app.inject({ method: 'POST', url: '/v1/intent', payload: body })
    expect(response.statusCode).toBe(201)
    expect(response.json()).toEqual(withRoutes)
    expect(response.headers['cache-control']).toBe('no-store')
    expect(response.headers).not.toHaveProperty('x-idempotency-replayed')
    const terms = { ...body, expiresIn: 300 }
    expect(calls).toEqual([{ terms, caller: 'anonymous', idempotencyKey: null }])
  })

  it('POST /v1/intent passes on its Idempotency-Key, and says that it repeats an answer', async () => {
    const keys: unknown[] = []
    const { app } = open({
      createIntent: async ({ idempotencyKey }) => {
        keys.push(idempotencyKey)
        return { answer: withRoutes, isReplayed: true }
      },
    })
    const create = (key: string) =>
      app.inject({ method: 'POST', url: '/v1/intent', headers: { 'idempotency-key': key }, payload: body })
    const response = await create('order-4711')
    expect(response.statusCode).toBe(201)
    expect(response.headers['x-idempotency-replayed']).toBe('true')
    const refused = await create('order 4711')
    expect([refused.statusCode, refused.json().code]).toEqual([400, 'INVALID_IDEMPOTENCY_KEY'])
    expect(keys).toEqual(['order-4711'])
  })

  const requester = { name: '127.0.0.1', site: null }
  it.each([
    ['GET', '', 200, undefined, {}],
    ['POST', '/route', 200, { routeId: 'route_1' }, { routeId: 'route_1' }],
    ['POST', '/cancel', 200, undefined, { token: null }],
    ['POST', '/refresh', 200, undefined, {}],
    ['POST', '/execute', 200, { paymentPayload }, { paymentPayload, quota: null, requester }],
    [
      'POST',
      '/execute',
      200,
      { paymentPayload, routeId: 'route_1' },
      { paymentPayload, routeId: 'route_1', quota: null, requester },
    ],
  ] as const)('%s /v1/intent/:id%s answers %i', async (method, path, status, payload, asked) => {
    const { app, calls } = open()
    const url = `/v1/intent/${id.toUpperCase()}${path}`
    const response = await app.inject({ method, url, ...(payload === undefined ? {} : { payload }) })
    expect([response.statusCode, response.body.slice(0, 1)]).toEqual([status, '{'])
    expect(calls).toEqual([{ id, caller: 'anonymous', ...asked }])
  })

  it('act for the account of the key, and charge its quota', async () => {
    const { app, calls } = open()
    await app.inject({ method: 'POST', url: '/v1/intent', headers: keyed, payload: body })
    await app.inject({
      method: 'POST',
      url: `/v1/intent/${id}/execute`,
      headers: keyed,
      payload: { paymentPayload },
    })
    await app.inject({ url: '/v1/intent?status=completed&limit=1000', headers: keyed })
    expect(calls).toMatchObject([
      { caller: keyOwner.id },
      { caller: keyOwner.id, quota: { accountId: keyOwner.id, customer: keyOwner.customer } },
      { caller: keyOwner.id, status: 'completed', limit: 200 },
    ])
  })

  it.each([
    ['POST', '/v1/intent', body],
    ['GET', `/v1/intent/${id}`, undefined],
    ['POST', `/v1/intent/${id}/route`, { routeId: 'route_1' }],
    ['POST', `/v1/intent/${id}/execute`, { paymentPayload }],
    ['POST', `/v1/intent/${id}/cancel`, undefined],
    ['POST', `/v1/intent/${id}/refresh`, undefined],
  ] as const)('%s %s needs a key where the instance requires one', async (method, url, payload) => {
    const { app, calls } = open({}, true)
    const response = await app.inject({ method, url, ...(payload === undefined ? {} : { payload }) })
    expect(response.statusCode).toBe(401)
    expect(calls).toEqual([])
  })

  it('GET /v1/intent always needs a key', async () => {
    expect((await open().app.inject('/v1/intent')).statusCode).toBe(401)
  })

  const manyWallets = Object.fromEntries(Array.from({ length: 65 }, (_, at) => [`eip155:${at}`, '0x1']))
  it.each([
    ['payer', { ...body, payer: undefined }],
    ['payer', { ...body, payer: '' }],
    ['payer', { ...body, payer: {} }],
    ['payer', { ...body, payer: manyWallets }],
    ['payer', { ...body, payer: ['0x1'] }],
    ['payee', { ...body, payee: { eip155: 1 } }],
    ['payee', { ...body, payee: 'x'.repeat(257) }],
    ['amount', { ...body, amount: '0' }],
    ['amount', { ...body, amount: '-1' }],
    ['amount', { ...body, amount: '1.5' }],
    ['amount', { ...body, amount: 10_000 }],
    ['amount', { ...body, amount: '9'.repeat(78) }],
    ['asset', { ...body, asset: '' }],
    ['decimals', { ...body, decimals: 37 }],
    ['sourceNetworks', { ...body, sourceNetworks: [] }],
    ['sourceNetworks', { ...body, sourceNetworks: 'base' }],
    ['targetNetwork', { ...body, targetNetwork: '' }],
    ['expiresIn', { ...body, expiresIn: 0 }],
    ['expiresIn', { ...body, expiresIn: 3_601 }],
    ['expiresIn', { ...body, expiresIn: 1.5 }],
    ['metadata', { ...body, metadata: 'order' }],
    ['metadata', { ...body, metadata: { order: 'ö'.repeat(1_024) } }],
  ])('name a wrong %s', async (field, payload) => {
    const { app, calls } = open()
    const response = await app.inject({ method: 'POST', url: '/v1/intent', payload })
    expect(response.statusCode).toBe(400)
    expect(response.json()).toMatchObject({
      code: 'INVALID_REQUEST',
      message: expect.stringContaining(field),
    })
    expect(calls).toEqual([])
  })

  it.each([
    ['POST', '/v1/intent/1/route', { routeId: 'route_1' }, 'id'],
    ['POST', `/v1/intent/${id}/route`, {}, 'routeId'],
    ['POST', `/v1/intent/${id}/execute`, {}, 'paymentPayload'],
    ['POST', `/v1/intent/${id}/execute`, { paymentPayload: 'x' }, 'paymentPayload'],
    ['GET', '/v1/intent?status=open', undefined, 'status'],
    ['GET', '/v1/intent?limit=0', undefined, 'limit'],
  ] as const)('%s %s with %j is refused: %s', async (method, url, payload, field) => {
    const response = await open().app.inject({
      method,
      url,
      headers: keyed,
      ...(payload === undefined ? {} : { payload }),
    })
    expect(response.statusCode).toBe(400)
    expect(response.json()).toMatchObject({ message: expect.stringContaining(field) })
  })

  it.each([
    ['NOT_FOUND', 404],
    ['INTENT_NOT_PENDING', 409],
    ['NO_ROUTE_SELECTED', 409],
    ['INTENT_EXPIRED', 410],
    ['ROUTE_EXPIRED', 410],
    ['PAYMENT_REFUSED', 400],
  ] as const)('answer %s with status %i', async (code, status) => {
    const { app } = open({
      executeIntent: async () => {
        throw new AppError(code, 'No', { reason: 'insufficient_funds' })
      },
    })
    const response = await app.inject({
      method: 'POST',
      url: `/v1/intent/${id}/execute`,
      payload: { paymentPayload },
    })
    expect(response.statusCode).toBe(status)
    expect(response.json()).toEqual({ code, message: 'No', errorReason: 'insufficient_funds' })
  })
})
