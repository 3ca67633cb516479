import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { z } from 'zod'
import { operatorAuditPage, pauseCleared, pauseList, pauseSet } from '../../src/protocol/operator.js'
import { operatorOverview } from '../../src/protocol/operatorOverview.js'
import { settleResult, verifyResult } from '../../src/protocol/results.js'
import { streamAnswer, streamOpened } from '../../src/protocol/streams.js'
import { pollUntil } from '../support/pollUntil.js'
import { useTestDatabase } from '../support/postgres.js'
import { sandboxUpto } from '../support/sandbox/streams.js'
import { startService, type TestService } from '../support/service.js'

const database = useTestDatabase({ isSandbox: true })
const token = 'an-operator-token-of-some-length'
const network = 'eip155:84532'
const reason = 'The nodes contradict each other'

type Headers = Readonly<Record<string, string>>

const operator: Headers = { authorization: `Bearer ${token}` }
const start = () =>
  startService({
    databaseUrl: database.url,
    environment: { SANDBOX: 'true', OPERATOR_TOKEN: token, WEBHOOK_ALLOW: 'loopback' },
  })

let first: TestService
let second: TestService
let shop: Headers
let accountId: string
const errorBody = z.object({ code: z.string(), message: z.string() })

const ask = async (
  service: TestService,
  path: string,
  { method = 'POST', body, headers = shop }: { method?: string; body?: unknown; headers?: Headers } = {},
) => {
  const response = await fetch(`${service.url}${path}`, {
    method,
    headers: { ...(body === undefined ? {} : { 'content-type': 'application/json' }), ...headers },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  })
  const json: unknown = await response.json()
  return { status: response.status, json, retryAfter: response.headers.get('retry-after') }
}

const pause = async (target: object, service = first) => {
  const body = { target, reason, by: 'Ada' }
  const { status, json } = await ask(service, '/v1/operator/pauses', {
    method: 'PUT',
    body,
    headers: operator,
  })
  expect(status, JSON.stringify(json)).toBe(200)
  return pauseSet.parse(json)
}

const resume = async (query: string, service = first) => {
  const path = `/v1/operator/pauses?${query}`
  return pauseCleared.parse((await ask(service, path, { method: 'DELETE', headers: operator })).json)
}

const listSupported = async (service: TestService) =>
  z
    .object({ kinds: z.array(z.object({ scheme: z.string(), network: z.string() })) })
    .parse((await ask(service, '/supported', { method: 'GET' })).json).kinds

const offers = async (service: TestService, scheme: string) =>
  (await listSupported(service)).some((kind) => kind.scheme === scheme && kind.network === network)

beforeAll(async () => {
  first = await start()
  second = await start()
  const registered = await ask(first, '/register', {
    body: { email: 'ada@example.com', projectName: 'shop' },
    headers: {},
  })
  const { apiKey } = z.object({ apiKey: z.string() }).parse(registered.json)
  shop = { authorization: `Bearer ${apiKey}` }
  const { rows } = await database.pool.query('select id from accounts')
  accountId = z.object({ id: z.string() }).parse(rows[0]).id
})
afterAll(async () => {
  await first.close()
  await second.close()
})
beforeEach(async () => {
  await database.pool.query('delete from operator_pauses')
  await pollUntil(
    async () => (await offers(first, 'upto')) && (await offers(second, 'upto')),
    'nothing to be paused',
  )
})

describe('a paused network', () => {
  it('takes no new payment on any instance, with the reason and when to retry', async () => {
    await pause({ kind: 'network', network: 'base-sepolia' })
    const payment = await sandboxUpto()
    for (const path of ['/verify', '/settle', '/v1/stream/open']) {
      const body = path === '/settle' ? { ...payment, settleAmount: '10' } : payment
      const { status, json, retryAfter } = await ask(first, path, { body })
      expect([path, status, retryAfter]).toEqual([path, 503, '30'])
      expect(json).toEqual({
        sandbox: true,
        code: 'SERVICE_UNAVAILABLE',
        message: `New payments on ${network} are paused by the operator: ${reason}`,
        operationalCode: 'SVC-4001',
        retryAfter: 30,
      })
    }
    expect(await offers(first, 'upto')).toBe(false)
    await pollUntil(async () => !(await offers(second, 'upto')), 'the other instance to know it')
    expect((await ask(second, '/verify', { body: payment })).status).toBe(503)

    expect(await resume(`kind=network&network=${network}`, second)).toEqual({ cleared: true, pauses: [] })
    expect(verifyResult.parse((await ask(second, '/verify', { body: payment })).json).isValid).toBe(true)
    await pollUntil(() => offers(first, 'upto'), 'the first instance to resume')
    const settled = await ask(first, '/settle', { body: { ...payment, settleAmount: '10' } })
    expect(settleResult.parse(settled.json).success).toBe(true)
  })

  it('settles what was verified before, once, and repeats its answer under the Idempotency-Key', async () => {
    const payment = await sandboxUpto()
    await ask(first, '/verify', { body: payment })
    await pause({ kind: 'network', network })
    const headers = { ...shop, 'idempotency-key': randomUUID() }
    const body = { ...payment, settleAmount: '10' }
    const settled = settleResult.parse((await ask(first, '/settle', { body, headers })).json)
    expect(settled).toMatchObject({ success: true, status: 'confirmed' })
    expect(settleResult.parse((await ask(second, '/settle', { body, headers })).json)).toEqual(settled)
    const { rows } = await database.pool.query('select state from settlements where id = $1', [
      settled.settlementId,
    ])
    expect(rows).toEqual([{ state: 'confirmed' }])
  })

  it('closes the streams that are open', async () => {
    const { stream } = streamOpened.parse(
      (await ask(first, '/v1/stream/open', { body: await sandboxUpto() })).json,
    )
    await pause({ kind: 'network', network })
    await ask(first, '/v1/stream/update', { body: { streamId: stream.id, amount: '25' } })
    const closed = await ask(first, '/v1/stream/close', { body: { streamId: stream.id } })
    expect(streamAnswer.parse(closed.json).stream).toMatchObject({ status: 'closed', settledAmount: '25' })
  })

  it('is paused from the first request of an instance that starts', async () => {
    await pause({ kind: 'network', network })
    const third = await start()
    try {
      expect((await ask(third, '/verify', { body: await sandboxUpto() })).status).toBe(503)
    } finally {
      await third.close()
    }
  })

  it('routes no intent', async () => {
    await pause({ kind: 'scheme', network, scheme: 'exact' })
    const created = await ask(first, '/v1/intent', {
      body: {
        payer: '0x857b06519E91e3A54538791bDbb0E22373e36b66',
        payee: '0x209693Bc6afc0C5328bA36FaF03C514EF312287C',
        asset: 'USDC',
        amount: '10000',
        targetNetwork: network,
      },
    })
    expect(created.status, JSON.stringify(created.json)).toBe(201)
    expect(created.json).toMatchObject({
      availableRoutes: [],
      unavailable: [{ network, scheme: 'exact', reason: 'paused', message: expect.stringContaining(reason) }],
    })
  })

  it('is shown by the overview, and by the audit trail', async () => {
    await pause({ kind: 'network', network })
    await pause({ kind: 'network', network }, second)
    await resume(`kind=network&network=${network}&by=Eve`, second)
    await resume(`kind=network&network=${network}`, second)
    const { json } = await ask(first, '/v1/operator/audit?limit=2', { method: 'GET', headers: operator })
    expect(operatorAuditPage.parse(json).entries).toMatchObject([
      {
        action: 'pause.cleared',
        by: 'Eve',
        address: '127.0.0.1',
        before: { reason, by: 'Ada' },
        after: null,
      },
      { action: 'pause.set', by: 'Ada', before: null, after: { reason } },
    ])
  })
})

describe('a pause', () => {
  it('of a scheme leaves the other schemes of the network', async () => {
    await pause({ kind: 'scheme', network, scheme: 'upto' })
    expect([await offers(first, 'upto'), await offers(first, 'exact')]).toEqual([false, true])
    const { status, json } = await ask(first, '/verify', { body: await sandboxUpto() })
    expect([status, errorBody.parse(json).message]).toEqual([
      503,
      `New payments by upto on ${network} are paused by the operator: ${reason}`,
    ])
  })

  it('of a recipient holds in any spelling, and for no other recipient', async () => {
    const payment = await sandboxUpto()
    const { payTo } = payment.paymentRequirements
    await pause({ kind: 'recipient', network, payTo: payTo.toLowerCase() })
    expect((await ask(first, '/verify', { body: payment })).status).toBe(503)
    await resume(`kind=recipient&network=${network}&payTo=${payTo}`)
    await pause({ kind: 'recipient', network, payTo: '0x857b06519E91e3A54538791bDbb0E22373e36b66' })
    expect((await ask(first, '/verify', { body: payment })).status).toBe(200)
  })

  it('of an account holds for its keys alone', async () => {
    await pause({ kind: 'account', accountId })
    const body = await sandboxUpto()
    expect((await ask(first, '/verify', { body })).status).toBe(503)
    expect((await ask(first, '/verify', { body, headers: {} })).status).toBe(200)
  })

  it('is listed once, however often it is set', async () => {
    expect((await pause({ kind: 'network', network })).changed).toBe(true)
    expect((await pause({ kind: 'network', network }, second)).changed).toBe(false)
    const { json } = await ask(second, '/v1/operator/pauses', { method: 'GET', headers: operator })
    expect(pauseList.parse(json).pauses).toMatchObject([{ target: { kind: 'network', network }, by: 'Ada' }])
    expect(await resume(`kind=network&network=${network}`)).toMatchObject({ cleared: true })
    expect(await resume(`kind=network&network=${network}`, second)).toMatchObject({ cleared: false })
  })

  it('of an unknown network is refused', async () => {
    const body = { target: { kind: 'network', network: 'eip155:999' }, reason }
    expect(
      (await ask(first, '/v1/operator/pauses', { method: 'PUT', body, headers: operator })).json,
    ).toMatchObject({
      code: 'INVALID_REQUEST',
      message: 'target.network: this instance does not have the network',
    })
  })
})

describe('the overview of a running service', () => {
  it('has its networks, pools, jobs, and both instances', async () => {
    await pause({ kind: 'network', network })
    const seen = await pollUntil(async () => {
      const { json } = await ask(first, '/v1/operator/overview', { method: 'GET', headers: operator })
      const overview = operatorOverview.parse(json)
      const alive = overview.shared.instances?.filter(({ isAlive }) => isAlive) ?? []
      const isComplete = overview.unread.length === 0 && overview.instance.pauses === 1 && alive.length === 2
      return isComplete ? overview : null
    }, 'a whole overview')
    const shown = seen.instance.networks.find((each) => each.network === network)
    expect(shown).toMatchObject({ isServing: true, paused: [{ scheme: null, reason }] })
    expect(seen.instance.pools.map(({ name }) => name)).toEqual([
      'payments',
      'reads',
      'audits',
      'nightlyAudits',
    ])
    expect(seen.instance.limiter).toEqual({ store: 'memory', isDegraded: false })
    const refresh = seen.instance.jobs.find(({ name }) => name === 'refreshPauses')
    expect(refresh).toMatchObject({ isShared: false, failures: 0, succeededAt: expect.any(String) })
    expect(seen.shared.database).toBe('ok')
    expect(seen.shared.jobs?.map(({ job }) => job)).toContain('reconcileSettlements')
  })
})

describe('an account', () => {
  it('is found, gets a tier, and is revoked by an operator', async () => {
    const registered = await ask(first, '/register', {
      body: { email: 'eve@example.com', projectName: 'shop' },
      headers: {},
    })
    const { apiKey } = z.object({ apiKey: z.string() }).parse(registered.json)
    const headers = { authorization: `Bearer ${apiKey}` }
    const call = async (path: string, method: string, body?: object) =>
      (await ask(first, `/v1/operator/${path}`, { method, body, headers: operator })).json
    const found = z
      .object({ accounts: z.array(z.object({ id: z.string(), tier: z.string() })) })
      .parse(await call('accounts?search=EVE', 'GET'))
    expect(found.accounts).toHaveLength(1)
    const id = found.accounts[0]?.id ?? ''
    expect(await call(`accounts?search=${id}`, 'GET')).toEqual(await call('accounts?search=eve', 'GET'))
    const tiers = z
      .record(z.string(), z.unknown())
      .parse(
        z.object({ tiers: z.unknown() }).parse((await ask(first, '/tiers', { method: 'GET' })).json).tiers,
      )
    const tier = Object.keys(tiers).at(-1) ?? ''
    expect(await call(`accounts/${id}/tier`, 'POST', { tier })).toMatchObject({ id, tier })
    expect(await call(`accounts/${id}/tier`, 'POST', { tier: 'gold' })).toMatchObject({
      code: 'INVALID_REQUEST',
    })
    expect(await call(`accounts/${id}/revoke`, 'POST')).toMatchObject({ id, status: 'revoked', keys: 0 })
    expect((await ask(first, '/dashboard/info', { method: 'GET', headers })).status).toBe(401)
    expect(await call(`accounts/${randomUUID()}/revoke`, 'POST')).toMatchObject({ code: 'NOT_FOUND' })
    const audit = operatorAuditPage.parse(await call('audit?limit=2', 'GET'))
    expect(audit.entries).toMatchObject([
      { action: 'account.revoked', target: { kind: 'account', accountId: id }, address: null },
      { action: 'tier.changed', after: { tier } },
    ])
  })
})

describe('a webhook delivery of any account', () => {
  const redeliver = (id: string) =>
    ask(first, `/v1/operator/deliveries/${id}/redeliver?by=Ada`, { headers: operator })

  it('is sent again, and the audit trail says by whom', async () => {
    // Nothing listens there.
    await ask(first, '/dashboard/webhook', { body: { webhookUrl: 'http://127.0.0.1:9/' } })
    const { rows } = await database.pool.query(
      `insert into webhook_deliveries (account_id, type, data, state, due_at)
       values ($1, 'settlement.confirmed', '{}', 'delivered', null) returning id`,
      [accountId],
    )
    const [{ id }] = z.tuple([z.object({ id: z.string() })]).parse(rows)
    const { status, json } = await redeliver(id)
    expect([status, json]).toMatchObject([200, { id, status: 'waiting', attempts: 0 }])
    const audit = await ask(first, '/v1/operator/audit?limit=1', { method: 'GET', headers: operator })
    expect(operatorAuditPage.parse(audit.json).entries).toMatchObject([
      {
        action: 'delivery.redelivered',
        target: { kind: 'delivery', deliveryId: id, accountId },
        by: 'Ada',
        after: { status: 'waiting' },
      },
    ])
  })

  it('is not found without one', async () => {
    expect(await redeliver(randomUUID())).toMatchObject({ status: 404, json: { code: 'NOT_FOUND' } })
  })
})
