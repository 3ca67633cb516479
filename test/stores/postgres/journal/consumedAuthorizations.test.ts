import { beforeAll, describe, expect, it } from 'vitest'
import type { Closing, Settlement, SettlementJournal } from '../../../../src/ports/settlementJournal.js'
import { createSettlementJournal } from '../../../../src/stores/postgres/journal/settlementJournal.js'
import { findMissingRows } from '../../../../src/stores/postgres/reconciliation/missingRows.js'
import { migrationsFolder } from '../../../../src/stores/stores.js'
import { claimOf } from '../../../support/claimOf.js'
import { addInstance } from '../../../support/instances.js'
import { migrateAfterOldest } from '../../../support/migrateAfterOldest.js'
import { useTestDatabase } from '../../../support/postgres.js'
import { withoutConsumed } from '../../../support/withoutConsumed.js'

const always = { from: new Date(0), to: new Date('2100-01-01T00:00:00Z') }
const block = { number: 7n, hash: '0xb7' }

describe('consumed authorizations', () => {
  const { pool } = useTestDatabase()
  let journal: SettlementJournal
  beforeAll(async () => {
    journal = createSettlementJournal(pool, await addInstance(pool))
  })

  const settle = async (closing?: Closing, consumer?: string): Promise<Settlement> => {
    const settlement = await journal.claim(claimOf())
    if (settlement === null) throw new Error('The authorization has a row')
    if (closing !== undefined) await journal.close(settlement.id, closing, consumer)
    return settlement
  }
  const confirmed = { state: 'confirmed', transaction: '0x1' } as const

  it('are those of an older version too, once it is upgraded', async () => {
    const earned: Pick<Settlement, 'authorizationId'>[] = [
      await settle(confirmed),
      await settle({ ...confirmed, block }, 'request:1'),
    ]
    const others = [
      await settle(),
      await settle({ state: 'failed', reason: 'insufficient_funds' }),
      await settle({ ...confirmed, block }),
    ]
    await pool.query(withoutConsumed)
    // The older version settles on.
    earned.push(await settleWithoutDigests())
    await migrateAfterOldest(pool, migrationsFolder)
    for (const { authorizationId } of earned) expect(await journal.isConsumed(authorizationId)).toBe(true)
    for (const { authorizationId } of others) expect(await journal.isConsumed(authorizationId)).toBe(false)
    const found = await findMissingRows(pool, always)
    expect(found.differences.filter(({ kind }) => kind !== 'payment_duplicated')).toEqual([])
  })

  const settleWithoutDigests = async () => {
    const { rows } = await pool.query<{ authorization_id: string }>(
      `insert into settlements select (jsonb_populate_record(s, jsonb_build_object('id', gen_random_uuid(),
         'authorization_id', 'older'))).* from settlements s where state = 'confirmed' and consumed_by is not null limit 1
       returning authorization_id`,
    )
    return { authorizationId: rows[0]?.authorization_id ?? '' }
  }

  it('stay when the settlement is deleted, and open none again among others that are free', async () => {
    const { id, authorizationId } = await settle(confirmed, 'request:1')
    await pool.query('delete from settlements where id = $1', [id])
    const claims = await Promise.all([
      journal.claim(claimOf({ authorizationId })),
      journal.claim(claimOf()),
      journal.claim(claimOf({ authorizationId })),
    ])
    expect(claims.map((each) => each !== null)).toEqual([false, true, false])
  })

  it('use no quota when they are claimed again', async () => {
    const { id, authorizationId } = await settle(confirmed, 'request:1')
    await pool.query('delete from settlements where id = $1', [id])
    const tier = { monthlyQuota: 1, feeRate: 0 }
    const quota = { tier, at: new Date() }
    expect(await journal.claim(claimOf({ authorizationId, caller: 'ada' }), quota)).toBeNull()
    expect(await journal.claim(claimOf({ caller: 'ada' }), quota)).not.toBeNull()
  })

  it('show a payment that was changed into a claim that a reorg took back', async () => {
    const { id, authorizationId } = await settle(confirmed, 'request:1')
    await pool.query(
      `update settlements set state = 'failed', consumed_by = null, settled_amount = null, reason = 'transaction_failed',
         details = details || '{"isShared": true}' where id = $1`,
      [id],
    )
    const { differences } = await findMissingRows(pool, always)
    const kinds = differences.filter(({ settlementId }) => settlementId === id).map(({ kind }) => kind)
    expect(kinds).toEqual(['authorization_differs'])
    expect(await journal.claim(claimOf({ authorizationId }))).toBeNull()
  })
})
