import { beforeEach, describe, expect, it } from 'vitest'
import type {
  Settlement,
  SettlementClaim,
  SettlementJournal,
} from '../../../../src/ports/settlementJournal.js'
import type { WebhookDelivery } from '../../../../src/ports/webhookOutbox.js'
import { isFields } from '../../../../src/protocol/fields.js'
import type { Reason } from '../../../../src/protocol/reasons.js'
import { createConfirmedBlocks } from '../../../../src/stores/postgres/journal/confirmedBlocks.js'
import { createSettlementJournal } from '../../../../src/stores/postgres/journal/settlementJournal.js'
import { createWebhookOutbox } from '../../../../src/stores/postgres/webhooks/webhookOutbox.js'
import { viewSettlement } from '../../../../src/usecases/core/describe/listSettlements.js'
import { claimOf } from '../../../support/claimOf.js'
import { emptyTables } from '../../../support/emptyTables.js'
import { addInstance, killInstance } from '../../../support/instances.js'
import { usePatientQueues } from '../../../support/patientQueues.js'
import { pollUntil } from '../../../support/pollUntil.js'
import { useTestDatabase } from '../../../support/postgres.js'

const caller = 'account-1'

describe('settlement events', () => {
  const { pool, otherPool } = useTestDatabase()
  usePatientQueues()
  let journal: SettlementJournal
  let instance: Awaited<ReturnType<typeof addInstance>>

  const outbox = createWebhookOutbox(pool)
  beforeEach(async () => {
    await emptyTables(pool, 'settlements', 'instances', 'webhook_endpoints', 'webhook_deliveries')
    instance = await addInstance(pool)
    journal = createSettlementJournal(pool, instance)
    await outbox.setEndpoint(caller, { url: 'https://a.example/', sealedSecret: Buffer.from('sealed') })
  })

  const claim = async (changes: Partial<SettlementClaim> = {}, by = journal): Promise<Settlement> => {
    const claimed = await by.claim(claimOf({ caller, ...changes }))
    if (claimed === null) throw new Error('Claimed by another')
    return claimed
  }
  const claimAndRecord = async (
    transaction: string,
    changes: Partial<SettlementClaim> = {},
    by = journal,
  ) => {
    const claimed = await claim(changes, by)
    await by.recorderFor(claimed.id).record({ transaction, bytes: `bytes of ${transaction}` })
    return claimed
  }
  const listEvents = async (account = caller): Promise<readonly WebhookDelivery[]> =>
    (await outbox.list(account, { limit: 100 })).toReversed()
  const listTypes = async (account = caller) => (await listEvents(account)).map(({ type }) => type)
  const view = async ({ id }: Settlement) => {
    const found = await journal.find(id)
    if (found === null) throw new Error('There is no such settlement')
    return viewSettlement(found)
  }

  it('contain the maximum of a settlement that moved a part of it, like the view', async () => {
    const settlement = await claimAndRecord('0x1', {
      scheme: 'upto',
      amount: 7_000n,
      authorizedAmount: 10_000n,
    })
    await journal.close(settlement.id, { state: 'confirmed', transaction: '0x1', settledAmount: 6_999n })
    const whole = await claimAndRecord('0x2', { scheme: 'upto', amount: 7_000n, authorizedAmount: 7_000n })
    await journal.close(whole.id, { state: 'confirmed', transaction: '0x2' })

    const events = await listEvents()
    expect(events.map(({ data }) => data)).toEqual([await view(settlement), await view(whole)])
    expect(events[0]?.data).toMatchObject({ amount: '6999', maxAmount: '10000' })
    expect(events[1]?.data).not.toHaveProperty('maxAmount')
  })

  it('contain the public view of a confirmed settlement, with its amount as text', async () => {
    const amount = 2n ** 255n
    const settlement = await claimAndRecord('0x1', { amount })

    await journal.close(settlement.id, { state: 'confirmed', transaction: '0x1' }, 'someone')

    const [event] = await listEvents()
    expect(event).toMatchObject({
      type: 'settlement.confirmed',
      state: 'waiting',
      attempts: 0,
      accountId: caller,
    })
    expect(event?.data).toEqual(await view(settlement))
    expect(event?.data).toMatchObject({ status: 'confirmed', transaction: '0x1', amount: String(amount) })
    expect(JSON.stringify(event)).not.toMatch(/bytes of|someone|authorization|fingerprint/)
  })

  it('contain the resource, and the Idempotency-Key of the request that received the success', async () => {
    const resource = 'https://shop.example/report'
    const settlement = await claimAndRecord('0x1', { resource })
    await journal.close(settlement.id, { state: 'confirmed', transaction: '0x1' }, `key:${caller}:order-1:2`)
    const [event] = await listEvents()
    expect(event?.data).toMatchObject({ resource, idempotencyKey: 'order-1:2' })
  })

  it('contain the reason of a failure, its message, its operational code and whether it is retryable', async () => {
    const settlement = await claimAndRecord('0x1')

    await journal.close(settlement.id, { state: 'failed', reason: 'settlement_displaced' })

    const [event] = await listEvents()
    expect(event?.type).toBe('settlement.failed')
    expect(event?.data).toEqual({
      ...(await view(settlement)),
      errorReason: 'settlement_displaced',
      errorMessage: expect.any(String),
      operationalCode: 'SVC-3002',
      retryable: true,
    })
  })

  it('are not retryable once the authorization has expired, or was executed without paying', async () => {
    const fail = async (reason: Reason, changes: Parameters<typeof claimAndRecord>[1]) => {
      const { id } = await claimAndRecord(`0x${reason}`, changes)
      await journal.close(id, { state: 'failed', reason })
      return (await listEvents()).map(({ data }) => data).find((data) => isFields(data) && data.id === id)
    }
    const [past, future] = [new Date(Date.now() - 60_000), new Date(Date.now() + 3_600_000)]
    expect(await fail('insufficient_funds', { expiresAt: past })).toMatchObject({ retryable: false })
    expect(await fail('insufficient_balance', { expiresAt: future })).toMatchObject({ retryable: true })
    expect(await fail('transfer_event_mismatch', { expiresAt: future })).toMatchObject({ retryable: false })
  })

  it('are written for a settlement abandoned before a send', async () => {
    const settlement = await claim()

    expect(await journal.abandon(settlement.id)).toBe(true)
    expect(await journal.abandon(settlement.id)).toBe(false)

    const [event, ...others] = await listEvents()
    expect(event).toMatchObject({ type: 'settlement.failed', data: await view(settlement) })
    expect(others).toEqual([])
  })

  it('are written once, by the closing that succeeded', async () => {
    const settlement = await claimAndRecord('0x1')

    const closed = await Promise.all(
      Array.from({ length: 20 }, () =>
        journal.close(settlement.id, { state: 'confirmed', transaction: '0x1' }),
      ),
    )

    expect(closed.filter(Boolean)).toHaveLength(1)
    expect(await listTypes()).toEqual(['settlement.confirmed'])
  })

  it("go to the settlement's account under concurrency, and to none without a webhook", async () => {
    const accounts = ['account-1', 'account-2', 'anonymous']
    await outbox.setEndpoint('account-2', { url: 'https://b.example/', sealedSecret: Buffer.from('s') })
    const settlements = await Promise.all(
      Array.from({ length: 60 }, (_, at) => claimAndRecord(`0x${at}`, { caller: accounts[at % 3] ?? '' })),
    )

    await Promise.all(
      settlements.map(({ id }, at) => journal.close(id, { state: 'confirmed', transaction: `0x${at}` })),
    )

    for (const [at, account] of accounts.entries()) {
      const told = (await listEvents(account)).map(({ data }) => data)
      const own = settlements.filter((_, index) => index % 3 === at && account !== 'anonymous')
      expect(told).toHaveLength(own.length)
      expect(told).toEqual(expect.arrayContaining(await Promise.all(own.map(view))))
    }
  })

  it('are not written when the closing does not happen', async () => {
    const settlement = await claimAndRecord('0x1')
    await pool.query(
      `create function refuse() returns trigger language plpgsql as $$ begin raise 'no'; end $$;
       create constraint trigger refuse_closing after update on settlements deferrable initially deferred
         for each row when (new.state = 'confirmed') execute function refuse()`,
    )

    const closing = journal.close(settlement.id, { state: 'confirmed', transaction: '0x1' })

    await expect(closing).rejects.toThrow()
    await pool.query('drop trigger refuse_closing on settlements; drop function refuse()')
    expect(await listTypes()).toEqual([])
  })

  it('cannot prevent a closing: neither by untrusted text nor by an existing event', async () => {
    const odd = '"\\u0000 \' \u{1F4A9} \u2028 {"a":1} %s'
    const settlement = await claimAndRecord('0x1', { payer: odd, payTo: odd, asset: odd, resource: odd })
    await journal.release(settlement.id)

    expect(await journal.close(settlement.id, { state: 'confirmed', transaction: '0x1' })).toBe(true)

    expect((await listEvents()).at(-1)?.data).toMatchObject({ payer: odd, payTo: odd, asset: odd })
  })

  it('keep their content when the settlement changes', async () => {
    const settlement = await claimAndRecord('0x1')
    await journal.release(settlement.id)
    await journal.close(settlement.id, { state: 'confirmed', transaction: '0x1' })

    const told = (await listEvents()).map(({ type, data }) => ({ type, data }))
    expect(told).toMatchObject([
      { type: 'settlement.pending', data: { status: 'pending' } },
      { type: 'settlement.confirmed', data: { status: 'confirmed' } },
    ])
  })

  it('are not written for an endpoint that is gone', async () => {
    await pool.query('update webhook_endpoints set gone_at = now()')
    const settlement = await claimAndRecord('0x1')
    await journal.close(settlement.id, { state: 'confirmed', transaction: '0x1' })
    expect(await listTypes()).toEqual([])
  })

  describe('of a pending settlement', () => {
    it('are written once, when it is released to the reconciler', async () => {
      const settlement = await claimAndRecord('0x1')
      for (let round = 0; round < 3; round++) await journal.release(settlement.id)
      const [event, ...others] = await listEvents()
      expect(event).toMatchObject({ type: 'settlement.pending', data: await view(settlement) })
      expect(others).toEqual([])
    })

    it('are written once across all instances', async () => {
      const settlement = await claimAndRecord('0x1')
      const theirs = createSettlementJournal(otherPool, await addInstance(pool))
      await killInstance(pool, instance)
      await Promise.all(
        Array.from({ length: 20 }, (_, at) => (at % 2 === 0 ? journal : theirs).release(settlement.id)),
      )
      expect(await listTypes()).toEqual(['settlement.pending'])
    })

    it('are written once, without an error, under concurrency', async () => {
      const settlement = await claimAndRecord('0x1')
      const other = await otherPool.connect()
      await other.query('begin')
      await other.query(
        `insert into webhook_deliveries (account_id, type, settlement_id, data)
         values ($1, 'settlement.pending', $2, '{}')`,
        [caller, settlement.id],
      )
      const releasing = journal.release(settlement.id)
      await pollUntil(async () => {
        const { rowCount } = await pool.query(
          "select 1 from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'",
        )
        return rowCount === 1
      }, 'the second to wait for the first')
      await other.query('commit')
      other.release()
      await releasing
      expect(await listTypes()).toEqual(['settlement.pending'])
    })

    it('are written by the reconciler when the owning instance died', async () => {
      const settlement = await claimAndRecord('0x1')
      const theirs = createSettlementJournal(otherPool, await addInstance(pool))
      await theirs.release(settlement.id)
      expect(await listTypes()).toEqual([])

      await killInstance(pool, instance)
      await theirs.release(settlement.id)
      expect(await listTypes()).toEqual(['settlement.pending'])
    })

    it('are not written before a send, nor when it is closed', async () => {
      const claimed = await claim()
      await journal.release(claimed.id)
      const closed = await claimAndRecord('0x1')
      await journal.close(closed.id, { state: 'failed', reason: 'settlement_displaced' })
      await journal.release(closed.id)
      expect(await listTypes()).toEqual(['settlement.failed'])
    })
  })

  describe('of an orphaned block', () => {
    const block = { number: 7n, hash: '0xb' }
    const paidBlock = { network: 'eip155:84532', scheme: 'exact', block }

    it('are written for each of its payments, which can be confirmed again', async () => {
      const settlement = await claimAndRecord('0x1')
      const closing = { state: 'confirmed', transaction: '0x1', block } as const
      await journal.close(settlement.id, closing)

      const reopened = await createConfirmedBlocks(pool).reopen(paidBlock)
      const [, event] = await listEvents()
      expect(reopened.map(({ id }) => id)).toEqual([settlement.id])
      expect(event).toMatchObject({ type: 'settlement.reorged', data: await view(settlement) })

      await journal.release(settlement.id)
      await journal.close(settlement.id, closing)
      expect(await listTypes()).toEqual([
        'settlement.confirmed',
        'settlement.reorged',
        'settlement.confirmed',
      ])
    })

    it('are written once under concurrency', async () => {
      const settlement = await claimAndRecord('0x1')
      await journal.close(settlement.id, { state: 'confirmed', transaction: '0x1', block })
      const both = [createConfirmedBlocks(pool), createConfirmedBlocks(otherPool)]
      await Promise.all(both.map((blocks) => blocks.reopen(paidBlock)))
      expect(await listTypes()).toEqual(['settlement.confirmed', 'settlement.reorged'])
    })
  })
})
