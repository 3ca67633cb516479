import { randomUUID } from 'node:crypto'
import { beforeAll, beforeEach, describe, expect, it, vi } from 'vitest'
import { z } from 'zod'
import { createAccountSettlements } from '../../../../src/stores/postgres/journal/accountSettlements.js'
import { emptyTables } from '../../../support/emptyTables.js'
import { failedColumns, insertJournalRows, openColumns } from '../../../support/journalRows.js'
import { useTestDatabase } from '../../../support/postgres.js'

const [base, solana] = ['eip155:84532', 'solana:EtWTRABZaYq6iMfeYKouRu166VU2xqa1']
const own = { caller: `'ada'` }
const since = new Date(Date.now() - 86_400_000)

describe('the activity of an account', () => {
  const { pool } = useTestDatabase()
  const settlements = createAccountSettlements(pool)
  const summarize = (limit = 1_000) => settlements.summarize({ accountId: 'ada', since, limit })

  beforeEach(async () => {
    await emptyTables(pool, 'settlements')
  })

  it('is zero without settlements', async () => {
    expect(await summarize()).toEqual({
      confirmed: 0,
      failed: 0,
      pending: 0,
      medianSeconds: null,
      isComplete: true,
      networks: [],
      amounts: [],
      buckets: [],
    })
  })

  it('counts outcomes by network and hour, amounts by token, and the median time to the proof', async () => {
    const hourMs = 3_600_000
    // Fixed before the first row: the next hour may begin while the test runs.
    const hour = Math.floor(Date.now() / hourMs) * hourMs
    const inHour = (minutes: number) => `timestamptz '${new Date(hour + minutes * 60_000).toISOString()}'`
    const at = (seconds: number) => ({
      created_at: inHour(-30),
      closed_at: `${inHour(-30)} + interval '${seconds} seconds'`,
    })
    const paid = (amount: number) => ({
      amount: `${amount}`,
      authorized_amount: `${amount}`,
      settled_amount: `${amount}`,
    })
    await insertJournalRows(pool, { count: 1, columns: { ...own, ...at(2), ...paid(7) } })
    await insertJournalRows(pool, { count: 1, columns: { ...own, ...at(4), ...paid(8) } })
    await insertJournalRows(pool, {
      count: 1,
      columns: { ...own, ...at(60), ...paid(100), asset: `'0xother'` },
    })
    await insertJournalRows(pool, {
      count: 2,
      columns: { ...own, ...failedColumns, ...at(1), network: `'${solana}'` },
    })
    await insertJournalRows(pool, {
      count: 3,
      columns: { ...own, ...openColumns, created_at: inHour(-90) },
    })
    const activity = await summarize()
    expect(activity).toMatchObject({
      confirmed: 3,
      failed: 2,
      pending: 3,
      medianSeconds: 4,
      isComplete: true,
    })
    expect(activity.networks).toEqual([
      { network: base, confirmed: 3, failed: 0, pending: 3, medianSeconds: 4 },
      { network: solana, confirmed: 0, failed: 2, pending: 0, medianSeconds: null },
    ])
    expect(activity.amounts).toEqual([
      { network: base, asset: '0xasset', amount: '15' },
      { network: base, asset: '0xother', amount: '100' },
    ])
    expect(activity.buckets).toEqual([
      { at: new Date(hour - 2 * hourMs), network: base, confirmed: 0, failed: 0, pending: 3 },
      { at: new Date(hour - hourMs), network: base, confirmed: 3, failed: 0, pending: 0 },
      { at: new Date(hour - hourMs), network: solana, confirmed: 0, failed: 2, pending: 0 },
    ])
  })

  it('counts neither the payments of others, nor older ones, nor more than the limit', async () => {
    await insertJournalRows(pool, { count: 3, columns: { caller: `'grace'` } })
    await insertJournalRows(pool, { count: 3 })
    await insertJournalRows(pool, {
      count: 3,
      columns: { ...own, created_at: `now() - interval '25 hours'` },
    })
    await insertJournalRows(pool, { count: 5, columns: own })
    expect(await summarize(5)).toMatchObject({ confirmed: 5, isComplete: true })
    expect(await summarize(4)).toMatchObject({ confirmed: 4, isComplete: false })
  })
})

describe('the search of an account', () => {
  const { pool } = useTestDatabase()
  const settlements = createAccountSettlements(pool)
  const id = '0f0c1f6e-7a0e-4c53-9f5b-0c1de6b2a4b7'
  const hash = `0x${'ab'.repeat(32)}`
  const find = async (search: string, filter: object = {}) =>
    (await settlements.list({ accountId: 'ada', limit: 50, search, ...filter })).map(
      ({ settlement }) => settlement.id,
    )

  beforeEach(async () => {
    await emptyTables(pool, 'settlements')
    await insertJournalRows(pool, { count: 20, columns: own })
    const found = { id: `'${id}'`, transaction: `'${hash}'`, payer: `'0xAbCdEf'` }
    await insertJournalRows(pool, { count: 1, columns: { ...own, ...found } })
    const foreign = { transaction: `'${hash}'`, payer: `'0xAbCdEf'`, caller: `'grace'` }
    await insertJournalRows(pool, { count: 1, columns: foreign })
  })

  it.each([id, id.toUpperCase(), hash, hash.toUpperCase().replace('0X', '0x'), '0xAbCdEf', '0xabcdef'])(
    'finds its own payment by %s, and no foreign one',
    async (search) => {
      expect(await find(search)).toEqual([id])
    },
  )

  it('finds a transaction whose hash the network writes in capitals', async () => {
    const capitals = 'AB'.repeat(32)
    const row = { id: `'${randomUUID()}'`, transaction: `'${capitals}'`, network: `'cosmos:noble-1'` }
    await insertJournalRows(pool, { count: 1, columns: { ...own, ...row } })
    expect(await find(capitals.toLowerCase())).toHaveLength(1)
  })

  it.each(['nothing', '%', "' or 1=1", `${id}0`, '0f0c1f6e-7a0e-4c53-9f5b-0c1de6b2a4bz', '', 'a\u0000'])(
    'finds nothing by %o',
    async (search) => {
      expect(await find(search)).toEqual([])
    },
  )

  it('keeps the other filters, and pages', async () => {
    expect(await find(hash, { status: 'failed' })).toEqual([])
    expect(await find(hash, { network: 'tron:nile' })).toEqual([])
    expect(await find(id, { since: new Date(Date.now() + 60_000) })).toEqual([])
    const first = await find('0xpayer', { limit: 15 })
    const rest = await find('0xpayer', { limit: 15, after: first.at(-1) })
    expect([first.length, rest.length, new Set([...first, ...rest]).size]).toEqual([15, 5, 20])
  })
})

interface PlanNode {
  readonly 'Relation Name'?: string | undefined
  readonly 'Actual Rows': number
  readonly 'Actual Loops': number
  readonly Plans?: readonly PlanNode[] | undefined
}

const planNode: z.ZodType<PlanNode> = z.lazy(() =>
  z.object({
    'Relation Name': z.string().optional(),
    'Actual Rows': z.number(),
    'Actual Loops': z.number(),
    Plans: z.array(planNode).optional(),
  }),
)

const plan = z.tuple([z.object({ 'QUERY PLAN': z.tuple([z.object({ Plan: planNode })]) })])

const countRows = (node: PlanNode): number =>
  (node['Relation Name'] === 'settlements' ? node['Actual Rows'] * node['Actual Loops'] : 0) +
  (node.Plans ?? []).reduce((sum, part) => sum + countRows(part), 0)

describe('a search in a long journal', () => {
  const { pool } = useTestDatabase()
  const id = '0f0c1f6e-7a0e-4c53-9f5b-0c1de6b2a4b7'
  const hash = `0x${'ab'.repeat(32)}`

  beforeAll(async () => {
    const network = `(array['${base}', '${solana}'])[1 + n % 2]`
    await insertJournalRows(pool, { count: 12_000, columns: { ...own, network } })
    await insertJournalRows(pool, {
      count: 1,
      columns: { ...own, id: `'${id}'`, transaction: `'${hash}'`, created_at: `now() - interval '1 year'` },
    })
    await pool.query('analyze settlements')
  })

  const countRead = async (search: string): Promise<number> => {
    const query = vi.spyOn(pool, 'query')
    await createAccountSettlements(pool).list({ accountId: 'ada', limit: 50, search })
    const [text, values] = z.tuple([z.string(), z.array(z.unknown())]).parse(query.mock.calls[0])
    query.mockRestore()
    const { rows } = await pool.query(`explain (analyze, format json) ${text}`, values)
    return countRows(plan.parse(rows)[0]['QUERY PLAN'][0].Plan)
  }

  it('reads one row to find an id', async () => {
    expect(await countRead(id)).toBeLessThanOrEqual(2)
    expect(await countRead('0f0c1f6e-7a0e-4c53-9f5b-0c1de6b2a4b8')).toBeLessThanOrEqual(1)
  })

  it('reads a few rows to find a transaction, however old', async () => {
    const settlements = createAccountSettlements(pool)
    const found = await settlements.list({ accountId: 'ada', limit: 50, search: hash })
    expect(found.map(({ settlement }) => settlement.id)).toEqual([id])
    expect(await countRead(hash)).toBeLessThanOrEqual(10)
  })

  it('reads the newest 1,000 rows to find a payer', async () => {
    // 1,000 index entries of each network, and the 1,000 rows that are the newest of both.
    expect(await countRead('0xanother')).toBeLessThanOrEqual(3_010)
  })
})
