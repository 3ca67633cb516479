import { randomUUID } from 'node:crypto'
import { beforeEach, describe, expect, it } from 'vitest'
import type { Intent } from '../../../../src/ports/intentStore.js'
import { createIntentStore } from '../../../../src/stores/postgres/intents/intentStore.js'
import { createSettlementJournal } from '../../../../src/stores/postgres/journal/settlementJournal.js'
import { claimOf } from '../../../support/claimOf.js'
import { emptyTables } from '../../../support/emptyTables.js'
import { addInstance } from '../../../support/instances.js'
import { intentOf, requirementsOf, routeOf } from '../../../support/intentOf.js'
import { useTestDatabase } from '../../../support/postgres.js'

const now = new Date('2026-01-01T00:30:00Z')

describe('intents in Postgres', () => {
  const { pool } = useTestDatabase()
  beforeEach(() => emptyTables(pool, 'intents', 'webhook_deliveries'))

  const open = () => createIntentStore(pool)
  const add = async (changes: Partial<Intent> = {}): Promise<Intent> => {
    const intent = intentOf(changes)
    await open().create({ intent, event: null })
    return intent
  }
  const countEvents = async () =>
    (await pool.query<{ type: string }>('select type from webhook_deliveries')).rows.map(({ type }) => type)

  it.each(['pending', 'routed', 'executing', 'completed', 'failed', 'expired', 'cancelled'] as const)(
    'are read as they were written when %s',
    async (status) => {
      const intent = await add({
        status,
        terms: {
          payer: { eip155: '0x18', solana: 'So1' },
          payee: 'bob',
          amount: '1',
          asset: 'USDC',
          sourceNetworks: ['base'],
          // jsonb would refuse it.
          metadata: { order: '4711', note: '\u0000', nested: { list: [1, null] } },
        },
        plan: {
          ...intentOf().plan,
          unavailable: [{ network: 'toy:2', scheme: 'exact', reason: 'testnet', message: 'Worthless' }],
        },
      })
      expect(await open().find(intent.id)).toEqual(intent)
    },
  )

  it('are found by their id only', async () => {
    await add()
    expect(await open().find(randomUUID())).toBeNull()
    expect(await open().find('x')).toBeNull()
    expect(await open().change('x', (intent) => ({ intent, event: null }))).toBeNull()
  })

  it('change one after the other, and each change sees the one before', async () => {
    const { id } = await add()
    const append = () =>
      open().change(id, (intent) => ({
        intent: { ...intent, transaction: `${intent.transaction ?? ''}x` },
        event: null,
      }))
    await Promise.all(Array.from({ length: 8 }, append))
    expect((await open().find(id))?.transaction).toBe('xxxxxxxx')
  })

  it('do not change, and report nothing, if the decision throws', async () => {
    const intent = await add({ caller: 'account' })
    const deciding = open().change(intent.id, () => {
      throw new Error('No')
    })
    await expect(deciding).rejects.toThrow('No')
    expect(await open().find(intent.id)).toEqual(intent)
    expect(await countEvents()).toEqual([])
  })

  it('report a change in its transaction, to accounts only', async () => {
    const mine = await add({ caller: 'account' })
    const anonymous = await add()
    for (const { id } of [mine, anonymous]) {
      await open().change(id, (intent) => ({
        intent: { ...intent, status: 'cancelled', closedAt: now },
        event: { type: 'intent.cancelled', data: { id } },
      }))
    }
    expect(await countEvents()).toEqual(['intent.cancelled'])
  })

  it('are executed by a settlement once: the database refuses another intent', async () => {
    const { payment } = await add({ status: 'executing' })
    const second = await add({ status: 'routed' })
    const binding = open().change(second.id, (intent) => ({
      intent: { ...intent, status: 'executing', payment },
      event: null,
    }))
    await expect(binding).rejects.toThrow(/intents_settlement_id_key/)
  })

  it('are listed by account and status, newest first, without what is overdue', async () => {
    const at = (minute: number) => new Date(Date.UTC(2026, 0, 1, 0, minute))
    const first = await add({ caller: 'account', createdAt: at(1) })
    const second = await add({ caller: 'account', createdAt: at(2), status: 'cancelled' })
    const overdue = await add({ caller: 'account', createdAt: at(3), expiresAt: at(30) })
    await add({ caller: 'another', createdAt: at(4) })
    const list = async (query: object) =>
      (await open().list({ caller: 'account', limit: 10, now, ...query })).map(({ id }) => id)
    expect(await list({})).toEqual([overdue.id, second.id, first.id])
    expect(await list({ status: 'pending' })).toEqual([first.id])
    expect(await list({ status: 'cancelled' })).toEqual([second.id])
    expect(await list({ before: overdue.id, limit: 1 })).toEqual([second.id])
    expect(await list({ before: randomUUID() })).toEqual([])
  })

  it('are overdue at the end of their time, until they are paid', async () => {
    const expiresAt = now
    const [pending, routed] = [await add({ expiresAt }), await add({ expiresAt, status: 'routed' })]
    await add({ expiresAt, status: 'executing' })
    await add({ expiresAt: new Date(now.getTime() + 1) })
    const later = new Date(now.getTime() + 900_000)
    const sentByPayer = await add({ expiresAt, endsAt: later, status: 'routed', caller: 'sender' })
    expect(
      (await open().list({ caller: 'sender', status: 'routed', limit: 10, now })).map(({ id }) => id),
    ).toEqual([sentByPayer.id])
    const overdue = await open().listOverdue(now, 10)
    expect(overdue.map(({ id }) => id).toSorted()).toEqual([pending.id, routed.id].toSorted())
    expect((await open().listOverdue(later, 10)).map(({ id }) => id)).toContain(sentByPayer.id)
  })

  it.each(['routed', 'expired'] as const)(
    'stay cancelled where an older version, which does not know of the cancellation, made them %s',
    async (status) => {
      const cancelledAt = new Date('2026-01-01T00:10:00Z')
      const { id } = await add({
        status,
        selected: { route: routeOf(), requirements: requirementsOf() },
        cancelledAt,
      })
      expect(await open().find(id)).toMatchObject({ status: 'cancelled', closedAt: cancelledAt })
      const listed = await open().list({ caller: 'anonymous', limit: 10, now })
      expect(listed).toMatchObject([{ status: 'cancelled' }])
      const listAs = (shown: typeof status | 'cancelled') =>
        open().list({ caller: 'anonymous', status: shown, limit: 10, now })
      expect(await listAs('cancelled')).toHaveLength(1)
      expect(await listAs(status)).toEqual([])
      // The job that ends what is overdue writes it down.
      await open().change(id, (intent) => ({ intent, event: null }))
      const { rows } = await pool.query('select status, closed_at from intents')
      expect(rows).toEqual([{ status: 'cancelled', closed_at: cancelledAt }])
    },
  )

  it('are settled when their settlement ended', async () => {
    const journal = createSettlementJournal(pool, await addInstance(pool))
    const executing = async () => {
      const claimed = await journal.claim(claimOf())
      if (claimed === null) throw new Error('It was not claimed')
      const payment = { settlementId: claimed.id, authorizationId: claimed.authorizationId }
      return await add({ status: 'executing', payment })
    }
    const [open1, failed] = [await executing(), await executing()]
    await journal.abandon(failed.payment?.settlementId ?? '')
    expect((await open().listSettled(10)).map(({ id }) => id)).toEqual([failed.id])
    await journal.abandon(open1.payment?.settlementId ?? '')
    expect(await open().listSettled(10)).toHaveLength(2)
  })

  it('are purged some time after they ended, those without a payment earlier', async () => {
    const closedAt = new Date('2025-01-01T00:00:00Z')
    const earlier = new Date('2024-12-31T23:00:00Z')
    await add({ status: 'failed', closedAt: earlier })
    await add({ status: 'expired', closedAt })
    const kept = [
      await add(),
      await add({ status: 'completed', closedAt }),
      await add({ status: 'cancelled', closedAt: now }),
    ]
    await open().purge({ paid: closedAt, unpaid: now })
    const { rows } = await pool.query<{ id: string }>('select id from intents')
    expect(rows.map(({ id }) => id).toSorted()).toEqual(kept.map(({ id }) => id).toSorted())
  })
})
