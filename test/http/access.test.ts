import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { buildApp } from '../../src/app.js'
import { Secret } from '../../src/platform/secret.js'
import { bodyLimits } from '../../src/protocol/requestLimits.js'
import {
  captureUseCases,
  channelUseCases,
  coreUseCases,
  creditUseCases,
  dashboardUseCases,
  intentUseCases,
  knownKey,
  operatorUseCases,
  recipientUseCases,
  reconciliationUseCases,
  sandboxUseCases,
  siwxUseCases,
  statsUseCases,
  streamUseCases,
  testApp,
  testMetrics,
  webhookUseCases,
} from './support/app.js'

const settings = { trustProxy: [], maxPaymentBodyBytes: bodyLimits.payment }

/** Fastify prints a tree: the path of a line is the concatenation of its ancestors. */
const listPrinted = (tree: string): readonly string[] => {
  const parts: string[] = []
  return tree.split('\n').flatMap((line) => {
    const [, indent = '', part = '', methods = ''] = /^([│ ]*)[├└]── (\S*)(?: \((.+)\))?$/.exec(line) ?? []
    parts.splice(indent.length / 4, parts.length, part)
    const path = parts.join('').replaceAll(/:(\w+)/g, '{$1}')
    return methods === '' ? [] : methods.split(', ').map((method) => `${method} ${path}`)
  })
}

describe('every route', () => {
  it('declares its access (A32)', async () => {
    const app = testApp()
    await app.ready()
    const listed = app.listRoutes().map(({ method, path, access }) => `${method} ${path} ${access}`)
    expect(listed.filter((line) => !line.includes(' /docs'))).toEqual([
      'OPTIONS * public',
      'POST /verify key',
      'POST /v1/explain key',
      'POST /settle key',
      'POST /accepts public',
      'GET /v1/settlements/{id} public',
      'HEAD /v1/settlements/{id} public',
      'GET /v1/settlements public',
      'HEAD /v1/settlements public',
      'GET /health public',
      'HEAD /health public',
      'GET /ready public',
      'HEAD /ready public',
      'GET /metrics public',
      'HEAD /metrics public',
      'GET /info public',
      'HEAD /info public',
      'GET /tiers public',
      'HEAD /tiers public',
      'GET /supported public',
      'HEAD /supported public',
      'GET /v1/router public',
      'HEAD /v1/router public',
      'GET /v1/reasons public',
      'HEAD /v1/reasons public',
      'POST /register public',
      'POST /lookup public',
      'GET /stats/keys public',
      'HEAD /stats/keys public',
      'GET /dashboard/info dashboard',
      'HEAD /dashboard/info dashboard',
      'GET /dashboard/keys dashboard',
      'HEAD /dashboard/keys dashboard',
      'GET /dashboard/usage dashboard',
      'HEAD /dashboard/usage dashboard',
      'GET /dashboard/settlements dashboard',
      'HEAD /dashboard/settlements dashboard',
      'POST /dashboard/rotate dashboard',
      'POST /dashboard/restrictions dashboard',
      'GET /dashboard/api-keys dashboard',
      'HEAD /dashboard/api-keys dashboard',
      'POST /dashboard/api-keys dashboard',
      'DELETE /dashboard/api-keys/{id} dashboard',
      'GET /dashboard/audit dashboard',
      'HEAD /dashboard/audit dashboard',
      'POST /dashboard/recipients/message dashboard',
      'POST /dashboard/recipients dashboard',
      'GET /dashboard/recipients dashboard',
      'HEAD /dashboard/recipients dashboard',
      'DELETE /dashboard/recipients dashboard',
      'GET /v1/credit/score public',
      'HEAD /v1/credit/score public',
      'POST /v1/credit/refresh key',
      'GET /v1/credit/top public',
      'HEAD /v1/credit/top public',
      'GET /stats/requests public',
      'HEAD /stats/requests public',
      'GET /stats/settlements public',
      'HEAD /stats/settlements public',
      'GET /v1/reconciliation operator',
      'HEAD /v1/reconciliation operator',
      'GET /v1/operator/overview operator',
      'HEAD /v1/operator/overview operator',
      'GET /v1/operator/callers operator',
      'HEAD /v1/operator/callers operator',
      'GET /v1/operator/accounts operator',
      'HEAD /v1/operator/accounts operator',
      'POST /v1/operator/accounts/{id}/tier operator',
      'POST /v1/operator/accounts/{id}/revoke operator',
      'GET /v1/operator/pauses operator',
      'HEAD /v1/operator/pauses operator',
      'PUT /v1/operator/pauses operator',
      'DELETE /v1/operator/pauses operator',
      'POST /v1/operator/deliveries/{id}/redeliver operator',
      'GET /v1/operator/audit operator',
      'HEAD /v1/operator/audit operator',
      'POST /v1/stream/open key',
      'POST /v1/stream/update key',
      'POST /v1/stream/close key',
      'POST /v1/stream/{id}/pause key',
      'POST /v1/stream/{id}/resume key',
      'GET /v1/stream/{id} key',
      'HEAD /v1/stream/{id} key',
      'GET /v1/stream dashboard',
      'HEAD /v1/stream dashboard',
      'GET /v1/channels dashboard',
      'HEAD /v1/channels dashboard',
      'GET /v1/channels/{network}/{channelId} dashboard',
      'HEAD /v1/channels/{network}/{channelId} dashboard',
      'POST /dashboard/webhook dashboard',
      'POST /dashboard/webhook/test dashboard',
      'POST /dashboard/webhook/rotate dashboard',
      'GET /dashboard/webhook/deliveries dashboard',
      'HEAD /dashboard/webhook/deliveries dashboard',
      'POST /dashboard/webhook/deliveries/{id}/redeliver dashboard',
      'GET /v1/events dashboard',
      'HEAD /v1/events dashboard',
      'POST /v1/intent key',
      'GET /v1/intent dashboard',
      'HEAD /v1/intent dashboard',
      'GET /v1/intent/{id} key',
      'HEAD /v1/intent/{id} key',
      'POST /v1/intent/{id}/route key',
      'POST /v1/intent/{id}/execute key',
      'POST /v1/intent/{id}/cancel key',
      'POST /v1/intent/{id}/refresh key',
      'POST /v1/captures dashboard',
      'POST /v1/voids dashboard',
      'POST /v1/refunds dashboard',
      'POST /v1/payments/{network}/{paymentInfoHash}/deadline dashboard',
      'GET /v1/hold-defaults dashboard',
      'HEAD /v1/hold-defaults dashboard',
      'POST /v1/hold-defaults dashboard',
      'GET /v1/payments/{network}/{paymentInfoHash} dashboard',
      'HEAD /v1/payments/{network}/{paymentInfoHash} dashboard',
      'GET /v1/payments dashboard',
      'HEAD /v1/payments dashboard',
      'GET /discovery/resources public',
      'HEAD /discovery/resources public',
      'GET /discovery/resources/{id} public',
      'HEAD /discovery/resources/{id} public',
      'DELETE /discovery/resources/{id} public',
      'POST /discovery/resources/{id}/relist public',
      'GET /discovery/search public',
      'HEAD /discovery/search public',
      'POST /discovery/validate public',
      'GET /v1/discovery/resources public',
      'HEAD /v1/discovery/resources public',
      'GET /v1/discovery/resources/{id} public',
      'HEAD /v1/discovery/resources/{id} public',
      'DELETE /v1/discovery/resources/{id} public',
      'POST /v1/discovery/resources/{id}/relist public',
      'GET /v1/discovery/search public',
      'HEAD /v1/discovery/search public',
      'POST /v1/discovery/validate public',
      'POST /v1/siwx/nonce public',
      'POST /v1/siwx/verify public',
      'GET /sandbox/addresses public',
      'HEAD /sandbox/addresses public',
      'GET /sandbox/payments/{payer} public',
      'HEAD /sandbox/payments/{payer} public',
      'POST /sandbox/scenarios public',
      'GET /sandbox/scenarios/{id} public',
      'HEAD /sandbox/scenarios/{id} public',
      'POST /sandbox/clock/advance public',
      'POST /sandbox/inbox public',
      'GET /sandbox/inbox/{id} public',
      'HEAD /sandbox/inbox/{id} public',
      'GET /api/openapi.yaml public',
      'HEAD /api/openapi.yaml public',
      'GET /api/openapi.json public',
      'HEAD /api/openapi.json public',
      'GET / public',
      'HEAD / public',
      'GET /favicon.svg public',
      'HEAD /favicon.svg public',
      'GET /favicon.ico public',
      'HEAD /favicon.ico public',
      'GET /console public',
      'HEAD /console public',
      'GET /console/ public',
      'HEAD /console/ public',
      'GET /console/* public',
      'HEAD /console/* public',
      'GET /console/assets/{name} public',
      'HEAD /console/assets/{name} public',
      'GET /console/networks.json public',
      'HEAD /console/networks.json public',
    ])
    expect(listed.filter((line) => line.includes(' /docs') && !line.endsWith(' public'))).toEqual([])
  })

  it('declares the scope that a key needs (A30)', async () => {
    const app = testApp()
    await app.ready()
    const scopes = app.listRoutes().map(({ method, path, scope }) => `${method} ${path} ${scope}`)
    expect(scopes.filter((line) => / (?:verify|settle)$/.test(line))).toEqual([
      'POST /verify verify',
      'POST /v1/explain verify',
      'POST /settle settle',
      'POST /v1/stream/open settle',
      'POST /v1/stream/update settle',
      'POST /v1/stream/close settle',
      'POST /v1/stream/{id}/pause settle',
      'POST /v1/stream/{id}/resume settle',
      'POST /v1/intent settle',
      'POST /v1/intent/{id}/route settle',
      'POST /v1/intent/{id}/execute settle',
      'POST /v1/intent/{id}/cancel settle',
      'POST /v1/intent/{id}/refresh settle',
      'POST /v1/captures settle',
      'POST /v1/voids settle',
      'POST /v1/refunds settle',
      'POST /v1/payments/{network}/{paymentInfoHash}/deadline settle',
      'POST /v1/hold-defaults settle',
    ])
    expect(scopes.filter((line) => / \/v1\/intent.* read$/.test(line))).toEqual([
      'GET /v1/intent read',
      'HEAD /v1/intent read',
      'GET /v1/intent/{id} read',
      'HEAD /v1/intent/{id} read',
    ])
    const dashboard = app.listRoutes().filter(({ path }) => path.startsWith('/dashboard'))
    expect(dashboard.filter(({ scope }) => scope === null)).toEqual([])
    for (const { method, scope } of dashboard) {
      expect(scope).toBe(method === 'GET' || method === 'HEAD' ? 'read' : 'manage')
    }
  })

  it('is in the list, which matches what Fastify prints', async () => {
    const app = testApp()
    await app.ready()
    const paths = listPrinted(app.printRoutes({ commonPrefix: false }))
    const listed = new Set(app.listRoutes().map(({ method, path }) => `${method} ${path}`))
    expect(paths.length).toBeGreaterThan(20)
    // Below /docs Fastify prints a wildcard in the wrong place.
    const own = paths.filter((path) => !path.includes(' /docs/'))
    expect(own.filter((path) => !listed.has(path))).toEqual([])
  })

  it('without declared access fails startup', async () => {
    const useCases = {
      core: coreUseCases(),
      dashboard: dashboardUseCases(),
      operator: operatorUseCases(),
      reconciliation: reconciliationUseCases(),
      recipients: recipientUseCases(),
      intents: intentUseCases(),
      captures: captureUseCases(),
      credit: creditUseCases(),
      siwx: siwxUseCases(),
      stats: statsUseCases(),
      streams: streamUseCases(),
      channels: channelUseCases(),
      webhooks: webhookUseCases(),
      sandbox: sandboxUseCases(),
      discovery: null,
    }
    const app = buildApp({ useCases, settings, metrics: testMetrics() })
    app.get('/debug', async () => 'open to all')
    const started = app.ready().then(() => 'started')
    await expect(started).rejects.toThrow('GET /debug has no config.access')
  })
})

describe('every route of the dashboard', () => {
  const other = `qtn_sk_${'f'.repeat(64)}`
  const query = ['api_key', 'apiKey', 'key', 'token', 'x-api-key']
    .map((name) => `${name}=${knownKey}`)
    .join('&')
  const refused = [
    ['without a key', {}, ''],
    ['with a wrong key as bearer', { authorization: `Bearer ${other}` }, ''],
    ['with a wrong key in X-API-Key', { 'x-api-key': other }, ''],
    ['with an empty key', { 'x-api-key': '' }, ''],
    ['with two different keys', { authorization: `Bearer ${knownKey}`, 'x-api-key': other }, ''],
    ['with the key in the query', {}, `?${query}`],
    ['with the key in a cookie', { cookie: `apiKey=${knownKey}` }, ''],
    ['with the operator’s token', { authorization: 'Bearer an-operator-token-of-some-length' }, ''],
    ['with the key as user name', { authorization: `Basic ${btoa(`${knownKey}:`)}` }, ''],
  ] as const

  const recipient = { network: 'near:mainnet', payTo: 'shop.near' }
  const statement = { ...recipient, claims: { ownKey: true }, nonce: '0'.repeat(64), signature: 'signed' }

  const listDashboard = async () => {
    const app = testApp({
      operatorToken: new Secret('an-operator-token-of-some-length'),
      accountOrigins: ['https://shop.example'],
    })
    await app.ready()
    const routes = app.listRoutes().filter(({ path }) => path.startsWith('/dashboard'))
    return { app, routes }
  }

  it.each(refused)('responds 401 %s', async (_name, headers, search) => {
    const { app, routes } = await listDashboard()
    expect(routes.length).toBeGreaterThan(7)
    for (const { method, path, access } of routes) {
      expect(access).toBe('dashboard')
      const response = await app.inject({ method: readMethod(method), url: `${path}${search}`, headers })
      expect(response.statusCode, `${method} ${path}`).toBe(401)
      expect(response.headers['www-authenticate']).toBe('Bearer')
      expect(response.headers['cache-control']).toBe('no-store')
      if (method !== 'HEAD') expect(response.json().code).toBe('UNAUTHORIZED')
    }
  })

  it('accepts a valid key, uncached', async () => {
    const { app, routes } = await listDashboard()
    for (const { method, path } of routes) {
      const response = await app.inject({
        method: readMethod(method),
        url: path.replace('{id}', '9401b76e-f466-496f-8524-886a61ebf067'),
        headers: { authorization: `Bearer ${knownKey}` },
        ...(method === 'POST'
          ? { payload: { allowedIPs: [], allowedRef: [], webhookUrl: '', name: 'Server', ...statement } }
          : {}),
        ...(`${method} ${path}` === 'DELETE /dashboard/recipients' ? { query: recipient } : {}),
      })
      // The test account has no webhook.
      const isRefused = /webhook\/(?:test|rotate|deliveries\/)/.test(path)
      const isCreated = `${method} ${path}` === 'POST /dashboard/api-keys'
      const expected = isRefused ? 400 : isCreated ? 201 : 200
      expect(response.statusCode, `${method} ${path}`).toBe(expected)
      expect(response.headers['cache-control']).toBe('no-store')
    }
  })

  it('can be called by a page of a listed origin, with the key in either header', async () => {
    const { app, routes } = await listDashboard()
    for (const { path } of routes) {
      const response = await app.inject({
        method: 'OPTIONS',
        url: path,
        headers: {
          origin: 'https://shop.example',
          'access-control-request-method': 'POST',
          'access-control-request-headers': 'authorization,x-api-key',
        },
      })
      expect(response.statusCode).toBe(204)
      expect(response.headers['access-control-allow-origin']).toBe('https://shop.example')
      const allowed = String(response.headers['access-control-allow-headers']).split(', ')
      expect(allowed).toEqual(expect.arrayContaining(['Authorization', 'X-API-Key']))
    }
  })
})

/** Fastify lists methods as strings. */
const readMethod = (method: string) => z.enum(['GET', 'HEAD', 'POST', 'DELETE']).parse(method)
