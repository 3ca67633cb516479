import { AppError } from '../../errors.js'
import type { Clock } from '../../ports/clock.js'
import type { CatalogueFilter, CataloguePage, DiscoveryCatalogue } from '../../ports/discoveryCatalogue.js'
import { cacheFor } from '../cacheFor.js'
import { readCursor, writeCursor } from './cursor.js'
import { readFilter } from './readFilter.js'
import type { DiscoveryUseCases, ListQuery } from './useCases.js'
import { viewCompact, viewResource, viewResources } from './viewResource.js'

export interface ListResourcesDependencies {
  readonly catalogue: Pick<DiscoveryCatalogue, 'list' | 'count' | 'find'>
  readonly clock: Clock
}

const totalMaxAgeMs = 10_000
const maxFilteredTotal = 1_000

export const createListResources = ({
  catalogue,
  clock,
}: ListResourcesDependencies): Pick<
  DiscoveryUseCases,
  'listResources' | 'searchResources' | 'getResource'
> => {
  const everything: CatalogueFilter = { tokens: [], terms: {}, minAmount: null, maxAmount: null }
  const countAll = cacheFor(clock, totalMaxAgeMs, () => catalogue.count(everything, Number.MAX_SAFE_INTEGER))

  /** Without a scan beyond the index: amounts are in none. */
  const countMatches = async (
    filter: CatalogueFilter,
    { offset, cursor }: ListQuery,
    { entries, next }: CataloguePage,
  ): Promise<number> => {
    const seen = offset + entries.length
    if (next === null && cursor === undefined && entries.length > 0) return seen
    if (filter.minAmount !== null || filter.maxAmount !== null) return seen
    return filter.tokens.length === 0 ? await countAll() : await catalogue.count(filter, maxFilteredTotal)
  }

  return {
    listResources: async (query) => {
      const { limit, offset, cursor, q } = query
      if (cursor !== undefined && offset > 0) {
        throw new AppError('INVALID_REQUEST', 'offset: is not combined with cursor')
      }
      const filter = readFilter(query, q)
      const after = cursor === undefined ? null : readCursor(cursor)
      const page = await catalogue.list({ ...filter, after, offset, limit })
      const total = await countMatches(filter, query, page)
      const { views, isCut } = viewResources(page.entries)
      const next = page.next === null ? null : writeCursor(page.next)
      return {
        x402Version: 2,
        t402Version: 2,
        items: views,
        resources: page.entries.map(viewCompact),
        total,
        limit,
        offset,
        pagination: { limit, offset, total, cursor: next },
        ...(next === null ? {} : { nextCursor: next }),
        partialResults: page.isPartial || isCut,
      }
    },

    searchResources: async (search) => {
      const { limit, cursor, query } = search
      const filter = readFilter(search, query)
      const after = cursor === undefined ? null : readCursor(cursor)
      const page = await catalogue.list({ ...filter, after, offset: 0, limit })
      const { views, isCut } = viewResources(page.entries)
      const next = page.next === null ? null : writeCursor(page.next)
      return {
        x402Version: 2,
        t402Version: 2,
        resources: views,
        partialResults: page.isPartial || isCut,
        pagination: { limit, cursor: next },
        ...(next === null ? {} : { nextCursor: next }),
      }
    },

    getResource: async (id) => {
      const entry = await catalogue.find(id)
      if (entry?.state !== 'listed') throw new AppError('NOT_FOUND', 'No resource with this id is listed')
      return viewResource(entry)
    },
  }
}
