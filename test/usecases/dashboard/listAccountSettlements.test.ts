import { beforeEach, describe, expect, it } from 'vitest'
import type { SettlementJournal } from '../../../src/ports/settlementJournal.js'
import { type AccountSettlementPage, accountSettlementPage } from '../../../src/protocol/accounts.js'
import { type TierTerms, tiers } from '../../../src/protocol/tiers.js'
import { createAccountSettlements } from '../../../src/stores/postgres/journal/accountSettlements.js'
import { createSettlementJournal } from '../../../src/stores/postgres/journal/settlementJournal.js'
import { createListAccountSettlements } from '../../../src/usecases/dashboard/readAccount.js'
import type { AccountSettlementsQuery } from '../../../src/usecases/dashboard/useCases.js'
import { claimOf } from '../../support/claimOf.js'
import { emptyTables } from '../../support/emptyTables.js'
import { addInstance } from '../../support/instances.js'
import { useTestDatabase } from '../../support/postgres.js'

const network = 'eip155:84532'

type List = (accountId: string, query: AccountSettlementsQuery) => Promise<AccountSettlementPage>

describe("the list of an account's settlements", () => {
  const { pool } = useTestDatabase()
  let journal: SettlementJournal
  let list: List

  beforeEach(async () => {
    await emptyTables(pool, 'settlements', 'signer_lanes', 'instances', 'quota_uses')
    journal = createSettlementJournal(pool, await addInstance(pool))
    const listOf = createListAccountSettlements({ settlements: createAccountSettlements(pool), journal })
    list = (id, query) => listOf({ id }, query)
  })

  interface Row {
    readonly state?: 'claimed' | 'pending' | 'confirmed' | 'failed'
    /** In hours, so that the order of ages is not that of a busy machine. */
    readonly age?: number
    readonly of?: string
    readonly tier?: TierTerms
  }
  const put = async (
    caller: string,
    { state = 'claimed', age = 0, of = network, tier = tiers.builder }: Row = {},
  ): Promise<string> => {
    const claim = claimOf({ caller, network: of, amount: 10_000n, resource: 'https://shop.example/secret' })
    const settlement = await journal.claim(claim, caller === 'anonymous' ? null : { tier, at: new Date() })
    if (settlement === null) throw new Error('It is claimed')
    const { id } = settlement
    if (state !== 'claimed')
      await journal.recorderFor(id).record({ transaction: `tx ${id}`, bytes: 'signed' })
    if (state === 'confirmed') await journal.close(id, { state, transaction: `tx ${id}` })
    if (state === 'failed') await journal.close(id, { state, reason: 'insufficient_funds' })
    await pool.query("update settlements set created_at = now() - $2 * interval '1 hour' where id = $1", [
      id,
      age,
    ])
    return id
  }
  const listIds = async (accountId: string, query: Partial<Parameters<List>[1]> = {}) =>
    (await list(accountId, { limit: 50, ...query })).settlements.map(({ id }) => id)

  it('returns each in its public form, with its fee', async () => {
    const id = await put('ada', { state: 'confirmed' })
    const page = await list('ada', { limit: 50 })
    expect(page).toEqual({
      settlements: [
        {
          id,
          status: 'confirmed',
          scheme: 'exact',
          network,
          asset: '0xasset',
          payer: '0xpayer',
          payTo: '0xpayee',
          amount: '10000',
          transaction: `tx ${id}`,
          createdAt: expect.stringMatching(/Z$/),
          closedAt: expect.stringMatching(/Z$/),
          fee: '10',
        },
      ],
    })
    expect(accountSettlementPage.parse(page)).toEqual(page)
  })

  it('has the fee of confirmed settlements in whole smallest units, rounded up, and 0 for others', async () => {
    await put('ada', { state: 'confirmed', tier: tiers.enterprise, age: 1 })
    await put('ada', { state: 'confirmed', tier: tiers.free, age: 2 })
    await put('ada', { state: 'pending', age: 3 })
    await put('ada', { state: 'failed', age: 4 })
    const listFees = async () => (await list('ada', { limit: 50 })).settlements.map(({ fee }) => fee)
    await pool.query("update settlements set settled_amount = 1001 where state = 'confirmed'")
    expect(await listFees()).toEqual(['1', '0', '0', '0'])
    // Closed by an older version that did not store a settled amount.
    await pool.query('update settlements set settled_amount = null, amount = 1003')
    expect(await listFees()).toEqual(['1', '0', '0', '0'])
    await pool.query('update settlements set amount = 4002, authorized_amount = 4002')
    expect(await listFees()).toEqual(['3', '0', '0', '0'])
  })

  it('filters by status (claims count as pending), network and time combined', async () => {
    const claimed = await put('ada', { age: 1 })
    const pending = await put('ada', { state: 'pending', age: 2 })
    const failed = await put('ada', { state: 'failed', age: 3 })
    const confirmed = await put('ada', { state: 'confirmed', age: 4 })
    const elsewhere = await put('ada', { state: 'confirmed', age: 9, of: 'eip155:8453' })
    expect(await listIds('ada')).toEqual([claimed, pending, failed, confirmed, elsewhere])
    expect(await listIds('ada', { status: 'pending' })).toEqual([claimed, pending])
    expect(await listIds('ada', { status: 'failed' })).toEqual([failed])
    expect(await listIds('ada', { status: 'confirmed' })).toEqual([confirmed, elsewhere])
    expect(await listIds('ada', { network: 'base' })).toEqual([elsewhere])
    const since = new Date(Date.now() - 6 * 3_600_000)
    expect(await listIds('ada', { since })).toEqual([claimed, pending, failed, confirmed])
    expect(await listIds('ada', { since, network: 'eip155:8453', status: 'confirmed' })).toEqual([])
  })

  it('pages without gaps or duplicates, also with equal timestamps and concurrent changes', async () => {
    for (let row = 0; row < 7; row += 1) await put('ada')
    await pool.query("update settlements set created_at = '2026-05-01'")
    const whole = await listIds('ada')
    const paged: string[] = []
    let cursor: string | undefined
    do {
      const page = await list('ada', { limit: 3, cursor })
      paged.push(...page.settlements.map(({ id }) => id))
      cursor = page.nextCursor
      if (cursor !== undefined) await journal.close(cursor, { state: 'failed', reason: 'insufficient_funds' })
    } while (cursor !== undefined)
    expect(paged).toEqual(whole)
    expect(new Set(paged).size).toBe(7)
  })

  describe('of one tenant', () => {
    it('never contains settlements of another account, whatever the query', async () => {
      const accounts = ['ada', 'bob', 'anonymous']
      const ids = new Map<string, readonly string[]>()
      for (const account of accounts) {
        ids.set(account, [await put(account, { state: 'confirmed', age: 1 }), await put(account, { age: 2 })])
      }
      const queries = [
        {},
        { status: 'confirmed' as const },
        { status: 'pending' as const },
        { network },
        { since: new Date(0) },
        { limit: 1 },
      ]
      for (const account of ['ada', 'bob']) {
        for (const query of queries) {
          const shown = await listIds(account, query)
          expect(shown.length).toBeGreaterThan(0)
          expect(ids.get(account)).toEqual(expect.arrayContaining(shown))
        }
      }
      expect(await listIds('mallory')).toEqual([])
      expect(await listIds('anonymous')).toEqual([])
    })

    it('rejects the cursor of another account with the same error as an unknown one', async () => {
      await put('ada', { age: 10 })
      const refusals: unknown[] = []
      const foreign = [await put('bob'), await put('anonymous'), '00000000-0000-4000-8000-000000000000', 'x']
      for (const cursor of foreign) {
        const refusal: unknown = await list('ada', { limit: 50, cursor }).catch((error: unknown) => error)
        expect(refusal).toMatchObject({ code: 'INVALID_REQUEST' })
        refusals.push(refusal instanceof Error ? refusal.message : refusal)
      }
      expect(new Set(refusals).size).toBe(1)
    })

    it('is also filtered by account in SQL, even if a foreign cursor passed', async () => {
      await put('ada', { age: 10 })
      const after = await put('bob')
      expect(await createAccountSettlements(pool).list({ accountId: 'ada', after, limit: 50 })).toEqual([])
    })
  })
})
