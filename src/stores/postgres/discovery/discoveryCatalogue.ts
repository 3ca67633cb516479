import type { Pool } from 'pg'
import { z } from 'zod'
import type {
  CatalogueFilter,
  CataloguePosition,
  CatalogueQuery,
  DiscoveryCatalogue,
} from '../../../ports/discovery.js'
import { foldAddress } from '../../../protocol/assetId.js'
import { runInBatches, uuidForm, withoutNul } from '../database/statements.js'
import { entryColumns, readEntry } from './catalogueRow.js'
import { createRecordSettlement } from './recordSettlement.js'

/** `views` may be slightly out of date: pages of the catalogue are read from it. */
export const createDiscoveryCatalogue = (pool: Pool, views: Pool = pool): DiscoveryCatalogue => ({
  record: createRecordSettlement(pool),
  ...createListResources(views),

  find: async (id) => {
    if (!uuidForm.test(id)) return null
    const { rows } = await pool.query(`select ${entryColumns} from discovery_resources r where r.id = $1`, [
      id,
    ])
    return rows[0] === undefined ? null : readEntry(rows[0])
  },

  setState: async (id, state, at) => {
    if (!uuidForm.test(id)) return false
    const { rowCount } = await pool.query(
      `update discovery_resources set state = $2, owner_changed_at = $3
       where id = $1 and (owner_changed_at is null or owner_changed_at <= $3)`,
      [id, state, at],
    )
    return rowCount === 1
  },

  markStale: (before, stopped) =>
    runInBatches(pool, {
      text: `update discovery_resources set state = 'stale' where id = any(array(
        select id from discovery_resources where state = 'listed' and last_settled_at < $1
        order by last_settled_at limit $2 for update skip locked))`,
      values: [before],
      stopped,
    }),

  purge: (before, stopped) =>
    runInBatches(pool, {
      text: `delete from discovery_resources where id = any(array(
        select id from discovery_resources where state = 'stale' and last_settled_at < $1
        order by last_settled_at limit $2 for update skip locked))`,
      values: [before],
      stopped,
    }),
})

/**
 * Pages in order of score. Common filters are found in the next rows of the order (a window), rare ones by the token
 * index: neither way alone is fast for both, and the planner cannot tell which a query is. So few rows are tried first.
 */
const firstWindow = 200
/** Amounts are in no index: beyond this the page is partial. */
const widestWindow = 2_000
/** So many matches are read and sorted as fast as a window. */
const fewMatches = 2_000

/** Ids in order; `next` is where the following page begins. */
interface FoundIds {
  readonly ids: readonly string[]
  readonly next: CataloguePosition | null
  readonly isPartial: boolean
}

const top: CataloguePosition = {
  score: 9_223_372_036_854_775_807n,
  id: 'ffffffff-ffff-ffff-ffff-ffffffffffff',
}
const placeOf = ({ score, id }: CataloguePosition): readonly string[] => [score.toString(), id]

const positionRow = z.object({ id: z.string(), score: z.coerce.bigint() })
const windowRow = z.object({
  scanned: z.number(),
  found: z.number(),
  ids: z.array(z.string()).nullable(),
  scores: z.array(z.coerce.bigint()).nullable(),
  last_id: z.string().nullable(),
  last_score: z.coerce.bigint().nullable(),
})

const createListResources = (pool: Pool): Pick<DiscoveryCatalogue, 'list' | 'count'> => {
  const readAll = async ({ after, offset, limit }: CatalogueQuery): Promise<FoundIds> => {
    const { rows } = await pool.query(
      `select id, score from discovery_resources where state = 'listed' and (score, id) < ($1::bigint, $2::uuid)
       order by score desc, id desc offset $3 limit $4`,
      [...placeOf(after ?? top), offset, limit + 1],
    )
    return cutPage(
      rows.map((row) => positionRow.parse(row)),
      limit,
    )
  }

  /** Of what fits, the rows before the page are counted only: parsing ten thousand ids takes milliseconds. */
  const scan = async (query: CatalogueQuery, size: number) => {
    const { offset, limit } = query
    const { sql, values } = writeCondition(query, 6)
    const { rows } = await pool.query(
      `with seen as materialized (
         select id, score, (${sql}) as fits from discovery_resources
         where state = 'listed' and (score, id) < ($1::bigint, $2::uuid) order by score desc, id desc limit $3
       ), fitting as materialized (
         select id, score from seen where fits order by score desc, id desc limit $4
       ), page as (
         select id, score from fitting order by score desc, id desc offset $5
       )
       select (select count(*)::int from seen) as scanned, (select count(*)::int from fitting) as found,
         (select array_agg(id order by score desc, id desc) from page) as ids,
         (select array_agg(score order by score desc, id desc) from page) as scores,
         last.id as last_id, last.score as last_score
       from (select null) as one left join lateral (select id, score from seen order by score, id limit 1) last on true`,
      [...placeOf(query.after ?? top), size, offset + limit + 1, offset, ...values],
    )
    const window = windowRow.parse(rows[0])
    const positions = (window.ids ?? []).map((id, index) => ({ id, score: window.scores?.[index] ?? 0n }))
    const last =
      window.last_id === null || window.last_score === null
        ? null
        : { id: window.last_id, score: window.last_score }
    return { positions, found: window.found, isWhole: window.scanned < size, last }
  }

  const lookUp = async (query: CatalogueQuery): Promise<FoundIds> => {
    const { offset, limit } = query
    const { sql, values } = writeCondition(query, 5)
    // Materialized: otherwise the planner may walk the whole order for a word that does not occur.
    const { rows } = await pool.query(
      `with fitting as materialized (select id, score from discovery_resources where state = 'listed' and ${sql})
       select id, score from fitting where (score, id) < ($1::bigint, $2::uuid)
       order by score desc, id desc offset $3 limit $4`,
      [...placeOf(query.after ?? top), offset, limit + 1, ...values],
    )
    return cutPage(
      rows.map((row) => positionRow.parse(row)),
      limit,
    )
  }

  const count: DiscoveryCatalogue['count'] = async (filter, atMost) => {
    const { sql, values } = writeCondition(filter, 2)
    const { rows } = await pool.query(
      `select count(*)::int as count from (
           select from discovery_resources where state = 'listed' and ${sql} limit $1) found`,
      [atMost, ...values],
    )
    return countRow.parse(rows[0]).count
  }

  const findIds = async (query: CatalogueQuery): Promise<FoundIds> => {
    const hasAmounts = query.minAmount !== null || query.maxAmount !== null
    if (query.tokens.length === 0 && !hasAmounts) return await readAll(query)
    const { offset, limit } = query
    const needed = offset + limit + 1
    let window = await scan(query, needed + firstWindow)
    const isDone = () => window.found >= needed || window.isWhole
    if (!isDone()) {
      const { found } = window
      // Half as much again as the density so far calls for.
      const wanted = found < 3 ? widestWindow : Math.ceil(((needed + firstWindow) * needed * 1.5) / found)
      const isRare = !hasAmounts && found < 3 && (await count(query, fewMatches + 1)) <= fewMatches
      if (isRare) return await lookUp(query)
      window = await scan(query, needed + Math.min(wanted, widestWindow))
    }
    const { positions, last } = window
    if (isDone()) return cutPage(positions, limit)
    if (!hasAmounts) return await lookUp(query)
    return { ids: positions.map(({ id }) => id), next: last, isPartial: true }
  }

  return {
    list: async (query) => {
      const { ids, next, isPartial } = await findIds(query)
      if (ids.length === 0) return { entries: [], next, isPartial }
      const { rows } = await pool.query(
        `select ${entryColumns} from discovery_resources r where r.id = any ($1::uuid[]) and r.state = 'listed'`,
        [ids],
      )
      const byId = new Map(rows.map((row) => readEntry(row)).map((entry) => [entry.id, entry]))
      return { entries: ids.flatMap((id) => byId.get(id) ?? []), next, isPartial }
    },

    count,
  }
}

const countRow = z.object({ count: z.number() })

const cutPage = (found: readonly CataloguePosition[], limit: number): FoundIds => {
  const page = found.slice(0, limit)
  return {
    ids: page.map(({ id }) => id),
    next: found.length > limit ? (page.at(-1) ?? null) : null,
    isPartial: false,
  }
}

/** A condition on `discovery_resources` with parameters from `$first`. */
const writeCondition = (
  { tokens, terms, minAmount, maxAmount }: CatalogueFilter,
  first: number,
): { readonly sql: string; readonly values: readonly unknown[] } => {
  const conditions: string[] = []
  const values: unknown[] = []
  const place = (value: unknown): string => {
    values.push(value)
    return `$${first + values.length - 1}`
  }
  if (tokens.length > 0) conditions.push(`tokens @> ${place(tokens.map(withoutNul))}::text[]`)
  const offer = foldTerms(terms)
  // For one filter the token suffices; several must hold for the same terms.
  if (Object.keys(offer).length > 1) conditions.push(`offers @> ${place(JSON.stringify([offer]))}::jsonb`)
  if (minAmount !== null || maxAmount !== null) {
    conditions.push(`exists (select from jsonb_array_elements(offers) as offer
      where offer @> ${place(JSON.stringify(offer))}::jsonb
        and (offer ->> 'amount')::numeric between coalesce(${place(minAmount?.toString() ?? null)}::numeric, 0)
          and coalesce(${place(maxAmount?.toString() ?? null)}::numeric, 'infinity'))`)
  }
  return { sql: conditions.length === 0 ? 'true' : conditions.join(' and '), values }
}

const foldTerms = ({ network, scheme, asset, payTo }: CatalogueFilter['terms']) => ({
  ...(network === undefined ? {} : { network: withoutNul(network) }),
  ...(scheme === undefined ? {} : { scheme: withoutNul(scheme) }),
  ...(asset === undefined ? {} : { asset: withoutNul(foldAddress(asset)) }),
  ...(payTo === undefined ? {} : { payTo: withoutNul(foldAddress(payTo)) }),
})
