import type { Pool } from 'pg'
import type { CatalogueQuery } from '../src/ports/discovery.js'
import { migrate } from '../src/stores/postgres/database/migrate.js'
import { openPool } from '../src/stores/postgres/database/pool.js'
import { createDiscoveryCatalogue } from '../src/stores/postgres/discovery/discoveryCatalogue.js'
import { readFilter } from '../src/usecases/discovery/listResources.js'
import type { ResourceFilters } from '../src/usecases/discovery/useCases.js'
import type { Scale } from './options.js'
import { startDatabase } from './startDatabase.js'
import { figure, printTable, toColumns } from './table.js'
import { atMost, type Verdict } from './verdict.js'

const resources = 100_000
const runs = 400
const warmUps = 20
// Common words take most of a second there.
const peerRuns = 15
const maxP99Ms = 30
const limit = 20

/**
 * Pages and searches of a catalogue of 100,000 resources, beside the usual way (full text in a tsvector, sorted by score)
 * and an empty statement in the same database.
 */
export const measureDiscovery = async (scale: Scale): Promise<readonly Verdict[]> => {
  const database = await startDatabase()
  const pool = openPool({ url: database.url, maxConnections: 4, onError: () => undefined })
  try {
    await migrate(pool, new URL('../migrations/', import.meta.url))
    await fillCatalogue(pool)
    const catalogue = createDiscoveryCatalogue(pool)
    const count = Math.ceil(runs * scale)
    const table = printTable(
      'Discovery',
      `${resources} resources, pages of ${limit}, ${count} runs each, one at a time.`,
      toColumns('query                      ', 'found', 'p50 ms', 'p99 ms', 'tsvector p50', 'tsvector p99'),
    )
    const verdicts: Verdict[] = []
    const idle = await time(count, () => pool.query('select 1'))
    table.row('select 1', '', ...idle.map(figure))

    for (const { name, text, ...filters } of queries) {
      const filter = readFilter(filters, text)
      const query: CatalogueQuery = { ...filter, after: null, offset: filters.offset ?? 0, limit }
      const { entries } = await catalogue.list(query)
      const ours = await time(count, () => catalogue.list(query))
      const peer = text === undefined ? null : await time(peerRuns, () => searchPlainly(pool, text), 1)
      table.row(name, String(entries.length), ...ours.map(figure), ...(peer ?? []).map(figure))
      verdicts.push(atMost(`discovery, ${name}, p99`, ours[1], { limit: maxP99Ms, unit: 'ms' }))
    }

    const deep = await findDeepPosition(pool)
    for (const { name, text } of [
      { name: 'deep cursor', text: undefined },
      { name: 'deep cursor, common', text: 'api' },
    ]) {
      const query: CatalogueQuery = { ...readFilter({}, text), after: deep, offset: 0, limit }
      const { entries } = await catalogue.list(query)
      const ours = await time(count, () => catalogue.list(query))
      table.row(name, String(entries.length), ...ours.map(figure))
      verdicts.push(atMost(`discovery, ${name}, p99`, ours[1], { limit: maxP99Ms, unit: 'ms' }))
    }

    for (const [name, text] of [
      ['total of everything', undefined],
      ['total, common word', 'api'],
      ['total, rare word', 'needle'],
    ] as const) {
      const atLeast = text === undefined ? resources * 10 : 1_000
      const filter = readFilter({}, text)
      table.row(name, '', ...(await time(count, () => catalogue.count(filter, atLeast))).map(figure))
    }
    return verdicts
  } finally {
    await pool.end()
    await database.stop()
  }
}

interface BenchQuery extends ResourceFilters {
  readonly name: string
  readonly text?: string
  readonly offset?: number
}

const queries: readonly BenchQuery[] = [
  { name: 'list' },
  { name: 'list, offset 1,000', offset: 1_000 },
  { name: 'list, offset 10,000', offset: 10_000 },
  { name: 'list, common network', network: 'base' },
  { name: 'list, rare network', network: 'eip155:1329' },
  { name: 'list, network and scheme', network: 'base', scheme: 'upto' },
  { name: 'list, one recipient', payTo: '0x00000000000000000000000000000000000004d2' },
  { name: 'list, amounts', minAmount: 9_990n, maxAmount: 9_999n },
  { name: 'common word', text: 'api' },
  { name: 'word of a tenth', text: 'topic3' },
  { name: 'word of a thousandth', text: 'kind7' },
  { name: 'rare word', text: 'needle' },
  { name: 'no match', text: 'absentword' },
  { name: 'two common words', text: 'api data' },
  { name: 'common and rare word', text: 'api needle' },
  { name: 'two words, never together', text: 'topic3 topic4' },
  { name: 'common word and network', text: 'api', network: 'base' },
]

const time = async (
  count: number,
  run: () => Promise<unknown>,
  unmeasured = warmUps,
): Promise<readonly [number, number]> => {
  for (let warmUp = 0; warmUp < unmeasured; warmUp += 1) await run()
  const took: number[] = []
  for (let index = 0; index < count; index += 1) {
    const startedAt = performance.now()
    await run()
    took.push(performance.now() - startedAt)
  }
  const ordered = took.toSorted((left, right) => left - right)
  const at = (share: number) =>
    ordered[Math.min(ordered.length - 1, Math.floor(ordered.length * share))] ?? Number.NaN
  return [at(0.5), at(0.99)]
}

const searchPlainly = (pool: Pool, text: string) =>
  pool.query(
    `select r.* from discovery_resources r join plain_search p using (id)
     where r.state = 'listed' and p.words @@ plainto_tsquery('simple', $1) order by r.score desc, r.id desc limit $2`,
    [text, limit],
  )

const findDeepPosition = async (pool: Pool) => {
  const { rows } = await pool.query<{ id: string; score: string }>(
    `select id, score from discovery_resources order by score desc, id desc offset ${resources * 0.9} limit 1`,
  )
  const [{ id, score } = { id: '', score: '0' }] = rows
  return { id, score: BigInt(score) }
}

/** Words with frequencies from 1 to 1 in 100,000; scores without relation to them. */
export const fillCatalogue = async (pool: Pool): Promise<void> => {
  const batch = 10_000
  for (let from = 0; from < resources; from += batch) {
    await pool.query(
      `insert into discovery_resources (url, tool_name, type, state, method, version, declaration, terms, offers,
         extension_keys, description, tags, tokens, payers, score, first_settled_at, last_settled_at)
       select url, '', 'http', 'listed', 'GET', 2, $3::json, offers::json, offers, array['bazaar'], 'Data of ' || url,
         array['data'], words || array['t:http', 'x:bazaar', 'n:' || network, 's:' || scheme, 'p:' || pay_to],
         n % 50, (1767225600 + (hashint4(n)::bigint & 2097151))::bigint, now(), now()
       from (select n, 'https://host' || n || '.example/api' as url,
           case when n % 10 < 8 then 'eip155:8453' when n % 1000 = 9 then 'eip155:1329' else 'eip155:84532' end as network,
           case when n % 20 = 0 then 'upto' else 'exact' end as scheme,
           '0x' || lpad(to_hex(n % 5000), 40, '0') as pay_to,
           array['https', 'host' || n, 'example', 'api', 'topic' || n % 10, 'kind' || n % 1000]
             || case when n % 2 = 0 then array['data'] else '{}' end
             || case when n = 77777 then array['needle'] else '{}' end
             || (select array_agg('filler' || (n * 31 + w * 977) % 20000) from generate_series(1, 20) w) as words
         from generate_series($1::int, $2::int) n) made,
       lateral (select jsonb_build_array(jsonb_build_object('network', network, 'scheme', scheme, 'asset', '0xa',
         'payTo', pay_to, 'amount', (n * 7 % 10000)::text, 'maxTimeoutSeconds', 60, 'extra', jsonb_build_object()))
         as offers) terms`,
      [from, from + batch - 1, JSON.stringify(declaration)],
    )
  }
  await pool.query(
    `create table plain_search as select id, to_tsvector('simple', array_to_string(tokens, ' ')) as words
     from discovery_resources`,
  )
  await pool.query('create index on plain_search using gin (words)')
  await pool.query('vacuum (analyze) discovery_resources, plain_search')
}

const declaration = {
  info: { input: { type: 'http', method: 'GET', queryParams: { city: 'Lisbon' } } },
  schema: {
    type: 'object',
    properties: {
      input: { type: 'object', properties: { city: { type: 'string', description: 'x'.repeat(1_000) } } },
    },
  },
}
