import { describe, expect, it } from 'vitest'
import { testApp } from './support/app.js'

describe('GET /health', () => {
  it('responds ok as long as the process runs', async () => {
    const response = await testApp().inject('/health')
    expect(response.statusCode).toBe(200)
    expect(response.json()).toEqual({ status: 'ok' })
  })
})

describe('GET /ready', () => {
  it('responds 200 with all checks if ready', async () => {
    const response = await testApp().inject('/ready')
    expect(response.statusCode).toBe(200)
    expect(response.json()).toEqual({ status: 'ready', checks: { store: 'ok', rpc: 'ok' } })
  })

  it('responds 503 with all checks if one fails', async () => {
    const readiness = { status: 'unready', checks: { store: 'ok', rpc: 'unreachable' } } as const
    const response = await testApp({ core: { checkReadiness: async () => readiness } }).inject('/ready')
    expect(response.statusCode).toBe(503)
    expect(response.json()).toEqual(readiness)
  })
})

describe('GET /supported', () => {
  it('returns kinds, extensions and signers, with any extra data and minimum payments', async () => {
    const supported = {
      kinds: [
        {
          payVersion: 2,
          x402Version: 2,
          t402Version: 2,
          scheme: 'exact',
          network: 'eip155:8453',
          extra: { feePayer: 'abc', nested: { list: [1, null, true] } },
          minimumPayments: { '0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913': '309' },
        },
      ],
      extensions: ['bazaar'],
      signers: { 'eip155:*': ['0x4278D9F55a12B3bf591bd76c4e1E8182adC7D11f'] },
    }
    const response = await testApp({ core: { listSupported: () => supported } }).inject('/supported')
    expect(response.json()).toEqual(supported)
  })
})

describe('GET /v1/router', () => {
  const payTo = '0x209693Bc6afc0C5328bA36FaF03C514EF312287C'

  it('returns the router of a recipient, without a key', async () => {
    const response = await testApp().inject(`/v1/router?network=base-sepolia&payTo=${payTo}`)
    expect(response.statusCode).toBe(200)
    expect(response.json()).toEqual({
      network: 'base-sepolia',
      payTo,
      routerAddress: '0x8f3Cf7ad23Cd3CaDbD9735AFf958023239c6A063',
      isDeployed: true,
    })
  })

  it.each([
    ['network is missing', `payTo=${payTo}`, 'network'],
    ['payTo is missing', 'network=base', 'payTo'],
    ['payTo is empty', 'network=base&payTo=', 'payTo'],
    ['payTo is too long', `network=base&payTo=${'a'.repeat(257)}`, 'payTo'],
    ['payTo is given twice', `network=base&payTo=${payTo}&payTo=${payTo}`, 'payTo'],
    ['a field is unknown', `network=base&payTo=${payTo}&payto=${payTo}`, 'payto'],
  ])('responds 400 that names the field if %s', async (_name, query, field) => {
    const response = await testApp().inject(`/v1/router?${query}`)
    expect(response.statusCode).toBe(400)
    expect(response.json()).toMatchObject({
      code: 'INVALID_REQUEST',
      message: expect.stringContaining(field),
    })
  })
})

describe('GET /tiers', () => {
  it('returns the four tiers of the specification, and that they are its', async () => {
    expect((await testApp().inject('/tiers')).json()).toEqual({
      source: 'specification',
      registrationTier: 'free',
      tiers: {
        free: { name: 'Free', monthlyQuota: 1_000, rpmLimit: 10, feeRate: 0, priceCents: 0 },
        builder: { name: 'Builder', monthlyQuota: 100_000, rpmLimit: 100, feeRate: 0.001, priceCents: 0 },
        scale: {
          name: 'Scale',
          monthlyQuota: 1_000_000,
          rpmLimit: 1_000,
          feeRate: 0.0008,
          priceCents: 9_900,
        },
        enterprise: {
          name: 'Enterprise',
          monthlyQuota: -1,
          rpmLimit: 10_000,
          feeRate: 0.0005,
          priceCents: 0,
        },
      },
    })
  })
})

describe('GET /info', () => {
  it('lists the endpoints that are served, with descriptions', async () => {
    const app = testApp()
    const { endpoints, ...rest } = (await app.inject('/info')).json()
    expect(rest).toEqual({
      name: 'quittance',
      version: '0.1.0',
      description: 'A facilitator',
      features: {},
      limitations: [],
    })
    expect(endpoints).toContainEqual({
      method: 'POST',
      path: '/verify',
      description: 'Verify a payment without moving funds',
    })
    const listed = endpoints.map(({ method, path }: { method: string; path: string }) => `${method} ${path}`)
    expect(listed).toEqual([
      'POST /verify',
      'POST /v1/explain',
      'POST /settle',
      'POST /accepts',
      'GET /v1/settlements/{id}',
      'GET /v1/settlements',
      'GET /health',
      'GET /ready',
      'GET /metrics',
      'GET /info',
      'GET /tiers',
      'GET /supported',
      'GET /v1/router',
      'GET /v1/reasons',
      'POST /register',
      'POST /lookup',
      'GET /stats/keys',
      'GET /dashboard/info',
      'GET /dashboard/keys',
      'GET /dashboard/usage',
      'GET /dashboard/settlements',
      'POST /dashboard/rotate',
      'POST /dashboard/restrictions',
      'GET /dashboard/api-keys',
      'POST /dashboard/api-keys',
      'DELETE /dashboard/api-keys/{id}',
      'GET /dashboard/audit',
      'POST /dashboard/recipients/message',
      'POST /dashboard/recipients',
      'GET /dashboard/recipients',
      'DELETE /dashboard/recipients',
      'GET /v1/credit/score',
      'POST /v1/credit/refresh',
      'GET /v1/credit/top',
      'GET /stats/requests',
      'GET /stats/settlements',
      'GET /v1/reconciliation',
      'GET /v1/operator/overview',
      'GET /v1/operator/callers',
      'GET /v1/operator/accounts',
      'POST /v1/operator/accounts/{id}/tier',
      'POST /v1/operator/accounts/{id}/revoke',
      'GET /v1/operator/pauses',
      'PUT /v1/operator/pauses',
      'DELETE /v1/operator/pauses',
      'POST /v1/operator/deliveries/{id}/redeliver',
      'GET /v1/operator/audit',
      'POST /v1/stream/open',
      'POST /v1/stream/update',
      'POST /v1/stream/close',
      'POST /v1/stream/{id}/pause',
      'POST /v1/stream/{id}/resume',
      'GET /v1/stream/{id}',
      'GET /v1/stream',
      'GET /v1/channels',
      'GET /v1/channels/{network}/{channelId}',
      'POST /dashboard/webhook',
      'POST /dashboard/webhook/test',
      'POST /dashboard/webhook/rotate',
      'GET /dashboard/webhook/deliveries',
      'POST /dashboard/webhook/deliveries/{id}/redeliver',
      'GET /v1/events',
      'POST /v1/intent',
      'GET /v1/intent',
      'GET /v1/intent/{id}',
      'POST /v1/intent/{id}/route',
      'POST /v1/intent/{id}/execute',
      'POST /v1/intent/{id}/cancel',
      'POST /v1/intent/{id}/refresh',
      'POST /v1/captures',
      'POST /v1/voids',
      'POST /v1/refunds',
      'POST /v1/payments/{network}/{paymentInfoHash}/deadline',
      'GET /v1/hold-defaults',
      'POST /v1/hold-defaults',
      'GET /v1/payments/{network}/{paymentInfoHash}',
      'GET /v1/payments',
      'GET /discovery/resources',
      'GET /discovery/resources/{id}',
      'DELETE /discovery/resources/{id}',
      'POST /discovery/resources/{id}/relist',
      'GET /discovery/search',
      'POST /discovery/validate',
      'POST /v1/siwx/nonce',
      'POST /v1/siwx/verify',
      'GET /sandbox/addresses',
      'GET /sandbox/payments/{payer}',
      'POST /sandbox/scenarios',
      'GET /sandbox/scenarios/{id}',
      'POST /sandbox/clock/advance',
      'POST /sandbox/inbox',
      'GET /sandbox/inbox/{id}',
      'GET /api/openapi.yaml',
      'GET /api/openapi.json',
    ])
  })
})

describe('every GET', () => {
  it.each([
    '/health',
    '/ready',
    '/metrics',
    '/info',
    '/supported',
    '/tiers',
    '/stats/keys',
    '/api/openapi.yaml',
    '/docs',
  ])('%s responds to HEAD with the same status and no body', async (url) => {
    const response = await testApp().inject({ method: 'HEAD', url })
    expect(response.statusCode).toBe(200)
    expect(response.body).toBe('')
  })
})
