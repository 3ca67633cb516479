import { describe, expect, it, vi } from 'vitest'
import { formatCsv } from '../../src/http/routes/reconciliation.js'
import { Secret } from '../../src/platform/secret.js'
import type { ReconciliationPage } from '../../src/protocol/reconciliation.js'
import { testApp } from './support/app.js'

const token = 'an-operator-token-of-some-length'
const cursor = '9401b76e-f466-496f-8524-886a61ebf067'

const page: ReconciliationPage = {
  from: '2026-01-01T00:00:00.000Z',
  to: '2026-01-02T00:00:00.000Z',
  isBalanced: false,
  checked: { settlements: 1, onChain: 1, unproven: 0, unavailable: 0, open: 0, waitingEvents: 0 },
  differences: [
    { kind: 'event_missing', message: 'There is no event settlement.confirmed', settlementId: cursor },
    {
      kind: 'open_list_differs',
      message: 'Open settlement: the recount says none, the counters say open',
      settlementId: cursor,
      expected: 'none',
      actual: 'open',
    },
    {
      kind: 'stream_differs',
      message: '=stream',
      settlementId: cursor,
      network: 'near:mainnet',
      accountId: 'a',
      expected: 'confirmed 10',
      actual: 'confirmed 11',
    },
    {
      kind: 'quota_differs',
      message: 'Quota of holder and month a 2026-01: 1, 2',
      accountId: 'a',
      expected: '1',
      actual: '2',
    },
  ],
  counts: [
    { kind: 'event_missing', count: 1 },
    { kind: 'quota_differs', count: 1_201 },
    { kind: 'open_list_differs', count: 1 },
    { kind: 'stream_differs', count: 1 },
  ],
  isTruncated: true,
  settlements: [
    {
      id: cursor,
      createdAt: '2026-01-01T12:00:00.000Z',
      status: 'confirmed',
      network: 'near:mainnet',
      scheme: 'exact',
      asset: 'usdc, the "real" one',
      payer: '=cmd()',
      payTo: 'bob.near',
      amount: '10',
      transaction: 'tx',
      accountId: 'a',
      chain: 'agrees',
      event: 'none',
      differences: ['event_missing'],
    },
  ],
  nextCursor: cursor,
}

const ask = async (query: string, authorization = `Bearer ${token}`) => {
  const reconcilePeriod = vi.fn(async () => page)
  const app = testApp({ reconciliation: { reconcilePeriod }, operatorToken: new Secret(token) })
  const response = await app.inject({ url: `/v1/reconciliation${query}`, headers: { authorization } })
  return { response, reconcilePeriod }
}

describe('GET /v1/reconciliation', () => {
  it('answers operators with the page, which is never cached', async () => {
    const { response, reconcilePeriod } = await ask(
      `?from=2026-01-01T00:00:00Z&to=2026-01-02T01:00:00%2B01:00&network=base&limit=1000&cursor=${cursor}`,
    )
    expect([response.statusCode, response.json()]).toEqual([200, page])
    expect(response.headers['cache-control']).toBe('no-store')
    expect(reconcilePeriod).toHaveBeenCalledWith({
      from: new Date('2026-01-01T00:00:00Z'),
      to: new Date('2026-01-02T00:00:00Z'),
      network: 'base',
      limit: 200,
      cursor,
    })
  })

  it('is of the last day by default', async () => {
    const reconcilePeriod = vi.fn(async (period: { readonly from: Date; readonly to: Date }) => ({
      ...page,
      from: period.from.toISOString(),
      to: period.to.toISOString(),
    }))
    const app = testApp({ reconciliation: { reconcilePeriod }, operatorToken: new Secret(token) })
    const headers = { authorization: `Bearer ${token}` }
    const { from, to } = (await app.inject({ url: '/v1/reconciliation', headers })).json()
    expect(Date.parse(to) - Date.parse(from)).toBe(86_400_000)
  })

  describe('as CSV', () => {
    const readRows = async () => {
      const { response } = await ask('?format=csv')
      const [names = '', ...rows] = response.body.split('\r\n')
      const columns = names.split(',')
      const at = (row: string, name: string) => row.split(',')[columns.indexOf(name)]
      return { response, columns, rows, at }
    }

    it('has a row for each settlement, then a row for each difference', async () => {
      const { response, columns, rows } = await readRows()
      expect(response.headers['content-type']).toBe('text/csv; charset=utf-8')
      expect(response.headers['x-next-cursor']).toBe(cursor)
      expect(columns.slice(0, 2)).toEqual(['row', 'id'])
      // Values as they stand in the file.
      const line = (values: Readonly<Record<string, string>>) =>
        columns.map((name) => values[name] ?? '').join(',')
      expect(rows).toEqual([
        `settlement,${cursor},2026-01-01T12:00:00.000Z,,confirmed,near:mainnet,exact,"usdc, the ""real"" one",'=cmd(),bob.near,10,tx,a,agrees,none,,,event_missing,,,,`,
        line({
          row: 'difference',
          id: cursor,
          kind: 'event_missing',
          message: 'There is no event settlement.confirmed',
        }),
        line({
          row: 'difference',
          id: cursor,
          kind: 'open_list_differs',
          message: '"Open settlement: the recount says none, the counters say open"',
          expected: 'none',
          actual: 'open',
        }),
        line({
          row: 'difference',
          id: cursor,
          network: 'near:mainnet',
          accountId: 'a',
          kind: 'stream_differs',
          message: "'=stream",
          expected: 'confirmed 10',
          actual: 'confirmed 11',
        }),
        line({
          row: 'difference',
          accountId: 'a',
          kind: 'quota_differs',
          message: '"Quota of holder and month a 2026-01: 1, 2"',
          expected: '1',
          actual: '2',
        }),
        line({
          row: 'difference',
          kind: 'quota_differs',
          message: '1200 more of this kind are not listed',
        }),
        '',
      ])
    })

    it('has amounts in rows of settlements only, so that the column can be summed', async () => {
      const { rows, at } = await readRows()
      const differences = rows.filter((row) => at(row, 'row') === 'difference')
      expect(differences).toHaveLength(page.differences.length + 1)
      expect(differences.map((row) => [at(row, 'amount'), at(row, 'fee')])).toEqual(
        differences.map(() => ['', '']),
      )
    })
  })

  it.each(['Bearer wrong', 'Basic x', ''])('refuses %j', async (authorization) => {
    const { response, reconcilePeriod } = await ask('', authorization)
    expect(response.statusCode).toBe(401)
    expect(reconcilePeriod).not.toHaveBeenCalled()
  })

  it.each(['?from=yesterday', '?limit=0', '?cursor=1', '?format=xml', '?month=1'])(
    'refuses %s',
    async (query) => {
      const { response } = await ask(query)
      expect([response.statusCode, response.json().code]).toEqual([400, 'INVALID_REQUEST'])
    },
  )
})

it.each(['=1+1', '+1', '-1', '@x', '\tx', '\rx'])('CSV never begins a field like a formula: %j', (text) => {
  const [, field = ''] = formatCsv(['a'], [{ a: text }]).split('\r\n')
  expect(field.replace(/^"/, '').startsWith("'")).toBe(true)
})
