import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { z } from 'zod'
import { compose, type Service } from '../../src/compose.js'
import { readConfig } from '../../src/config.js'
import { accountInfo, keyList } from '../../src/protocol/accounts.js'
import { tiers } from '../../src/protocol/tiers.js'
import { environmentFor } from '../support/core.js'
import { emptyTables } from '../support/emptyTables.js'
import { useTestDatabase } from '../support/postgres.js'

/* The number refers to the project's list of attacks on facilitators. */

const registered = z.object({ apiKey: z.string() })
const created = z.object({ id: z.string(), apiKey: z.string() })

describe('callers against the accounts of others', () => {
  const database = useTestDatabase()
  let service: Service

  const open = (environment: Readonly<Record<string, string>> = {}) =>
    compose(
      readConfig(
        environmentFor({
          databaseUrl: database.url,
          environment: {
            LOG_LEVEL: 'silent',
            RATE_LIMITS: 'on',
            TIERS: JSON.stringify(tiers),
            ...environment,
          },
        }),
      ),
    )
  const send = (
    method: 'GET' | 'POST' | 'DELETE',
    url: string,
    {
      key,
      payload,
      from = '203.0.113.66',
    }: { readonly key?: string; readonly payload?: object; readonly from?: string } = {},
  ) =>
    service.app.inject({
      method,
      url,
      headers: { host: 'pay.example', ...(key === undefined ? {} : { 'x-api-key': key }) },
      remoteAddress: from,
      ...(payload === undefined ? {} : { payload }),
    })
  const register = async (email: string, projectName: string, from?: string) =>
    await send('POST', '/register', {
      payload: { email, projectName },
      ...(from === undefined ? {} : { from }),
    })

  beforeAll(async () => {
    service = await open({ RATE_LIMITS: 'off', PROJECTS_PER_MAILBOX: '3', MAILBOXES_PER_DOMAIN: '4' })
  })
  afterAll(() => service.close())
  beforeEach(() => emptyTables(database.pool, 'accounts', 'api_keys', 'mailboxes', 'quota_uses', 'audit_log'))

  it('get no further free quota and no further projects by spelling an address differently (A51)', async () => {
    const spellings = ['ada@bücher.example', 'ADA+1@xn--bcher-kva.example', 'ａｄａ@bücher.example']
    const keys: string[] = []
    for (const [index, email] of spellings.entries()) {
      const response = await register(email, `project ${index}`)
      expect(response.statusCode).toBe(201)
      keys.push(registered.parse(response.json()).apiKey)
    }
    expect((await register('ada+9@bücher.example', 'one more')).statusCode).toBe(403)
    const month = "date_trunc('month', now() at time zone 'utc')::date"
    await database.pool.query(
      `insert into quota_uses (account_id, month, used)
         select distinct registrant, ${month}, 1000 from accounts`,
    )
    for (const key of keys) {
      const info = accountInfo.parse((await send('GET', '/dashboard/info', { key })).json())
      expect(info.quota).toMatchObject({ used: 1_000, limit: 1_000 })
    }
  })

  it('get no unlimited free tiers by a domain of their own and its subdomains (A51)', async () => {
    const statuses: number[] = []
    for (let index = 0; index < 8; index += 1) {
      statuses.push((await register(`bot@s${index}.farm.example`, 'engine')).statusCode)
    }
    expect(statuses).toEqual([201, 201, 201, 201, 403, 403, 403, 403])
    expect((await register('ada@gmail.com', 'engine')).statusCode).toBe(201)
  })

  it('with a limited key reach no other scope, in any route (A57)', async () => {
    const owner = registered.parse((await register('ada@example.com', 'engine')).json()).apiKey
    for (const scope of ['verify', 'settle', 'read', 'manage'] as const) {
      const response = await send('POST', '/dashboard/api-keys', {
        key: owner,
        payload: { name: scope, scopes: [scope] },
      })
      expect(response.statusCode).toBe(201)
      const { apiKey: key } = created.parse(response.json())
      const routes = service.app
        .listRoutes()
        .filter((route) => route.scope !== null && route.method !== 'HEAD')
      expect(routes.length).toBeGreaterThan(14)
      for (const { method, path, scope: needed } of routes) {
        const url = path.replace('{id}', '9401b76e-f466-496f-8524-886a61ebf067')
        const { statusCode } = await send(z.enum(['GET', 'POST', 'DELETE']).parse(method), url, { key })
        if (needed === scope) expect(statusCode, `${scope} ${method} ${path}`).not.toBe(403)
        else expect(statusCode, `${scope} ${method} ${path}`).toBe(403)
        // A rotation replaces the key.
        if (statusCode === 200 && path === '/dashboard/rotate') return
      }
    }
  })

  it('do not see another key after stored keys were exchanged in the database (A56)', async () => {
    const victim = registered.parse((await register('ada@example.com', 'engine')).json()).apiKey
    const thief = registered.parse((await register('eve@example.com', 'stall')).json()).apiKey
    await database.pool.query(
      `update api_keys k set sealed = v.sealed from accounts a, accounts b, api_keys v
       where k.account_id = a.id and a.project = 'stall' and v.account_id = b.id and b.project = 'engine'`,
    )
    const response = await send('GET', '/dashboard/keys', { key: thief })
    expect(response.statusCode).toBe(500)
    expect(response.body).not.toContain(victim)
    expect(keyList.parse((await send('GET', '/dashboard/keys', { key: victim })).json()).keys).toMatchObject([
      { apiKey: victim },
    ])
  })

  it('cannot close registration with malformed bodies, nor from one IPv6 site (A55)', async () => {
    const limited = await open()
    const previous = service
    service = limited
    try {
      for (let index = 0; index < 40; index += 1) {
        const payload = index % 2 === 0 ? { email: 'no address', projectName: 'engine' } : { email: 7 }
        const { statusCode } = await send('POST', '/register', { payload, from: `198.51.100.${index}` })
        expect(statusCode).toBe(400)
      }
      const statuses: number[] = []
      for (let index = 0; index < 40; index += 1) {
        const from = `2001:db8:1:${index.toString(16)}::1`
        statuses.push((await register(`bot${index}@gmail.com`, 'engine', from)).statusCode)
      }
      expect(statuses.filter((status) => status === 201)).toHaveLength(10)
      expect((await register('ada@example.com', 'engine', '198.51.100.200')).statusCode).toBe(201)
    } finally {
      service = previous
      await limited.close()
    }
  })

  it('multiply no limit by tags or by mailboxes, and use up none of who owns a mailbox (A51)', async () => {
    const previous = service
    service = await open({ ANONYMOUS_REQUESTS_PER_MINUTE: '20' })
    try {
      const registerAll = async (emails: readonly string[], from: string) => {
        const keys: string[] = []
        for (const email of emails) {
          keys.push(registered.parse((await register(email, 'engine', from)).json()).apiKey)
        }
        return keys
      }
      /** Counted before the body is read. */
      const countServed = async (keys: readonly string[], from: string) => {
        let served = 0
        for (const key of Array.from({ length: 12 }, () => keys).flat()) {
          const { statusCode } = await send('POST', '/verify', { key, from, payload: {} })
          if (statusCode !== 429) served += 1
        }
        return served
      }
      const [home, hostile] = ['203.0.113.7', '198.51.100.7']
      const owned = await registerAll(['ada+1@example.com', 'ADA+2@example.com', 'ada@example.com'], home)
      const named = await registerAll(['ada+3@example.com'], hostile)
      const many = await registerAll(['a@b.example', 'c@d.example', 'e@f.example', 'g@h.example'], hostile)
      expect(await countServed([...named, ...many], hostile)).toBe(20)
      expect(await countServed(owned, home)).toBe(20)
      expect(await countServed(many, '192.0.2.1')).toBe(20)
    } finally {
      await service.close()
      service = previous
    }
  })

  it('cannot lock out a whole proxy with wrong keys (A54)', async () => {
    const limited = await open()
    const previous = service
    const owner = registered.parse((await register('ada@example.com', 'engine')).json()).apiKey
    service = limited
    try {
      for (let index = 0; index < 60; index += 1) {
        const key = `qtn_sk_${String(index).padStart(43, 'a')}`
        expect((await send('GET', '/supported', { key, from: '192.0.2.1' })).statusCode).toBe(401)
      }
      expect((await send('GET', '/supported', { key: owner, from: '192.0.2.1' })).statusCode).toBe(200)
    } finally {
      service = previous
      await limited.close()
    }
  })
})
