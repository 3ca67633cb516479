import { randomUUID } from 'node:crypto'
import { describe, expect, it } from 'vitest'
import type { PresentedKey } from '../../src/usecases/dashboard/useCases.js'
import { accountOf, createWebhookWorld } from '../usecases/webhooks/support.js'
import { testApp } from './support/app.js'

const openDashboard = async () => {
  const world = createWebhookWorld()
  const authenticate = async ({ apiKey }: PresentedKey) => accountOf(apiKey.replace('qtn_sk_', ''))
  const app = testApp({ webhooks: world.verbs, dashboard: { authenticate } })
  await app.ready()
  const ask = async (method: 'GET' | 'POST', url: string, tenant: string | null, body?: object) => {
    const response = await app.inject({
      method,
      url,
      headers: tenant === null ? {} : { 'x-api-key': `qtn_sk_${tenant}` },
      ...(body === undefined ? {} : { payload: body }),
    })
    return { status: response.statusCode, body: response.json(), headers: response.headers }
  }
  return { ...world, ask }
}

const webhookUrl = 'https://a.example/hook'
const routes = [
  ['POST', '/dashboard/webhook', { webhookUrl }],
  ['POST', '/dashboard/webhook/test', undefined],
  ['POST', '/dashboard/webhook/rotate', undefined],
  ['GET', '/dashboard/webhook/deliveries', undefined],
  ['POST', `/dashboard/webhook/deliveries/${randomUUID()}/redeliver`, undefined],
] as const

describe('the webhook endpoints', () => {
  it.each(routes)('%s %s rejects requests without a key', async (method, url, body) => {
    const { ask, outbox } = await openDashboard()
    const answer = await ask(method, url, null, body)
    expect(answer).toMatchObject({ status: 401, body: { code: 'UNAUTHORIZED' } })
    expect(await outbox.findEndpoint('a')).toBeNull()
  })

  it('set a webhook and return its secret once, uncached', async () => {
    const { ask } = await openDashboard()
    const set = await ask('POST', '/dashboard/webhook', 'a', { webhookUrl })
    expect(set).toMatchObject({
      status: 200,
      body: { webhookUrl, secret: expect.stringMatching(/^whsec_/) },
      headers: { 'cache-control': 'no-store' },
    })
    const rotated = await ask('POST', '/dashboard/webhook/rotate', 'a')
    expect(rotated).toMatchObject({
      status: 200,
      body: { webhookUrl, previousSecretUntil: expect.any(String) },
    })
    expect(rotated.body.secret).not.toBe(set.body.secret)
    const others = [
      await ask('POST', '/dashboard/webhook/test', 'a'),
      await ask('GET', '/dashboard/webhook/deliveries', 'a'),
    ]
    expect(JSON.stringify(others)).not.toContain('whsec_')
    expect(await ask('POST', '/dashboard/webhook', 'a', { webhookUrl: '' })).toMatchObject({
      status: 200,
      body: { webhookUrl: '' },
    })
  })

  it.each([
    [{}, 'webhookUrl: is required'],
    [{ webhookUrl: null }, 'webhookUrl: must be a string'],
    [{ webhookUrl: 7 }, 'webhookUrl: must be a string'],
    [{ webhookUrl: [webhookUrl] }, 'webhookUrl: must be a string'],
    [{ webhookUrl: 'http://a.example/' }, 'webhookUrl: must begin with https://'],
    ...[
      'http://localhost:3000/hook',
      'http://127.0.0.1/',
      'http://[::1]:80/',
      'http://web:3000/',
      'http://box.local/',
    ].map((url): [object, string] => [
      { webhookUrl: url },
      'webhookUrl: must begin with https://. For a receiver on your machine or network: `npm run listen -- --key <API key> --forward <URL>`; in a sandbox also POST /sandbox/inbox; or WEBHOOK_ALLOW of the instance',
    ]),
    [{ webhookUrl: 'x'.repeat(5_000) }, 'webhookUrl: must have at most 2048 characters'],
  ])('refuse the webhook %j', async (body, message) => {
    const { ask } = await openDashboard()
    expect(await ask('POST', '/dashboard/webhook', 'a', body)).toMatchObject({
      status: 400,
      body: { code: 'INVALID_REQUEST', message },
    })
  })

  it('send a test message', async () => {
    const { ask, answer } = await openDashboard()
    await ask('POST', '/dashboard/webhook', 'a', { webhookUrl })
    answer(() => ({ status: 500, error: null }))
    expect(await ask('POST', '/dashboard/webhook/test', 'a')).toMatchObject({
      status: 200,
      body: { success: false, statusCode: 500, message: 'The receiver answered 500' },
    })
    expect(await ask('POST', '/dashboard/webhook/test', 'b')).toMatchObject({
      status: 400,
      body: { code: 'INVALID_REQUEST' },
    })
  })

  it('list deliveries and redeliver one', async () => {
    const { ask, outbox, deliver } = await openDashboard()
    await ask('POST', '/dashboard/webhook', 'a', { webhookUrl })
    const ids = [outbox.write('a'), outbox.write('a')].map(({ id }) => id)
    await deliver()
    const page = await ask('GET', '/dashboard/webhook/deliveries?limit=1', 'a')
    expect(page.body).toMatchObject({
      deliveries: [
        { id: ids[1], type: 'settlement.confirmed', status: 'delivered', data: { id: 'settlement-1' } },
      ],
      nextCursor: ids[1],
    })
    const next = await ask('GET', `/dashboard/webhook/deliveries?cursor=${ids[1]?.toUpperCase()}`, 'a')
    expect(next.body.deliveries).toMatchObject([{ id: ids[0] }])
    const again = await ask('POST', `/dashboard/webhook/deliveries/${ids[0]?.toUpperCase()}/redeliver`, 'a')
    expect(again).toMatchObject({ status: 200, body: { id: ids[0], status: 'waiting' } })
  })

  it.each([
    ['GET', '/dashboard/webhook/deliveries?limit=0'],
    ['GET', '/dashboard/webhook/deliveries?limit=1e1'],
    ['GET', '/dashboard/webhook/deliveries?cursor=1'],
    ['POST', '/dashboard/webhook/deliveries/1/redeliver'],
    ['POST', "/dashboard/webhook/deliveries/'%20or%201=1/redeliver"],
  ] as const)('reject %s %s', async (method, url) => {
    const { ask } = await openDashboard()
    expect(await ask(method, url, 'a')).toMatchObject({ status: 400, body: { code: 'INVALID_REQUEST' } })
  })

  it('never expose data of one account to another', async () => {
    const { ask, outbox, deliver, sent } = await openDashboard()
    await ask('POST', '/dashboard/webhook', 'a', { webhookUrl })
    await ask('POST', '/dashboard/webhook', 'b', { webhookUrl: 'https://b.example/hook' })
    const { id } = outbox.write('a', { id: 'secret of a' })
    await deliver()

    const answers = [
      await ask('GET', '/dashboard/webhook/deliveries', 'b'),
      await ask('GET', `/dashboard/webhook/deliveries?cursor=${id}`, 'b'),
      await ask('POST', `/dashboard/webhook/deliveries/${id}/redeliver`, 'b'),
      await ask('POST', '/dashboard/webhook/test', 'b'),
    ]
    await ask('POST', '/dashboard/webhook', 'b', { webhookUrl: '' })

    expect(answers.map(({ status }) => status)).toEqual([200, 200, 404, 200])
    expect(JSON.stringify(answers)).not.toMatch(/secret of a|a\.example/)
    await deliver()
    expect(sent.map(({ url }) => url)).toEqual([webhookUrl, 'https://b.example/hook'])
    expect(await outbox.findEndpoint('a')).toMatchObject({ url: webhookUrl, isGone: false })
    expect(outbox.get(id)).toMatchObject({ state: 'delivered', attempts: 1 })
  })
})
