import { beforeEach, describe, expect, it } from 'vitest'
import type { SettlementJournal } from '../../../../src/ports/settlementJournal.js'
import type { SettlementFilter } from '../../../../src/ports/settlementOverview.js'
import { createSettlementJournal } from '../../../../src/stores/postgres/journal/settlementJournal.js'
import { createSettlementOverview } from '../../../../src/stores/postgres/journal/settlementOverview.js'
import { claimOf } from '../../../support/claimOf.js'
import { emptyTables } from '../../../support/emptyTables.js'
import { addInstance } from '../../../support/instances.js'
import { useTestDatabase } from '../../../support/postgres.js'

const network = 'eip155:84532'

describe('the overview of settlements', () => {
  const { pool } = useTestDatabase()
  let journal: SettlementJournal

  const overview = createSettlementOverview(pool)
  beforeEach(async () => {
    await emptyTables(pool, 'settlements', 'signer_lanes', 'instances')
    journal = createSettlementJournal(pool, await addInstance(pool))
  })

  /** A row with an age, in the given state. Ages are hours, so that their order is not that of a busy machine. */
  const put = async (
    state: 'claimed' | 'pending' | 'confirmed' | 'failed',
    { ageHours = 0, of = network }: { readonly ageHours?: number; readonly of?: string } = {},
  ): Promise<string> => {
    const settlement = await journal.claim(claimOf({ network: of }))
    if (settlement === null) throw new Error('It is claimed')
    const { id } = settlement
    if (state !== 'claimed') await journal.recorderFor(id).record({ transaction: `tx ${id}`, bytes: 'bytes' })
    if (state === 'confirmed') await journal.close(id, { state, transaction: `tx ${id}` })
    if (state === 'failed') await journal.close(id, { state, reason: 'insufficient_funds' })
    await pool.query("update settlements set created_at = now() - $2 * interval '1 hour' where id = $1", [
      id,
      ageHours,
    ])
    return id
  }
  const list = async (filter: Partial<SettlementFilter> = {}) =>
    (await overview.list({ status: 'pending', limit: 100, ...filter })).map(({ id }) => id)

  describe('list', () => {
    it('lists settlements of a status, claims as pending, newest first', async () => {
      const claimed = await put('claimed', { ageHours: 1 })
      const pending = await put('pending', { ageHours: 2 })
      const confirmed = await put('confirmed')
      const failed = await put('failed')
      expect(await list()).toEqual([claimed, pending])
      expect(await list({ status: 'confirmed' })).toEqual([confirmed])
      expect(await list({ status: 'failed' })).toEqual([failed])
      expect(await overview.list({ status: 'confirmed', limit: 1 })).toEqual([await journal.find(confirmed)])
    })

    it('filters by network and by creation time', async () => {
      const old = await put('pending', { ageHours: 9 })
      const fresh = await put('pending', { ageHours: 2 })
      const elsewhere = await put('pending', { of: 'eip155:1', ageHours: 1 })
      expect(await list()).toEqual([elsewhere, fresh, old])
      expect(await list({ network })).toEqual([fresh, old])
      const since = new Date(Date.now() - 5 * 3_600_000)
      expect(await list({ since })).toEqual([elsewhere, fresh])
      expect(await list({ since, network: 'eip155:1' })).toEqual([elsewhere])
    })

    it('includes settlements created exactly at `since`', async () => {
      const id = await put('pending')
      await pool.query("update settlements set created_at = '2026-01-01T00:00:00.000Z'")
      expect(await list({ since: new Date('2026-01-01T00:00:00.000Z') })).toEqual([id])
      expect(await list({ since: new Date('2026-01-01T00:00:00.001Z') })).toEqual([])
    })

    it.each(['pending', 'confirmed', 'failed'] as const)(
      'pages through all %s settlements without gaps or duplicates, also within one instant',
      async (status) => {
        const ids = new Set<string>()
        for (let row = 0; row < 12; row += 1) ids.add(await put(status))
        // Four in the same microsecond, others within the same millisecond.
        await pool.query(
          `update settlements s set created_at = timestamptz '2026-01-01' + r.place * interval '10 microseconds'
           from (select id, greatest(0, row_number() over () - 4) as place from settlements) r where r.id = s.id`,
        )
        const whole = await list({ status })
        const paged: string[] = []
        for (;;) {
          const page = await list({ status, limit: 5, after: paged.at(-1) })
          paged.push(...page)
          if (page.length < 5) break
        }
        expect(paged).toEqual(whole)
        expect(new Set(paged)).toEqual(ids)
      },
    )

    it('continues after a settlement whose state has changed since', async () => {
      const older = await put('pending', { ageHours: 2 })
      const newer = await put('pending', { ageHours: 1 })
      await journal.close(newer, { state: 'confirmed', transaction: 'tx' })
      expect(await list({ after: newer })).toEqual([older])
    })
  })

  describe('countOpen', () => {
    it('is empty without open settlements', async () => {
      await put('confirmed')
      await put('failed')
      expect(await overview.countOpen()).toEqual([])
    })

    it('counts by network and state, with the age of the oldest', async () => {
      await put('claimed', { ageHours: 5 })
      await put('pending', { ageHours: 100 })
      await put('pending', { ageHours: 10 })
      await put('pending', { of: 'eip155:1', ageHours: 40 })
      const counts = await overview.countOpen()
      const seen = counts.map(({ oldestSeconds, ...rest }) => ({
        ...rest,
        oldestHours: Math.floor(oldestSeconds / 3_600),
      }))
      expect(seen).toHaveLength(3)
      expect(seen).toContainEqual({ network, state: 'claimed', count: 1, oldestHours: 5 })
      expect(seen).toContainEqual({ network, state: 'pending', count: 2, oldestHours: 100 })
      expect(seen).toContainEqual({ network: 'eip155:1', state: 'pending', count: 1, oldestHours: 40 })
    })
  })
})
