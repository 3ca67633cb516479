import { Webhook } from 'standardwebhooks'
import { afterEach, describe, expect, it, vi } from 'vitest'
import type { WebhookResponse } from '../../../src/ports/webhookOutbox.js'
import { createGate } from '../../support/gate.js'
import { drainEventLoop } from '../../support/manualClock.js'
import { pollUntil } from '../../support/pollUntil.js'
import { accountOf, createWebhookWorld, turningSealer } from './support.js'

const second = 1_000
const minute = 60 * second
const hour = 60 * minute

const answerOf = (status: number): WebhookResponse => ({ status, error: null })

describe('a message', () => {
  it('is signed according to Standard Webhooks and contains only the event', async () => {
    const { outbox, sent, set, deliver } = createWebhookWorld()
    const secret = await set('a')
    const { id, createdAt } = outbox.write('a', { id: 'settlement-1', amount: '10000' })
    await deliver()

    const [message] = sent
    expect(message?.url).toBe('https://a.example/hook')
    expect(new Webhook(secret).verify(message?.body ?? '', message?.headers ?? {})).toEqual({
      id,
      type: 'settlement.confirmed',
      timestamp: createdAt.toISOString(),
      data: { id: 'settlement-1', amount: '10000' },
    })
    expect(message?.headers).toMatchObject({ 'webhook-id': id, 'content-type': 'application/json' })
  })

  it('that was modified fails verification', async () => {
    const { outbox, sent, set, deliver } = createWebhookWorld()
    const secret = await set('a')
    outbox.write('a')
    await deliver()
    const { body = '', headers = {} } = sent[0] ?? {}
    const webhook = new Webhook(secret)
    expect(() => webhook.verify(`${body} `, headers)).toThrow('No matching signature')
    expect(() => webhook.verify(body, { ...headers, 'webhook-id': 'other' })).toThrow('No matching signature')
    const later = String(Number(headers['webhook-timestamp']) + 1)
    expect(() => webhook.verify(body, { ...headers, 'webhook-timestamp': later })).toThrow('No matching')
  })

  it('is signed with both secrets for 24 hours after a rotation, then with the new one only', async () => {
    const { clock, outbox, sent, set, verbs, deliver } = createWebhookWorld()
    const old = await set('a')
    const { secret, previousSecretUntil } = await verbs.rotateSecret(accountOf('a'))
    expect(previousSecretUntil).toBe(new Date(clock.now().getTime() + 24 * hour).toISOString())
    outbox.write('a')
    await deliver()
    const { body = '', headers = {} } = sent[0] ?? {}
    for (const each of [old, secret]) expect(new Webhook(each).verify(body, headers)).toBeDefined()
    expect(headers['webhook-signature']).toMatch(/^v1,\S+ v1,\S+$/)

    await clock.advance(24 * hour)
    outbox.write('a')
    await deliver()
    expect(sent[1]?.headers['webhook-signature']).toMatch(/^v1,\S+$/)
  })

  it('of a retry has the same id and body, and a signature with its own timestamp', async () => {
    const { clock, outbox, sent, answer, set, deliver } = createWebhookWorld()
    await set('a')
    outbox.write('a')
    answer(() => answerOf(500))
    await deliver()
    await clock.advance(5 * second)
    await deliver()
    const [first, next] = sent
    expect(next?.body).toBe(first?.body)
    expect(next?.headers['webhook-id']).toBe(first?.headers['webhook-id'])
    expect(Number(next?.headers['webhook-timestamp'])).toBe(Number(first?.headers['webhook-timestamp']) + 5)
    expect(next?.headers['webhook-signature']).not.toBe(first?.headers['webhook-signature'])
  })
})

describe('deliverWebhooks', () => {
  afterEach(() => {
    vi.useRealTimers()
  })

  it('ends a round after what another one of the process has leased', async () => {
    const { outbox, sent, answer, set, deliver } = createWebhookWorld()
    await set('a')
    const { id } = outbox.write('a')
    const response = createGate<WebhookResponse>()
    answer(() => response.opened)
    let ended = 0
    const rounds = [1, 2].map(() =>
      deliver().then(() => {
        ended += 1
      }),
    )
    await pollUntil(() => sent.length === 1, 'the one attempt')
    await drainEventLoop()
    expect(ended).toBe(0)
    response.open(answerOf(204))
    await Promise.all(rounds)
    expect(outbox.get(id)).toMatchObject({ state: 'delivered', attempts: 1 })
  })

  it.each([200, 201, 202, 204, 299])('treats status %i as delivered', async (status) => {
    const { outbox, sent, answer, set, deliver, clock } = createWebhookWorld()
    await set('a')
    const { id } = outbox.write('a')
    answer(() => answerOf(status))
    await deliver()
    await clock.advance(20 * hour)
    await deliver()
    expect(outbox.get(id)).toMatchObject({ state: 'delivered', attempts: 1, lastStatus: status, dueAt: null })
    expect(sent).toHaveLength(1)
  })

  it.each([
    ['a redirect', { status: 302, error: null }],
    ['a refusal', { status: 401, error: null }],
    ['a failure', { status: 503, error: null }],
    ['silence', { status: null, error: 'No answer within 10 s' }],
  ] as const)('tries again after %s: 5 s, 30 s, 5 min, 30 min, 2 h, 5 h and 10 h later', async (_, given) => {
    const { clock, outbox, sent, answer, set, deliver, counted } = createWebhookWorld()
    await set('a')
    const { id } = outbox.write('a')
    answer(() => given)
    await deliver()
    const pauses = [5 * second, 30 * second, 5 * minute, 30 * minute, 2 * hour, 5 * hour, 10 * hour]
    for (const [at, pause] of pauses.entries()) {
      expect(outbox.get(id)).toMatchObject({ state: 'waiting', attempts: at + 1 })
      await clock.advance(pause - 1)
      await deliver()
      expect(sent).toHaveLength(at + 1)
      await clock.advance(1)
      await deliver()
      expect(sent).toHaveLength(at + 2)
    }
    await clock.advance(1_000 * hour)
    await deliver()
    expect(sent).toHaveLength(8)
    expect(counted).toEqual([...Array(7).fill('waiting'), 'failed'])
    expect(outbox.get(id)).toMatchObject({
      state: 'failed',
      attempts: 8,
      lastStatus: given.status,
      lastError: given.error,
    })
  })

  it('fails this and all waiting messages on 410, and marks the endpoint as gone', async () => {
    const { clock, outbox, sent, answer, set, deliver } = createWebhookWorld({ concurrencyPerAccount: 1 })
    await set('a')
    const [first, next] = [outbox.write('a'), outbox.write('a')]
    answer(() => answerOf(410))
    await deliver()
    await clock.advance(20 * hour)
    await deliver()
    expect(sent).toHaveLength(1)
    expect([first, next].map(({ id }) => outbox.get(id).state)).toEqual(['failed', 'failed'])
    expect(await outbox.findEndpoint('a')).toMatchObject({ isGone: true })
  })

  it('does not delay other accounts because of a slow receiver, including later deliveries', async () => {
    const { outbox, sent, answer, set, deliver } = createWebhookWorld({ concurrencyPerAccount: 2 })
    for (const account of ['slow', 'quick']) await set(account)
    for (let count = 0; count < 10; count++) outbox.write('slow')
    const slow = createGate<WebhookResponse>()
    answer(({ url }) => (url.startsWith('https://slow.') ? slow.opened : answerOf(204)))

    const round = deliver()
    const early = outbox.write('quick')
    await pollUntil(() => outbox.get(early.id).state === 'delivered', 'the first of the quick one')
    const late = outbox.write('quick')
    await pollUntil(() => outbox.get(late.id).state === 'delivered', 'the next of the quick one')
    expect(sent.filter(({ url }) => url.startsWith('https://slow.'))).toHaveLength(2)

    slow.open(answerOf(204))
    await round
    expect(sent).toHaveLength(12)
  })

  const names = (count: number) =>
    Array.from({ length: count }, (_, index) => `hang${String(index).padStart(3, '0')}`)

  it('delivers the first message of a stranger while 400 receivers hang', async () => {
    vi.useFakeTimers({ toFake: ['performance'] })
    const { outbox, sent, answer, set, deliver } = createWebhookWorld({ slowAfterMs: 50 })
    const hanging = createGate<WebhookResponse>()
    answer(({ url }) => (url.startsWith('https://hang') ? hanging.opened : answerOf(204)))
    for (const account of names(400)) {
      await set(account)
      for (let count = 0; count < 3; count++) outbox.write(account)
    }
    const round = deliver()
    await pollUntil(() => sent.length >= 128, 'receivers to hang')
    await set('stranger')
    const { id } = outbox.write('stranger')
    await pollUntil(() => {
      vi.advanceTimersByTime(50)
      return outbox.get(id).state === 'delivered'
    }, 'the message of the stranger')
    expect(sent.filter(({ url }) => url.startsWith('https://hang')).length).toBeLessThanOrEqual(640)
    hanging.open(answerOf(204))
    await round
  })

  /** Receivers that are known as slow, and hang from now on. */
  const createSlowWorld = async (accounts: readonly string[], slowConcurrency: number) => {
    // Time passes only here: every later answer is quick.
    vi.useFakeTimers({ toFake: ['performance'] })
    const world = createWebhookWorld({ slowAfterMs: 20, concurrency: 4, slowConcurrency })
    const { answer, set, outbox, deliver } = world
    for (const account of accounts) await set(account)
    for (const account of accounts) outbox.write(account)
    answer(() => {
      vi.advanceTimersByTime(20)
      return answerOf(204)
    })
    await deliver()
    const hanging = createGate<WebhookResponse>()
    world.sent.length = 0
    answer(({ url }) => (url.startsWith('https://hang') ? hanging.opened : answerOf(204)))
    for (const account of accounts) for (let count = 0; count < 5; count++) outbox.write(account)
    return { ...world, hanging }
  }

  it('sends to receivers known as slow within their own share only, and to each one at a time', async () => {
    const { outbox, sent, set, deliver, hanging } = await createSlowWorld(names(10), 3)
    await set('stranger')
    const round = deliver()
    for (let count = 0; count < 8; count++) {
      const { id } = outbox.write('stranger')
      await pollUntil(() => outbox.get(id).state === 'delivered', 'a message of the stranger')
    }
    const slow = sent.filter(({ url }) => url.startsWith('https://hang')).map(({ url }) => url)
    expect(slow).toHaveLength(3)
    expect(new Set(slow).size).toBe(3)
    hanging.open(answerOf(204))
    await round
  })

  it('treats a receiver that answers quickly again as any other', async () => {
    const { sent, answer, deliver, hanging, outbox } = await createSlowWorld(['hang000'], 3)
    const round = deliver()
    await pollUntil(() => sent.length === 1, 'the one attempt')
    hanging.open(answerOf(204))
    await round
    sent.length = 0
    const next = createGate<WebhookResponse>()
    answer(() => next.opened)
    for (let count = 0; count < 5; count++) outbox.write('hang000')
    const later = deliver()
    await pollUntil(() => sent.length === 4, 'as many attempts as others get')
    next.open(answerOf(204))
    await later
    expect(sent).toHaveLength(5)
  })

  it('spreads retries by up to 10 % around their delay', async () => {
    for (const [random, delay] of [
      [0, 4_500],
      [0.5, 5_000],
      [1, 5_500],
    ] as const) {
      const { clock, outbox, answer, set, deliver } = createWebhookWorld({ random: () => random })
      await set('a')
      const { id } = outbox.write('a')
      answer(() => answerOf(500))
      await deliver()
      expect(outbox.get(id).dueAt?.getTime()).toBe(clock.now().getTime() + delay)
    }
  })

  it('limits concurrent attempts, per account and in total', async () => {
    const { outbox, answer, set, deliver } = createWebhookWorld({ concurrency: 5, concurrencyPerAccount: 3 })
    const underWay = new Map<string, number>()
    let most = 0
    let mostOfOne = 0
    const add = (url: string, step: number) => underWay.set(url, (underWay.get(url) ?? 0) + step)
    answer(async ({ url }) => {
      add(url, 1)
      mostOfOne = Math.max(mostOfOne, ...underWay.values())
      most = Math.max(
        most,
        [...underWay.values()].reduce((sum, each) => sum + each, 0),
      )
      await new Promise(setImmediate)
      add(url, -1)
      return answerOf(204)
    })
    for (const account of ['a', 'b', 'c']) {
      await set(account)
      for (let count = 0; count < 20; count++) outbox.write(account)
    }
    await deliver()
    expect({ most, mostOfOne }).toEqual({ most: 5, mostOfOne: 3 })
    for (const account of ['a', 'b', 'c']) {
      const states = (await outbox.list(account, { limit: 50 })).map(({ state }) => state)
      expect(states).toEqual(Array.from({ length: 20 }, () => 'delivered'))
    }
  })

  it('returns deliveries in flight to the queue on shutdown, without counting the attempt', async () => {
    const { outbox, sent, answer, set, deliver, stopping } = createWebhookWorld()
    await set('a')
    const { id } = outbox.write('a')
    answer(
      (_message, stopped) =>
        new Promise((_, reject) => {
          // Asynchronously, like a real socket.
          stopped.addEventListener('abort', () => setImmediate(() => reject(stopped.reason)))
        }),
    )
    const round = deliver()
    await pollUntil(() => sent.length === 1, 'the message')
    stopping.abort(new Error('closing'))
    await round
    const { state, attempts, dueAt, createdAt } = outbox.get(id)
    expect({ state, attempts, dueAt }).toEqual({ state: 'waiting', attempts: 0, dueAt: createdAt })
  })

  it('continues with other deliveries if a secret cannot be decrypted, and logs no secret', async () => {
    const sealer = {
      ...turningSealer,
      open: (bytes: Uint8Array, owner: string) => {
        const secret = turningSealer.open(bytes, owner)
        if (secret === broken) throw new Error('Unsealable')
        return secret
      },
    }
    let broken = ''
    const { outbox, set, deliver, logger } = createWebhookWorld({ sealer })
    broken = await set('a')
    const secret = await set('b')
    const [unsent, other] = [outbox.write('a'), outbox.write('b')]
    await deliver()
    expect(outbox.get(other.id).state).toBe('delivered')
    expect(outbox.get(unsent.id).state).toBe('waiting')
    expect(logger.messages()).toContain('webhook.attempt_failed')
    const logged = JSON.stringify(logger.lines)
    for (const each of [broken, secret]) expect(logged).not.toContain(each)
  })
})

describe('the webhook use cases', () => {
  const account = accountOf('a')

  it('keep the secret when the same URL is set again, also after the receiver was gone', async () => {
    const { outbox, verbs, answer, deliver, audited, mailed } = createWebhookWorld()
    const url = 'https://a.example/hook'
    const first = await verbs.setWebhook(account, url)
    const again = await verbs.setWebhook(account, url)
    expect(again).toEqual(first)
    outbox.write('a')
    answer(() => ({ status: 410, error: null }))
    await deliver()
    expect(await outbox.findEndpoint('a')).toMatchObject({ isGone: true })
    expect(await verbs.setWebhook(account, url)).toEqual(first)
    expect(await outbox.findEndpoint('a')).toMatchObject({ isGone: false })
    // Setting it again without effect is no change.
    expect(audited.map(({ action }) => action)).toEqual(['webhook.changed', 'webhook.changed'])
    expect(mailed).toEqual(['webhook.changed', 'webhook.changed'])
  })

  it('keep both secrets of a rotation when the same URL is set again', async () => {
    const { outbox, verbs, set } = createWebhookWorld()
    await set('a')
    const { secret } = await verbs.rotateSecret(account)
    expect((await verbs.setWebhook(account, 'https://a.example/hook')).secret).toBe(secret)
    expect((await outbox.findEndpoint('a'))?.sealedSecrets).toHaveLength(2)
  })

  it('record who changed the webhook and from where, without path and secret', async () => {
    const { verbs, audited } = createWebhookWorld()
    const by = { actor: 'key Default (1)', address: '203.0.113.7' }
    const { secret } = await verbs.setWebhook(account, 'https://a.example/hook?token=1', by)
    await verbs.rotateSecret(account, by)
    await verbs.setWebhook(account, '', by)
    expect(audited).toEqual([
      { accountId: 'a', action: 'webhook.changed', details: { host: 'a.example' }, ...by },
      { accountId: 'a', action: 'webhook.secret_rotated', details: {}, ...by },
      { accountId: 'a', action: 'webhook.removed', details: {}, ...by },
    ])
    expect(JSON.stringify(audited)).not.toContain(secret)
  })

  it('set a webhook with a new secret for each URL, stored encrypted', async () => {
    const { outbox, verbs } = createWebhookWorld()
    const first = await verbs.setWebhook(account, 'https://a.example/hook')
    const next = await verbs.setWebhook(account, 'https://a.example/other')
    expect(first).toEqual({
      webhookUrl: 'https://a.example/hook',
      secret: expect.stringMatching(/^whsec_[A-Za-z0-9+/]{43}=$/),
    })
    expect(next.secret).not.toBe(first.secret)
    const endpoint = await outbox.findEndpoint('a')
    expect(Buffer.concat(endpoint?.sealedSecrets ?? []).toString()).not.toContain('whsec_')
  })

  it('remove the webhook with an empty URL', async () => {
    const { outbox, set, verbs } = createWebhookWorld()
    await set('a')
    expect(await verbs.setWebhook(account, '')).toEqual({ webhookUrl: '' })
    expect(await outbox.findEndpoint('a')).toBeNull()
  })

  it.each([
    ['http://a.example/', 'must begin with https://'],
    [`https://a.example/${'x'.repeat(2_031)}`, 'must have at most 2048 characters'],
    ['https://a.example/ b', 'must not hold spaces or control characters'],
    ['https://a.example/\n', 'must not hold spaces or control characters'],
    ['https://a.exa\tmple/', 'must not hold spaces or control characters'],
    ['https://a.example/\u0000', 'must not hold spaces or control characters'],
    ['https://a.example/\u202e', 'must not hold spaces or control characters'],
    ['https://a.example/\ud800', 'must not hold spaces or control characters'],
    [' ', 'must not hold spaces or control characters'],
  ])('reject %j without changing anything', async (url, problem) => {
    const { outbox, set, verbs } = createWebhookWorld()
    await set('a', 'https://before.example/')
    await expect(verbs.setWebhook(account, url)).rejects.toThrow(`webhookUrl: ${problem}`)
    expect(await outbox.findEndpoint('a')).toMatchObject({ url: 'https://before.example/' })
  })

  it('accept a URL of the maximum length', async () => {
    const { set, outbox } = createWebhookWorld()
    await set('a', `https://a.example/${'x'.repeat(2_030)}`)
    expect((await outbox.findEndpoint('a'))?.url).toHaveLength(2_048)
  })

  it.each([
    [answerOf(204), { success: true, statusCode: 204, message: 'The receiver accepted the message' }],
    [answerOf(302), { success: false, statusCode: 302, message: 'The receiver answered 302' }],
    [answerOf(410), { success: false, statusCode: 410, message: 'The receiver answered 410' }],
    [{ status: null, error: 'No answer' } as const, { success: false, statusCode: 0, message: 'No answer' }],
  ])('send a test and return the response: %o', async (given, result) => {
    const { sent, answer, set, verbs } = createWebhookWorld()
    const secret = await set('a')
    answer(() => given)
    expect(await verbs.testWebhook(account)).toEqual(result)
    expect(new Webhook(secret).verify(sent[0]?.body ?? '', sent[0]?.headers ?? {})).toMatchObject({
      type: 'webhook.test',
      data: { message: expect.any(String) },
    })
  })

  it('throw INVALID_REQUEST if no webhook is set', async () => {
    const { verbs, outbox } = createWebhookWorld()
    const { id } = outbox.write('a')
    const calls = [verbs.testWebhook(account), verbs.rotateSecret(account), verbs.redeliver(account, id)]
    for (const call of calls) await expect(call).rejects.toMatchObject({ code: 'INVALID_REQUEST' })
  })

  it('list deliveries in pages, and redeliver one', async () => {
    const { verbs, outbox, set, sent, deliver } = createWebhookWorld()
    await set('a')
    const ids = [outbox.write('a'), outbox.write('a'), outbox.write('a')].map(({ id }) => id).toReversed()
    await deliver()
    const { deliveries, nextCursor } = await verbs.listDeliveries(account, { limit: 2 })
    expect(deliveries.map(({ id }) => id)).toEqual(ids.slice(0, 2))
    expect(nextCursor).toBe(ids[1])
    const rest = await verbs.listDeliveries(account, { limit: 2, cursor: nextCursor })
    expect(rest.deliveries).toMatchObject([
      { id: ids[2], status: 'delivered', attempts: 1, lastStatusCode: 204 },
    ])
    expect(rest.nextCursor).toBeUndefined()

    const again = await verbs.redeliver(account, ids[2] ?? '')
    expect(again).toMatchObject({ id: ids[2], status: 'waiting', attempts: 0 })
    await deliver()
    expect(sent.map(({ headers }) => headers['webhook-id'])).toEqual([...ids.toReversed(), ids[2]])
  })

  it('redeliver at most 60 a minute for each customer', async () => {
    const { clock, verbs, outbox, set } = createWebhookWorld()
    await set('a')
    await set('b')
    const { id } = outbox.write('a')
    for (let count = 0; count < 60; count++) await verbs.redeliver(account, id)
    await expect(verbs.redeliver(account, id)).rejects.toMatchObject({
      code: 'RATE_LIMITED',
      retryAfterSeconds: 60,
    })
    const otherOfCustomer = { ...accountOf('b'), customer: account.customer }
    await expect(verbs.redeliver(otherOfCustomer, outbox.write('b').id)).rejects.toMatchObject({
      code: 'RATE_LIMITED',
    })
    await expect(verbs.redeliver(accountOf('b'), outbox.write('b').id)).resolves.toBeDefined()
    await clock.advance(60_000)
    await expect(verbs.redeliver(account, id)).resolves.toBeDefined()
  })

  it('never expose data of one account to another', async () => {
    const { verbs, outbox, set } = createWebhookWorld()
    await set('a')
    await set('b')
    const { id } = outbox.write('a')
    await expect(verbs.redeliver(accountOf('b'), id)).rejects.toMatchObject({ code: 'NOT_FOUND' })
    expect(await verbs.listDeliveries(accountOf('b'), { limit: 9 })).toEqual({ deliveries: [] })
  })
})
