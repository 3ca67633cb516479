import type { Pool, PoolClient } from 'pg'
import { beforeEach, describe, expect, it } from 'vitest'
import type { FeedEvent } from '../../../../src/ports/webhookOutbox.js'
import { createSettlementJournal } from '../../../../src/stores/postgres/journal/settlementJournal.js'
import { createEventFeed } from '../../../../src/stores/postgres/webhooks/webhookEvents.js'
import { createWebhookOutbox } from '../../../../src/stores/postgres/webhooks/webhookOutbox.js'
import { claimOf } from '../../../support/claimOf.js'
import { emptyTables } from '../../../support/emptyTables.js'
import { addInstance } from '../../../support/instances.js'
import { useTestDatabase } from '../../../support/postgres.js'

describe('the event feed', () => {
  const { pool } = useTestDatabase()
  const feed = createEventFeed(pool)
  beforeEach(() =>
    emptyTables(pool, 'settlements', 'webhook_endpoints', 'webhook_deliveries', 'event_counters'),
  )

  const enqueue = (name: string, accountId = 'a') =>
    createWebhookOutbox(pool).enqueue({ accountId, type: `test.${name}`, data: { name } })
  const insert = (client: Pool | PoolClient, name: string) =>
    client.query(
      `insert into webhook_deliveries (account_id, type, data, state, due_at)
       values ('a', $1, '{}', 'stored', null)`,
      [`test.${name}`],
    )
  const readAll = async (limit = 100, accountId = 'a'): Promise<readonly FeedEvent[]> => {
    const found: FeedEvent[] = []
    for (;;) {
      const page = await feed.read(accountId, { after: found.at(-1)?.position ?? 0n, limit })
      if (page === null || page.length === 0) return found
      found.push(...page)
    }
  }
  const namesOf = (events: readonly FeedEvent[]) => events.map(({ type }) => type.slice('test.'.length))

  it('has events of an account without a webhook, oldest first, the same on every read', async () => {
    for (const name of ['1', '2', '3', '4', '5']) await enqueue(name)
    await enqueue('other', 'b')
    const events = await readAll(2)
    expect(namesOf(events)).toEqual(['1', '2', '3', '4', '5'])
    expect(await readAll(100)).toEqual(events)
    await enqueue('6')
    const after = events.at(-1)?.position ?? 0n
    expect(namesOf((await feed.read('a', { after, limit: 9 })) ?? [])).toEqual(['6'])
    expect(namesOf(await readAll(9, 'b'))).toEqual(['other'])
  })

  it('has settlement events of accounts, and none of anonymous callers', async () => {
    const journal = createSettlementJournal(pool, await addInstance(pool))
    for (const caller of ['a', 'anonymous']) {
      const claimed = await journal.claim(claimOf({ caller }))
      await journal.close(claimed?.id ?? '', { state: 'failed', reason: 'insufficient_funds' })
    }
    expect((await readAll()).map(({ type }) => type)).toEqual(['settlement.failed'])
    const { rows } = await pool.query('select account_id, state from webhook_deliveries')
    expect(rows).toEqual([{ account_id: 'a', state: 'stored' }])
  })

  it('selects the events of one settlement, for its account alone', async () => {
    const journal = createSettlementJournal(pool, await addInstance(pool))
    const ids: string[] = []
    for (const caller of ['a', 'a', 'b']) {
      const claimed = await journal.claim(claimOf({ caller }))
      ids.push(claimed?.id ?? '')
      await journal.close(ids.at(-1) ?? '', { state: 'failed', reason: 'insufficient_funds' })
      await enqueue('other')
    }
    const [, second, foreign] = ids
    const page = { after: 0n, limit: 1 }
    const found = await feed.read('a', { ...page, settlementId: second })
    expect(found).toMatchObject([{ type: 'settlement.failed', data: { id: second } }])
    const after = found?.[0]?.position ?? 0n
    expect(await feed.read('a', { ...page, after, settlementId: second })).toEqual([])
    expect(await feed.read('a', { ...page, settlementId: foreign })).toEqual([])
  })

  it('never passes over an event that was inserted before others and committed after them', async () => {
    const slow = await pool.connect()
    await slow.query('begin')
    await insert(slow, 'slow')
    await insert(pool, 'quick')
    const first = await readAll()
    expect(namesOf(first)).toEqual(['quick'])
    await slow.query('commit')
    slow.release()
    const after = first.at(-1)?.position ?? 0n
    expect(namesOf((await feed.read('a', { after, limit: 9 })) ?? [])).toEqual(['slow'])
  })

  it('gives concurrent readers the same order, and each event one position', async () => {
    for (let at = 0; at < 40; at += 1) await insert(pool, String(at))
    const read = await Promise.all(Array.from({ length: 6 }, () => readAll(7)))
    const [expected] = read
    expect(expected).toHaveLength(40)
    for (const events of read) expect(events).toEqual(expected)
    expect(new Set(expected?.map(({ position }) => position)).size).toBe(40)
  })

  it('keeps positions when old events are purged', async () => {
    await insert(pool, 'old')
    const [old] = await readAll()
    await pool.query("update webhook_deliveries set created_at = now() - interval '31 days'")
    await createWebhookOutbox(pool).purge()
    expect(await readAll()).toEqual([])
    await insert(pool, 'new')
    const [event] = await readAll()
    expect(event?.position).toBeGreaterThan(old?.position ?? 0n)
  })

  it('is null after a position that it never had', async () => {
    await insert(pool, '1')
    expect(await feed.read('a', { after: 1_000n, limit: 9 })).toBeNull()
    expect(await feed.read('b', { after: 1n, limit: 9 })).toBeNull()
    expect(await feed.read('b', { after: 0n, limit: 9 })).toEqual([])
  })

  it('skips to its end', async () => {
    await insert(pool, '1')
    await insert(pool, '2')
    const { position, isEnd } = await feed.skip('a')
    expect(isEnd).toBe(true)
    await insert(pool, '3')
    expect(namesOf((await feed.read('a', { after: position, limit: 9 })) ?? [])).toEqual(['3'])
  })

  it('is unaffected by deliveries; what was stored is neither delivered nor listed, until it is redelivered', async () => {
    const outbox = createWebhookOutbox(pool)
    await enqueue('stored')
    await outbox.setEndpoint('a', { url: 'https://a.example/', sealedSecret: Buffer.from('s') })
    await enqueue('sent')
    const request = { limit: 9, limitPerAccount: 9, except: [], leaseMs: 3_600_000 }
    expect((await outbox.leaseDue(request)).map(({ type }) => type)).toEqual(['test.sent'])
    expect((await outbox.list('a', { limit: 9 })).map(({ type }) => type)).toEqual(['test.sent'])
    const [stored] = await outbox.list('a', { limit: 9, state: 'stored' })
    expect(stored).toMatchObject({ type: 'test.stored', state: 'stored', dueAt: null })
    expect(namesOf(await readAll())).toEqual(['stored', 'sent'])
    await outbox.redeliver('a', stored?.id ?? '')
    expect((await outbox.leaseDue(request)).map(({ type }) => type)).toEqual(['test.stored'])
  })
})
