import type { FastifyInstance } from 'fastify'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { z } from 'zod'
import { buildApp } from '../../src/app.js'
import { type Core, composeCore } from '../../src/compose.js'
import { readConfig } from '../../src/config.js'
import { systemClock } from '../../src/platform/clock.js'
import { silentLogger } from '../../src/platform/logger.js'
import { paymentBody } from '../http/support/payment.js'
import { environmentFor } from '../support/core.js'
import { createTestDatabase, type TestDatabase } from '../support/postgres.js'

let database: TestDatabase
let core: Core
let app: FastifyInstance

beforeAll(async () => {
  database = await createTestDatabase()
  const environment = { SANDBOX: 'true', API_KEY_REQUIRED: 'true', REGISTRATION: 'once' }
  const config = readConfig(environmentFor({ databaseUrl: database.url, environment }))
  core = await composeCore(config, { clock: systemClock, logger: silentLogger, measuresProcess: false })
  app = buildApp({
    useCases: core.useCases,
    metrics: core.metrics,
    settings: { ...config.server, apiKeyRequired: config.accounts.apiKeyRequired },
  })
})
afterAll(async () => {
  await app.close()
  await core.close()
  await database.drop()
})

const keyed = z.object({ apiKey: z.string() })
const post = (url: string, payload: object, headers: Record<string, string> = {}) =>
  app.inject({ method: 'POST', url, payload, headers })
const get = (url: string, apiKey: string, headers: Record<string, string> = {}) =>
  app.inject({ url, headers: { authorization: `Bearer ${apiKey}`, ...headers } })
const register = async (email: string, projectName: string) => {
  const response = await post('/register', { email, projectName })
  return { response, apiKey: keyed.parse(response.json()).apiKey }
}

describe('the owner of a key', () => {
  it('gets the same key on repeated registration and by lookup', async () => {
    const { response, apiKey } = await register('ada@example.com', 'engine')
    expect(response.statusCode).toBe(201)
    expect(apiKey).toMatch(/^qtn_sk_/)
    const again = await register('ADA@example.com', 'engine')
    expect(again.response.statusCode).toBe(200)
    expect(again.apiKey).toBe(apiKey)
    const looked = await post('/lookup', { email: 'Ada@Example.com' })
    expect(looked.json()).toMatchObject({
      keys: [{ apiKey, project: 'engine', tier: 'free', status: 'active' }],
    })
    expect((await app.inject('/stats/keys')).json()).toEqual({ totalKeys: 1 })
  })

  it('sees only its own project in the dashboard', async () => {
    const bob = await register('bob@example.com', 'boat')
    const info = await get('/dashboard/info', bob.apiKey)
    expect(info.statusCode).toBe(200)
    expect(info.json()).toMatchObject({
      email: 'bob@example.com',
      project: 'boat',
      tier: 'free',
      quota: { used: 0 },
    })
    const keys = await get('/dashboard/keys', bob.apiKey)
    expect(keys.json()).toMatchObject({ keys: [{ apiKey: bob.apiKey, current: true }] })
    expect(keys.body).not.toContain('ada')
    const usage = await get('/dashboard/usage', bob.apiKey)
    expect(usage.json().usage).toHaveLength(7)
  })

  it('can pay if keys are required; requests without a key are rejected', async () => {
    const { apiKey } = await register('cora@example.com', 'crate')
    const verify = (headers: Record<string, string>) => post('/verify', paymentBody(), headers)
    expect((await verify({})).statusCode).toBe(401)
    expect((await verify({ 'x-api-key': `${apiKey}x` })).statusCode).toBe(401)
    expect((await verify({ 'x-api-key': apiKey })).statusCode).toBe(200)
  })

  it('rotates the key, and the old one is invalid immediately', async () => {
    const { apiKey } = await register('dora@example.com', 'drum')
    const rotated = await app.inject({
      method: 'POST',
      url: '/dashboard/rotate',
      headers: { authorization: `Bearer ${apiKey}` },
    })
    expect(rotated.statusCode).toBe(200)
    const next = keyed.parse(rotated.json()).apiKey
    expect(next).not.toBe(apiKey)
    expect((await get('/dashboard/info', apiKey)).statusCode).toBe(401)
    expect((await get('/dashboard/info', next)).json()).toMatchObject({ project: 'drum' })
  })

  it('restricts the key by referrer host and address; other clients are rejected', async () => {
    const { apiKey } = await register('emil@example.com', 'ear')
    const headers = { authorization: `Bearer ${apiKey}` }
    const wrong = await post(
      '/dashboard/restrictions',
      { allowedIPs: ['10.0.0.0/33'], allowedRef: [] },
      headers,
    )
    expect(wrong.statusCode).toBe(400)
    expect(wrong.json().message).toContain('allowedIPs[0]')
    const set = await post(
      '/dashboard/restrictions',
      { allowedIPs: [], allowedRef: ['Shop.Example'] },
      headers,
    )
    expect(set.json()).toEqual({ allowedIPs: [], allowedRef: ['shop.example'] })
    expect((await get('/dashboard/info', apiKey)).statusCode).toBe(403)
    const referer = 'https://shop.example/cart'
    expect((await get('/dashboard/info', apiKey, { referer })).statusCode).toBe(200)
    const elsewhere = { allowedIPs: ['203.0.113.0/24'], allowedRef: [] }
    const refused = await post('/dashboard/restrictions', elsewhere, { ...headers, referer })
    expect(refused.statusCode).toBe(400)
    expect(refused.json().message).toContain('does not contain 127.0.0.1')
    expect((await get('/dashboard/info', apiKey, { referer })).statusCode).toBe(200)
    await post('/dashboard/restrictions', { ...elsewhere, force: true }, { ...headers, referer })
    const seen = await get('/dashboard/info', apiKey)
    expect(seen.statusCode).toBe(403)
    expect(seen.json().message).toBe('The API key may not be used from 127.0.0.1')
    const from = await app.inject({ url: '/dashboard/info', headers, remoteAddress: '::ffff:203.0.113.9' })
    expect(from.statusCode).toBe(200)
  })

  it('changes one restriction alone, and takes both as the dashboard returns them', async () => {
    const { apiKey } = await register('gail@example.com', 'gate')
    const headers = { authorization: `Bearer ${apiKey}` }
    const set = async (body: object) => (await post('/dashboard/restrictions', body, headers)).json()
    const read = async () => {
      const { allowedIPs, allowedRef } = (await get('/dashboard/info', apiKey)).json()
      return { allowedIPs, allowedRef }
    }
    expect(await set({ allowedIPs: ['127.0.0.0/8'] })).toEqual({
      allowedIPs: ['127.0.0.0/8'],
      allowedRef: [],
    })
    const stored = await read()
    expect(stored).toEqual({ allowedIPs: ['127.0.0.0/8'], allowedRef: null })
    expect(await set(stored)).toEqual({ allowedIPs: ['127.0.0.0/8'], allowedRef: [] })
    expect(await read()).toEqual(stored)
    expect(await set({ allowedIPs: null })).toEqual({ allowedIPs: [], allowedRef: [] })
    expect(await set({})).toMatchObject({ code: 'INVALID_REQUEST' })
    expect(await read()).toEqual({ allowedIPs: null, allowedRef: null })
  })

  it.each([
    '/dashboard/info',
    '/dashboard/keys',
    '/dashboard/usage',
    '/dashboard/settlements',
    '/dashboard/audit',
    '/dashboard/api-keys',
    '/dashboard/webhook/deliveries',
    '/v1/events',
    '/v1/settlements',
  ])('refuses an unknown query parameter of %s, by name', async (path) => {
    const { apiKey } = await register('hal@example.com', 'hall')
    const answer = await get(`${path}?statsu=failed`, apiKey)
    expect(answer.statusCode).toBe(400)
    expect(answer.json()).toMatchObject({
      code: 'INVALID_REQUEST',
      message: expect.stringContaining('has the unknown query parameter "statsu"'),
    })
  })

  it('refuses an unknown query parameter of a registration and of a rotation', async () => {
    const { apiKey } = await register('ida@example.com', 'isle')
    const body = { email: 'ida@example.com', projectName: 'isle' }
    expect((await post('/register?project=other', body)).statusCode).toBe(400)
    const rotated = await post('/dashboard/rotate?grace=60', {}, { authorization: `Bearer ${apiKey}` })
    expect(rotated.statusCode).toBe(400)
    expect((await get('/dashboard/info', apiKey)).statusCode).toBe(200)
  })

  it('ignores unknown query parameters of payments', async () => {
    const { apiKey } = await register('ivo@example.com', 'ivy')
    const verified = await post('/verify?utm_source=shop', paymentBody(), { 'x-api-key': apiKey })
    expect(verified.statusCode).toBe(200)
  })
})

describe('an unavailable key store', () => {
  it('causes 503 for requests with a key and does not affect requests without one', async () => {
    const { apiKey } = await register('finn@example.com', 'fin')
    await database.drop()
    // Of the older form, which has no checksum to refuse it by.
    const unknown = `qtn_sk_${'a'.repeat(43)}`
    const refused = await get('/supported', unknown)
    expect(refused.statusCode).toBe(503)
    expect((await app.inject('/supported')).statusCode).toBe(200)
    expect((await get('/health', apiKey)).statusCode).toBe(200)
  })
})
