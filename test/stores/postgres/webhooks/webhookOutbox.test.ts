import { randomUUID } from 'node:crypto'
import { beforeEach, describe, expect, it } from 'vitest'
import { z } from 'zod'
import { measureWaitingWebhooks } from '../../../../src/stores/postgres/webhooks/waitingWebhooks.js'
import { createWebhookOutbox } from '../../../../src/stores/postgres/webhooks/webhookOutbox.js'
import { describeWebhookOutbox } from '../../../contracts/webhookOutboxContract.js'
import { emptyTables } from '../../../support/emptyTables.js'
import { useTestDatabase } from '../../../support/postgres.js'

const { pool, otherPool } = useTestDatabase()
const ours = createWebhookOutbox(pool)
const theirs = createWebhookOutbox(otherPool)

const empty = () => emptyTables(pool, 'webhook_endpoints', 'webhook_deliveries')

const identified = z.tuple([
  z.object({ id: z.string(), earliest: z.coerce.number(), latest: z.coerce.number() }),
])

const write = async (accountId: string) => {
  const id = randomUUID()
  await pool.query(
    "insert into webhook_deliveries (id, account_id, type, data) values ($1, $2, 'settlement.confirmed', '{}')",
    [id, accountId],
  )
  return id
}

describeWebhookOutbox('the webhook outbox', async () => {
  await empty()
  return {
    outbox: ours,
    theirs,
    write,
    // The database's clock cannot be moved, so the stored times are moved back instead.
    pass: async (milliseconds) => {
      const interval = `${milliseconds} milliseconds`
      await pool.query('update webhook_deliveries set due_at = due_at - $1::interval', [interval])
      await pool.query('update webhook_endpoints set previous_until = previous_until - $1::interval', [
        interval,
      ])
    },
    close: async () => undefined,
  }
})

describe('the webhook outbox', () => {
  beforeEach(async () => {
    await empty()
    await ours.setEndpoint('a', { url: 'https://a.example/hook', sealedSecret: Buffer.from('sealed-1') })
  })

  const take = (outbox = ours, limit = 100) =>
    outbox.leaseDue({ limit, limitPerAccount: limit, except: [], leaseMs: 60_000 })
  const idsOf = (deliveries: readonly { readonly id: string }[]) => deliveries.map(({ id }) => id)

  it('leases each delivery once across instances', async () => {
    const ids = await Promise.all(Array.from({ length: 200 }, () => write('a')))
    const rounds = Array.from({ length: 16 }, (_, at) => take(at % 2 === 0 ? ours : theirs, 20))
    const first = (await Promise.all(rounds)).flat()
    const rest = await take()
    expect([...idsOf(first), ...idsOf(rest)].sort()).toEqual(ids.sort())
    expect(await take(theirs)).toEqual([])
  })

  it('gives events ids in order of time, which are unique in a millisecond too', async () => {
    await ours.enqueue({ accountId: 'a', type: 'webhook.test', data: {} })
    const { rows } = await pool.query(
      `select id, floor(extract(epoch from created_at) * 1000) as earliest,
         floor(extract(epoch from clock_timestamp()) * 1000) as latest from webhook_deliveries`,
    )
    const [{ id, earliest, latest }] = identified.parse(rows)
    expect(id).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/)
    const time = Number.parseInt(id.replace('-', '').slice(0, 12), 16)
    expect(time).toBeGreaterThanOrEqual(earliest)
    expect(time).toBeLessThanOrEqual(latest)

    const { rows: many } = await pool.query('select time_ordered_uuid() as id from generate_series(1, 10000)')
    expect(new Set(many.map((row) => String(row.id))).size).toBe(10_000)
  })

  it('says of the waiting deliveries of a removed endpoint that it was removed', async () => {
    await write('a')
    await ours.setEndpoint('a', null)
    expect(await ours.list('a', { limit: 1 })).toMatchObject([{ lastError: 'The webhook was removed' }])
  })

  it('keeps finished deliveries for 30 days, and waiting ones without limit', async () => {
    await write('a')
    const [taken] = await take()
    if (taken === undefined) throw new Error('Nothing is due')
    await ours.finish(taken, { state: 'delivered', status: 204, error: null })
    const waiting = await write('a')
    await pool.query("update webhook_deliveries set created_at = now() - interval '29 days'")
    await ours.purge()
    expect(await ours.list('a', { limit: 9 })).toHaveLength(2)
    await pool.query("update webhook_deliveries set created_at = now() - interval '31 days'")
    await ours.purge()
    expect(idsOf(await ours.list('a', { limit: 9 }))).toEqual([waiting])
  })

  it('leaves an event alone that was written while its endpoint was removed', async () => {
    const id = await write('without an endpoint')
    const own = await write('a')
    expect(idsOf(await take())).toEqual([own])
    const { rows } = await pool.query('select lease, is_ready from webhook_deliveries where id = $1', [id])
    expect(rows).toEqual([{ lease: null, is_ready: true }])
  })

  it('tells a receiver that is slow from a service that is late', async () => {
    const isLate = async () => {
      const { oldestDueSeconds, unattendedSeconds } = await measureWaitingWebhooks(pool)
      return { oldest: oldestDueSeconds >= 1_200, unattended: unattendedSeconds >= 1_200 }
    }
    await Promise.all([write('a'), write('a'), write('a')])
    await pool.query("update webhook_deliveries set due_at = now() - interval '20 minutes'")
    expect(await isLate()).toEqual({ oldest: true, unattended: true })

    const [taken] = await take(ours, 1)
    if (taken === undefined) throw new Error('Nothing is due')
    expect(await isLate()).toEqual({ oldest: true, unattended: false })
    await ours.finish(taken, { state: 'waiting', retryInMs: 60_000, status: null, error: 'timed out' })
    expect(await isLate()).toEqual({ oldest: true, unattended: false })

    // That one receiver is slow hides no other one that waits.
    await ours.setEndpoint('b', { url: 'https://b.example/hook', sealedSecret: Buffer.from('sealed-2') })
    const other = await write('b')
    await pool.query("update webhook_deliveries set due_at = now() - interval '20 minutes' where id = $1", [
      other,
    ])
    expect(await isLate()).toEqual({ oldest: true, unattended: true })
    await ours.setEndpoint('b', null)
    await pool.query(
      "update webhook_deliveries set last_attempt_at = now() - interval '16 minutes' where lease is null",
    )
    expect(await isLate()).toEqual({ oldest: true, unattended: true })
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

  it('deletes expired deliveries beside one that another statement has locked', async () => {
    const [locked] = [await write('a'), await write('a')]
    await pool.query(
      "update webhook_deliveries set state = 'delivered', due_at = null, created_at = now() - interval '31 days'",
    )
    const client = await otherPool.connect()
    try {
      await client.query('begin')
      await client.query('select from webhook_deliveries where id = $1 for update', [locked])
      await ours.purge()
      expect(idsOf(await ours.list('a', { limit: 9 }))).toEqual([locked])
    } finally {
      await client.query('rollback')
      client.release()
    }
  })
})
