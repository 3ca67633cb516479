import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { z } from 'zod'
import { compose, type Service } from '../../src/compose.js'
import { readConfig } from '../../src/config.js'
import { accountInfo, keyList, lookupResult, registerResult } from '../../src/protocol/accounts.js'
import { environmentFor } from '../support/core.js'
import { emptyTables } from '../support/emptyTables.js'
import { useTestDatabase } from '../support/postgres.js'

/* The number refers to the project's list of attacks on facilitators. */

const masked = 'qtn_sk_********'
const email = 'ada@example.com'
const hook = 'https://engine.example/hook'
const webhook = z.object({ webhookUrl: z.string(), secret: z.string() })

describe('a third party that knows only an e-mail address (A30)', () => {
  const database = useTestDatabase()
  let service: Service
  /** The owner's key, webhook and account. */
  let owner: { readonly apiKey: string; readonly secret: string; readonly id: string }

  // Not from the instance's own machine.
  const elsewhere = { remoteAddress: '203.0.113.66' }
  const host = 'pay.example'
  const post = (url: string, payload: object = {}, headers: Record<string, string> = {}) =>
    service.app.inject({ method: 'POST', url, payload, headers: { host, ...headers }, ...elsewhere })
  const get = (url: string, headers: Record<string, string>) =>
    service.app.inject({ url, headers: { host, ...headers }, ...elsewhere })
  const register = async (projectName: string) => {
    const response = await post('/register', { email, projectName })
    return { status: response.statusCode, ...registerResult.parse(response.json()) }
  }
  const setWebhook = async (apiKey: string, webhookUrl = hook) =>
    webhook.parse((await post('/dashboard/webhook', { webhookUrl }, { 'x-api-key': apiKey })).json())
  const readAccountId = async (project: string) => {
    const { rows } = await database.pool.query('select id from accounts where project = $1', [project])
    return z.object({ id: z.string() }).parse(rows[0]).id
  }
  /** All stored data of the owner. */
  const photograph = async () => {
    const queries = [
      'select * from accounts where id::text = $1',
      'select * from api_keys where account_id::text = $1 order by id',
      'select * from webhook_endpoints where account_id = $1',
      'select * from quota_uses where account_id = $1',
    ]
    const found = await Promise.all(queries.map((text) => database.pool.query(text, [owner.id])))
    return JSON.stringify(found.map(({ rows }) => rows))
  }

  beforeAll(async () => {
    // Default configuration: nothing decides who is shown keys.
    const environment = { LOG_LEVEL: 'silent' }
    service = await compose(readConfig(environmentFor({ databaseUrl: database.url, environment })))
  })
  afterAll(() => service.close())
  beforeEach(async () => {
    await emptyTables(database.pool, 'accounts', 'api_keys', 'webhook_endpoints', 'quota_uses')
    const { apiKey } = await register('engine')
    const { secret } = await setWebhook(apiKey)
    owner = { apiKey, secret, id: await readAccountId('engine') }
  })

  it('does not receive the key by lookup or by repeated registration', async () => {
    const looked = await post('/lookup', { email: 'ADA@example.com' })
    expect(lookupResult.parse(looked.json()).keys.map(({ apiKey }) => apiKey)).toEqual([masked])
    const again = await post('/register', { email: 'Ada@Example.com', projectName: ' engine ' })
    expect(registerResult.parse(again.json())).toMatchObject({
      apiKey: masked,
      isNew: false,
      quota: { used: 0 },
    })
    for (const { body } of [looked, again]) expect(body).not.toContain(owner.apiKey.slice(7))
  })

  it('cannot use the masked key', async () => {
    for (const path of ['/dashboard/info', '/dashboard/keys']) {
      expect((await get(path, { 'x-api-key': masked })).statusCode).toBe(401)
    }
    expect((await post('/dashboard/rotate', {}, { 'x-api-key': masked })).statusCode).toBe(401)
  })

  it('receives its own key for another project, but no other key of the address', async () => {
    const mine = await register('not the engine')
    expect(mine).toMatchObject({ status: 201, isNew: true })
    const response = await get('/dashboard/keys', { 'x-api-key': mine.apiKey })
    const { keys } = keyList.parse(response.json())
    expect(keys.map(({ apiKey, current }) => ({ apiKey, current }))).toEqual([
      { apiKey: masked, current: false },
      { apiKey: mine.apiKey, current: true },
    ])
    expect(response.body).not.toContain(owner.apiKey.slice(7))
  })

  it('changes nothing with its own key: webhook, secret, restrictions, quota and key of the owner stay', async () => {
    const before = await photograph()
    const mine = await register('not the engine')
    const headers = { 'x-api-key': mine.apiKey }
    const own = accountInfo.parse((await get('/dashboard/info', headers)).json())
    expect(own).toMatchObject({ project: 'not the engine', webhookUrl: '', quota: { used: 0 } })
    // The same address must not lead to the owner's secret.
    expect((await setWebhook(mine.apiKey)).secret).not.toBe(owner.secret)
    await setWebhook(mine.apiKey, 'https://evil.example/hook')
    await post('/dashboard/webhook/rotate', {}, headers)
    await post('/dashboard/webhook', { webhookUrl: '' }, headers)
    const restrictions = { allowedIPs: ['203.0.113.66'], allowedRef: [] }
    expect((await post('/dashboard/restrictions', restrictions, headers)).statusCode).toBe(200)
    const month = "date_trunc('month', now() at time zone 'utc')::date"
    await database.pool.query(
      `insert into quota_uses (account_id, month, used) values ($1, ${month}, 1000)`,
      [await readAccountId('not the engine')],
    )
    expect((await post('/dashboard/rotate', {}, headers)).statusCode).toBe(200)

    expect(await photograph()).toBe(before)
    const info = await get('/dashboard/info', { 'x-api-key': owner.apiKey })
    expect(accountInfo.parse(info.json())).toMatchObject({
      project: 'engine',
      webhookUrl: hook,
      allowedIPs: null,
      quota: { used: 0 },
    })
  })

  it('cannot give the owner a key that it knows by registering first', async () => {
    const squatter = await register('shop')
    const later = await register('shop')
    expect(later).toMatchObject({ status: 200, isNew: false, apiKey: masked })
    const list = await get('/dashboard/keys', { 'x-api-key': owner.apiKey })
    expect(list.body).not.toContain(squatter.apiKey)
  })

  it.each([
    ['a page in the operator’s browser', { host: '127.0.0.1:8080', origin: 'https://evil.example' }],
    ['a page by DNS rebinding', { host: 'evil.example:8080', 'sec-fetch-site': 'same-origin' }],
    ['a proxy on the same machine', { host: '127.0.0.1:8080', 'x-forwarded-for': '203.0.113.66' }],
  ])('is not treated as a local program through %s', async (_name, headers) => {
    const ask = (url: string, payload: object) =>
      service.app.inject({ method: 'POST', url, payload, headers, remoteAddress: '127.0.0.1' })
    const answers = [
      await ask('/lookup', { email }),
      await ask('/register', { email, projectName: 'engine' }),
    ]
    for (const { statusCode, body, headers: answered } of answers) {
      expect(statusCode).toBe(200)
      expect(body).toContain(masked)
      expect(body).not.toContain(owner.apiKey.slice(7))
      // And the page cannot read this response.
      expect(answered).not.toHaveProperty('access-control-allow-origin')
    }
  })
})
