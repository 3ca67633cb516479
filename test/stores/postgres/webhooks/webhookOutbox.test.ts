import { randomUUID } from 'node:crypto'
import type { Pool } from 'pg'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import type { LeasedDelivery, LeaseRequest, WebhookOutbox } from '../../../../src/ports/webhookOutbox.js'
import { createWebhookOutbox } from '../../../../src/stores/postgres/webhooks/webhookOutbox.js'
import { createTestDatabase, type TestDatabase } from '../../../support/postgres.js'

const url = 'https://a.example/hook'
const sealedSecret = Buffer.from('sealed-1')

describe('the webhook outbox', () => {
  let database: TestDatabase
  let pool: Pool
  let ours: WebhookOutbox
  let theirs: WebhookOutbox

  beforeAll(async () => {
    database = await createTestDatabase()
    pool = database.pool()
    ours = createWebhookOutbox(pool)
    theirs = createWebhookOutbox(database.otherPool())
  })
  afterAll(() => database.drop())
  beforeEach(async () => {
    await pool.query('truncate webhook_endpoints, webhook_deliveries')
    for (const account of ['a', 'b']) await ours.setEndpoint(account, { url, sealedSecret })
  })

  /** Events as inserted by a settlement's statement, with increasing times. */
  const write = async (count: number, account = 'a'): Promise<readonly string[]> => {
    const ids = Array.from({ length: count }, () => randomUUID())
    for (const [at, id] of ids.entries()) {
      await pool.query(
        `insert into webhook_deliveries (id, account_id, type, data, created_at)
         values ($1, $2, 'settlement.confirmed', '{}', now() + $3 * interval '1 microsecond')`,
        [id, account, at],
      )
    }
    return ids
  }
  const pass = (interval: string) =>
    pool.query('update webhook_deliveries set due_at = due_at - $1::interval', [interval])
  const take = (outbox = ours, changes: Partial<LeaseRequest> = {}) =>
    outbox.leaseDue({ limit: 100, limitPerAccount: 100, except: [], leaseMs: 30_000, ...changes })
  const takeOne = async (outbox = ours): Promise<LeasedDelivery> => {
    const [taken] = await take(outbox)
    if (taken === undefined) throw new Error('Nothing is due')
    return taken
  }
  const idsOf = (deliveries: readonly { readonly id: string }[]) => deliveries.map(({ id }) => id)
  const look = async (account = 'a') => (await ours.list(account, { limit: 1 }))[0]
  const delivered = { state: 'delivered', status: 204, error: null } as const

  it('leases each delivery once across instances', async () => {
    const ids = await write(200)
    const rounds = Array.from({ length: 16 }, (_, at) =>
      take(at % 2 === 0 ? ours : theirs, { limit: 20, limitPerAccount: 20 }),
    )
    const first = (await Promise.all(rounds)).flat()
    const rest = await take()
    expect([...idsOf(first), ...idsOf(rest)].sort()).toEqual([...ids].sort())
    expect(await take(theirs)).toEqual([])
  })

  it('leases the oldest first, with its endpoint', async () => {
    const ids = await write(3)
    const taken = await take(ours, { limitPerAccount: 2 })
    expect(idsOf(taken)).toEqual(ids.slice(0, 2))
    expect(taken[0]?.endpoint).toEqual({ accountId: 'a', url, sealedSecrets: [sealedSecret], isGone: false })
  })

  it('respects the limit per account, and skips excluded accounts', async () => {
    await write(50, 'a')
    const [own] = await write(1, 'b')
    const taken = await take(ours, { limit: 10, limitPerAccount: 4 })
    expect(taken.filter(({ accountId }) => accountId === 'a')).toHaveLength(4)
    expect(idsOf(taken)).toContain(own)
    expect(await take(ours, { except: ['a', 'b'] })).toEqual([])
    expect(await take(ours, { limit: 7, limitPerAccount: 40 })).toHaveLength(7)
  })

  it('leases again what a dead instance had leased, after expiry', async () => {
    const ids = await write(2)
    await take(theirs, { leaseMs: 60_000 })
    await pass('59 seconds')
    expect(await take()).toEqual([])
    await pass('1 second')
    expect(idsOf(await take())).toEqual(ids)
  })

  it('ignores `finish` with an outdated lease', async () => {
    await write(1)
    const late = await takeOne(theirs)
    await pass('1 minute')
    const taken = await takeOne()
    await theirs.finish(late, { state: 'failed', status: 500, error: null, isGone: false })
    await theirs.returnToQueue(late)
    expect(await look()).toMatchObject({ state: 'waiting', attempts: 0 })
    expect(await take()).toEqual([])
    await ours.finish(taken, delivered)
    expect(await look()).toMatchObject({ state: 'delivered', attempts: 1, dueAt: null, lastStatus: 204 })
  })

  it('makes a failed attempt due again after its delay', async () => {
    await write(1)
    await ours.finish(await takeOne(), {
      state: 'waiting',
      status: null,
      error: 'No answer',
      retryInMs: 300_000,
    })
    expect(await look()).toMatchObject({
      attempts: 1,
      lastError: 'No answer',
      lastAttemptAt: expect.any(Date),
    })
    await pass('299 seconds')
    expect(await take()).toEqual([])
    await pass('1 second')
    expect(await takeOne()).toMatchObject({ attempts: 1 })
  })

  it('makes a returned delivery due immediately, without counting an attempt', async () => {
    await write(1)
    await ours.returnToQueue(await takeOne())
    expect(await takeOne(theirs)).toMatchObject({ attempts: 0 })
  })

  it('fails all waiting deliveries of an endpoint that is gone, until a URL is set again', async () => {
    await write(3, 'a')
    await write(1, 'b')
    const [taken] = await take(ours, { limitPerAccount: 1, except: ['b'] })
    if (taken === undefined) throw new Error('Nothing is due')
    await ours.finish(taken, { state: 'failed', status: 410, error: null, isGone: true })
    expect((await ours.list('a', { limit: 9 })).map(({ state }) => state)).toEqual([
      'failed',
      'failed',
      'failed',
    ])
    expect(await ours.findEndpoint('a')).toMatchObject({ isGone: true })
    expect(idsOf(await take()).length).toBe(1)
    await ours.setEndpoint('a', { url, sealedSecret })
    expect(await ours.findEndpoint('a')).toMatchObject({ isGone: false })
  })

  it("does not mark a new URL as gone for the old one's response", async () => {
    await write(1)
    const taken = await takeOne()
    await ours.setEndpoint('a', { url: 'https://new.example/', sealedSecret })
    await ours.finish(taken, { state: 'failed', status: 410, error: null, isGone: true })
    expect(await ours.findEndpoint('a')).toMatchObject({ isGone: false })
  })

  it('signs with both secrets after a rotation, and with the new one alone after the overlap', async () => {
    const next = Buffer.from('sealed-2')
    expect(await ours.rotateSecret('a', next, 86_400_000)).toBe(true)
    expect((await ours.findEndpoint('a'))?.sealedSecrets).toEqual([next, sealedSecret])
    await pool.query("update webhook_endpoints set previous_until = previous_until - interval '1 day'")
    expect((await ours.findEndpoint('a'))?.sealedSecrets).toEqual([next])
    expect((await ours.findEndpoint('b'))?.sealedSecrets).toEqual([sealedSecret])
    expect(await ours.rotateSecret('nobody', next, 1)).toBe(false)
  })

  it('drops all secrets when a URL is set, and all waiting deliveries when it is removed', async () => {
    await ours.rotateSecret('a', Buffer.from('sealed-2'), 86_400_000)
    await ours.setEndpoint('a', { url, sealedSecret: Buffer.from('sealed-3') })
    expect((await ours.findEndpoint('a'))?.sealedSecrets).toEqual([Buffer.from('sealed-3')])

    await write(1, 'a')
    await write(1, 'b')
    await ours.setEndpoint('a', null)
    expect(await ours.findEndpoint('a')).toBeNull()
    expect(await look('a')).toMatchObject({
      state: 'failed',
      dueAt: null,
      lastError: 'The webhook was removed',
    })
    expect(await look('b')).toMatchObject({ state: 'waiting' })
  })

  it('pages through the deliveries of an account, newest first', async () => {
    const ids = (await write(5, 'a')).toReversed()
    await write(3, 'b')
    expect(idsOf(await ours.list('a', { limit: 2 }))).toEqual(ids.slice(0, 2))
    expect(idsOf(await ours.list('a', { limit: 9, before: ids[1] }))).toEqual(ids.slice(2))
  })

  it('does not expose deliveries of another account', async () => {
    const [id = ''] = await write(1, 'a')
    expect(await ours.list('b', { limit: 9 })).toEqual([])
    await write(1, 'b')
    await pool.query(
      "update webhook_deliveries set created_at = created_at - interval '1 hour' where account_id = 'b'",
    )
    expect(await ours.list('b', { limit: 9, before: id })).toEqual([])
    expect(await ours.redeliver('b', id)).toBeNull()
    expect(await ours.redeliver('a', 'no id')).toBeNull()
    expect(await ours.redeliver('a', randomUUID())).toBeNull()
  })

  it('redelivers a finished delivery, starting at the first attempt', async () => {
    const [id = ''] = await write(1)
    await ours.finish(await takeOne(), { state: 'failed', status: 500, error: null, isGone: false })
    expect(await ours.redeliver('a', id)).toMatchObject({
      id,
      state: 'waiting',
      attempts: 0,
      lastStatus: 500,
    })
    expect(await takeOne()).toMatchObject({ id, attempts: 0 })
  })

  it('does not redeliver concurrently with an attempt in flight', async () => {
    const [id = ''] = await write(1)
    const taken = await takeOne()
    await ours.redeliver('a', id)
    expect(await take(theirs)).toEqual([])
    await ours.finish(taken, delivered)
    expect(await look()).toMatchObject({ state: 'delivered' })
  })

  it('keeps finished deliveries for 30 days, and waiting ones without limit', async () => {
    const [old, waiting] = await write(2)
    await ours.finish(await takeOne(), delivered)
    await pool.query("update webhook_deliveries set created_at = now() - interval '29 days'")
    await ours.purge()
    expect(await ours.list('a', { limit: 9 })).toHaveLength(2)
    await pool.query("update webhook_deliveries set created_at = now() - interval '31 days'")
    await ours.purge()
    expect(old).toBeDefined()
    expect(idsOf(await ours.list('a', { limit: 9 }))).toEqual([waiting])
  })

  it('leaves an event alone that was written while its endpoint was removed', async () => {
    const [id] = await write(1, 'without an endpoint')
    const [own] = await write(1, 'a')
    expect(idsOf(await take())).toEqual([own])
    const { rows } = await pool.query('select lease, is_ready from webhook_deliveries where id = $1', [id])
    expect(rows).toEqual([{ lease: null, is_ready: true }])
  })

  it('deletes expired deliveries in batches, and stops between two of them on shutdown', async () => {
    await pool.query(
      `insert into webhook_deliveries (account_id, type, data, state, due_at, created_at)
       select 'a', 'settlement.confirmed', '{}', 'delivered', null, now() - interval '31 days'
       from generate_series(1, 12000)`,
    )
    const count = async () => (await pool.query('select 1 from webhook_deliveries')).rowCount
    const stopping = new AbortController()
    const purge = ours.purge(stopping.signal)
    stopping.abort()
    await purge
    expect(await count()).toBe(7_000)
    await ours.purge()
    expect(await count()).toBe(0)
  })
})
