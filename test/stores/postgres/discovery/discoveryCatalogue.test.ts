import type { Pool } from 'pg'
import { beforeEach, describe, expect, it } from 'vitest'
import { createDiscoveryCatalogue } from '../../../../src/stores/postgres/discovery/discoveryCatalogue.js'
import {
  bazaarOf,
  clearDiscovery,
  createTestDiscovery,
  merchant,
  staleMs,
} from '../../../support/discovery.js'
import { useTestDatabase } from '../../../support/postgres.js'
import { rejectionOf } from '../../../support/rejectionOf.js'

const other = '0x00000000000000000000000000000000000000aa'
const dayMs = 86_400_000

describe('the catalogue in Postgres', () => {
  const database = useTestDatabase()
  const open = (given: Parameters<typeof createTestDiscovery>[1] = {}) =>
    createTestDiscovery(createDiscoveryCatalogue(database.pool), given)
  const urlsOf = (page: { readonly items: readonly { readonly resource: string }[] }) =>
    page.items.map(({ resource }) => resource)
  beforeEach(() => clearDiscovery(database.pool))

  it('lists a resource after a settlement that declared it', async () => {
    const { settle, list, useCases } = open()
    const answer = await settle({
      details: { description: 'Forecast', serviceName: 'Weather', tags: ['sky'] },
    })
    expect(answer).toMatchObject({ status: 'success', listing: 'listed', id: expect.any(String) })
    const { items, resources, total } = await list()
    expect(items).toMatchObject([
      {
        id: answer?.id,
        resource: 'https://weather.example/v1/forecast',
        type: 'http',
        x402Version: 2,
        accepts: [{ scheme: 'exact', network: 'eip155:84532', amount: '10000', payTo: merchant }],
        description: 'Forecast',
        serviceName: 'Weather',
        tags: ['sky'],
        extensions: { bazaar: bazaarOf() },
        distinctPayers: 1,
        lastUpdated: '2026-01-01T00:00:00.000Z',
      },
    ])
    expect(resources).toMatchObject([{ resourceUri: items[0]?.resource, network: 'eip155:84532' }])
    expect(total).toBe(1)
    expect(await useCases.getResource(String(answer?.id))).toEqual(items[0])
  })

  it('says nothing of a payment without declaration, and lists nothing', async () => {
    const { settle, list } = open()
    expect(await settle({ bazaar: undefined })).toBeNull()
    expect((await list()).items).toEqual([])
  })

  it('answers pending for a pending settlement, and lists the first that is confirmed', async () => {
    const { settle, list } = open()
    expect(await settle({ status: 'pending' })).toMatchObject({ status: 'processing', listing: 'pending' })
    expect((await list()).items).toEqual([])
    expect(await settle()).toMatchObject({ listing: 'listed' })
  })

  it('names the rule that a declaration breaks', async () => {
    const { settle, list } = open()
    expect(await settle({ bazaar: bazaarOf({ type: 'http', method: 'BREW' }) })).toMatchObject({
      status: 'rejected',
      rule: 'method',
      rejectedReason: expect.stringContaining('GET, HEAD'),
    })
    expect((await list()).items).toEqual([])
  })

  it('records concurrent first settlements as one resource with all payers', async () => {
    const ours = open()
    const theirs = createTestDiscovery(createDiscoveryCatalogue(database.otherPool))
    const answers = await Promise.all(
      Array.from({ length: 24 }, (_, index) => (index % 2 ? ours : theirs).settle()),
    )
    for (const answer of answers) expect(answer?.listing).toBe('listed')
    expect((await ours.list()).items).toMatchObject([{ distinctPayers: 24 }])
  })

  it('counts a payer once', async () => {
    const { settle, list, clock } = open()
    await settle({ payer: '0xAB' })
    await clock.advance(2 * 60_000)
    await settle({ payer: '0xab' })
    expect((await list()).items).toMatchObject([
      { distinctPayers: 1, lastUpdated: '2026-01-01T00:02:00.000Z' },
    ])
  })

  it('does not count recipients of the same owner as payers, also if they become recipients later', async () => {
    const { settle, list } = open()
    await settle({ caller: 'a', payer: merchant.toLowerCase() })
    await settle({ caller: 'a', payer: other })
    expect((await list()).items).toMatchObject([{ distinctPayers: 1 }])
    await settle({ caller: 'a', payer: other, payTo: other, url: 'https://b.example/' })
    expect((await list()).items.map(({ distinctPayers }) => distinctPayers)).toEqual([0, 0])
  })

  it('refuses changes by a caller with another recipient', async () => {
    const { settle, list } = open()
    await settle({ details: { description: 'ours' } })
    expect(await settle({ payTo: other, details: { description: 'theirs' } })).toMatchObject({
      status: 'rejected',
      rule: 'claimed_by_another_payee',
    })
    expect((await list()).items).toMatchObject([{ description: 'ours', accepts: [{ payTo: merchant }] }])
  })

  it('keeps text and terms of an account when another caller pays its recipient', async () => {
    const { settle, list } = open()
    await settle({ caller: 'a', details: { description: 'ours' } })
    for (const caller of ['anonymous', 'b']) {
      await settle({ caller, details: { description: 'theirs' }, amount: 1n })
    }
    expect((await list()).items).toMatchObject([
      { description: 'ours', accepts: [{ amount: '10000' }], distinctPayers: 3 },
    ])
  })

  it('lets an account add terms on further networks', async () => {
    const { settle, list } = open()
    await settle({ caller: 'a' })
    await settle({
      caller: 'a',
      network: 'solana:5eykt4UsFv8P8NJdTREpY1vzqKqZKvdp',
      payTo: 'So1',
      asset: 'Mint',
    })
    expect((await list()).items[0]?.accepts.map(({ payTo }) => payTo)).toEqual(['So1', merchant])
  })

  it('filters by terms that belong together, by type, extension and amount', async () => {
    const { settle, list } = open()
    await settle({ caller: 'a', url: 'https://one.example/', network: 'eip155:8453', scheme: 'exact' })
    await settle({ caller: 'a', url: 'https://one.example/', network: 'eip155:84532', scheme: 'upto' })
    await settle({ url: 'https://two.example/', network: 'eip155:8453', scheme: 'upto', amount: 5n })
    const found = async (query: Parameters<typeof list>[0]) => urlsOf(await list(query))
    expect(await found({ network: 'base', scheme: 'upto' })).toEqual(['https://two.example/'])
    expect(await found({ network: 'base-sepolia' })).toEqual(['https://one.example/'])
    expect(await found({ payTo: merchant.toUpperCase().replace('0X', '0x'), maxAmount: 9n })).toEqual([
      'https://two.example/',
    ])
    expect(await found({ minAmount: 6n })).toEqual(['https://one.example/'])
    expect(await found({ type: 'mcp' })).toEqual([])
    expect(await found({ extensions: 'bazaar' })).toHaveLength(2)
    expect(await found({ extensions: 'siwx' })).toEqual([])
  })

  it('lists two tools of one MCP server, found by their names', async () => {
    const { settle, search } = open()
    for (const toolName of ['forecast_rain', 'forecast_sun']) {
      const input = { type: 'mcp', toolName, inputSchema: { type: 'object' } }
      await settle({ url: 'https://mcp.example/', bazaar: bazaarOf(input) })
    }
    expect((await search('sun')).resources).toMatchObject([
      { type: 'mcp', metadata: { toolName: 'forecast_sun' } },
    ])
    expect((await search('forecast mcp')).resources).toHaveLength(2)
    expect((await search('sun rain')).resources).toEqual([])
  })

  it('orders by distinct payers and recency', async () => {
    const { settle, list, clock } = open()
    for (let payer = 0; payer < 8; payer += 1) await settle({ url: 'https://popular.example/' })
    await settle({ url: 'https://old.example/' })
    await clock.advance(dayMs)
    await settle({ url: 'https://new.example/', details: { description: 'popular popular best first' } })
    expect(urlsOf(await list())).toEqual([
      'https://popular.example/',
      'https://new.example/',
      'https://old.example/',
    ])
  })

  it('keeps pages stable while resources are added: none twice, none left out', async () => {
    const { settle, list, clock } = open()
    const urls = Array.from({ length: 25 }, (_, index) => `https://r${index}.example/`)
    for (const url of urls) await settle({ url })
    const seen: string[] = []
    let cursor: string | undefined
    for (;;) {
      const page = await list({ limit: 10, cursor, q: 'example' })
      seen.push(...urlsOf(page))
      await clock.advance(60_000)
      await settle({ url: `https://later${seen.length}.example/` })
      if (page.nextCursor === undefined) break
      cursor = page.nextCursor
    }
    expect(seen.toSorted()).toEqual(urls.toSorted())
  })

  it.each([
    ['windows', {}],
    ['amounts', { minAmount: 1n }],
    ['everything', { q: undefined }],
  ])('pages by %s are those of one long page', async (_name, filter) => {
    await fill(database.pool, 3_000)
    const { list } = open()
    const query = { q: 'odd', ...filter }
    const whole = urlsOf(await list({ ...query, limit: 100 }))
    const paged: string[] = []
    let cursor: string | undefined
    for (let page = 0; page < 4; page += 1) {
      const { items, nextCursor } = await list({ ...query, limit: 25, cursor })
      paged.push(...items.map(({ resource }) => resource))
      cursor = nextCursor
    }
    expect(whole).toHaveLength(100)
    expect(paged).toEqual(whole)
    expect(urlsOf(await list({ ...query, limit: 25, offset: 50 }))).toEqual(whole.slice(50, 75))
  })

  it('finds a rare word at the end of the order', async () => {
    await fill(database.pool, 3_000)
    const { search, list } = open()
    expect((await search('needle')).resources).toMatchObject([{ resource: 'https://r2999.example/needle' }])
    expect((await search('hay')).resources).toEqual([])
    expect(await list({ q: 'odd' })).toMatchObject({ total: 1_000 })
    expect(await list({})).toMatchObject({ total: 3_000 })
  })

  it('unlists without settlements for 30 days, lists again with the next, and forgets the dead', async () => {
    const { settle, list, clock, jobs } = open()
    const run = () => jobs.unlistStaleResources.run(new AbortController().signal)
    await settle()
    await clock.advance(staleMs)
    await run()
    expect((await list()).items).toHaveLength(1)
    await clock.advance(1)
    await run()
    expect((await list()).items).toEqual([])
    await settle()
    expect((await list()).items).toHaveLength(1)
    await clock.advance(staleMs + 181 * dayMs)
    await run()
    const { rows } = await database.pool.query('select count(*)::int as left from discovery_resources')
    expect(rows).toEqual([{ left: 0 }])
  })

  it('is unlisted by the owning account until it lists it again', async () => {
    const { settle, list, useCases } = open()
    const answer = await settle({ caller: 'a' })
    const id = String(answer?.id)
    const by = (accountId: string | null) => ({ accountId, signature: null })
    for (const stranger of ['b', null]) {
      const rejection = await rejectionOf(useCases.changeListing(id, 'unlist', by(stranger)))
      expect(rejection).toMatchObject({ code: 'UNAUTHORIZED' })
    }
    for (let time = 0; time < 2; time += 1) {
      expect(await useCases.changeListing(id, 'unlist', by('a'))).toMatchObject({ listing: 'unlisted' })
    }
    expect(await settle({ caller: 'a' })).toMatchObject({ listing: 'rejected', rule: 'unlisted_by_owner' })
    expect((await list()).items).toEqual([])
    await useCases.changeListing(id, 'relist', by('a'))
    expect((await list()).items).toHaveLength(1)
  })

  it("is unlisted by a recipient's signature, which is not replayed after a later change", async () => {
    const signed: string[] = []
    const { settle, useCases, clock } = open({
      verifyMessage: async ({ message, signature }) => {
        signed.push(message)
        return signature === 'good'
      },
    })
    const id = String((await settle())?.id)
    const now = clock.now().getTime()
    const by = (given: object = {}) => ({
      accountId: null,
      signature: {
        network: 'base-sepolia',
        address: merchant.toLowerCase(),
        issuedAt: new Date(now).toISOString(),
        signature: 'good',
        ...given,
      },
    })
    const refusals = [
      [{ address: other }, 'FORBIDDEN'],
      [{ network: 'base' }, 'FORBIDDEN'],
      [{ signature: 'bad' }, 'FORBIDDEN'],
      [{ issuedAt: new Date(now - 300_001).toISOString() }, 'INVALID_REQUEST'],
    ] as const
    for (const [given, code] of refusals) {
      expect(await rejectionOf(useCases.changeListing(id, 'unlist', by(given)))).toMatchObject({ code })
    }
    expect(await useCases.changeListing(id, 'unlist', by())).toMatchObject({ listing: 'unlisted' })
    expect(signed.at(-1)).toBe(
      [
        'quittance discovery: unlist',
        `Resource: ${id}`,
        'URL: https://weather.example/v1/forecast',
        'Issued At: 2026-01-01T00:00:00.000Z',
      ].join('\n'),
    )
    await useCases.changeListing(id, 'relist', by({ issuedAt: new Date(now + 1).toISOString() }))
    expect(await rejectionOf(useCases.changeListing(id, 'unlist', by()))).toMatchObject({
      code: 'INVALID_REQUEST',
    })
  })

  it('stores NUL, lone surrogates and injection attempts as they are', async () => {
    const { settle, list, search } = open()
    const example = { text: "\0 \ud800 '); drop table discovery_resources; --" }
    const answer = await settle({
      bazaar: bazaarOf({ type: 'http', method: 'GET', queryParams: example }),
      details: { description: "x\0'); delete" },
    })
    expect(answer).toMatchObject({ listing: 'listed' })
    expect((await list()).items).toMatchObject([
      { extensions: { bazaar: { info: { input: { queryParams: example } } } } },
    ])
    expect((await search("'); drop table")).resources).toEqual([])
  })
})

/** Resources in order; every second has the word `odd`, the last one `needle`. */
const fill = async (pool: Pool, count: number): Promise<void> => {
  await pool.query(
    `insert into discovery_resources (url, tool_name, type, state, method, version, declaration, terms, offers,
       extension_keys, tags, tokens, payers, score, first_settled_at, last_settled_at)
     select 'https://r' || n || '.example/' || case when n = $1 - 1 then 'needle' else '' end, '', 'http', 'listed',
       'GET', 2, '{}', '[]', '[{"amount": "7"}]', '{}', '{}', array['r' || n]
         || case when n % 2 = 1 then array['odd'] else '{}' end || case when n = $1 - 1 then array['needle'] else '{}' end,
       0, 1000000000 - n / 3, now(), now() from generate_series(0, $1 - 1) n`,
    [count],
  )
}
