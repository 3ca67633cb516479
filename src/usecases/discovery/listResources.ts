import { AppError } from '../../errors.js'
import { divideWords, filterTokens } from '../../extensions/bazaar/listing.js'
import type { Clock } from '../../ports/clock.js'
import type {
  CatalogueEntry,
  CatalogueFilter,
  CataloguePage,
  CataloguePosition,
  DiscoveryCatalogue,
} from '../../ports/discovery.js'
import { canonicalAsset } from '../../protocol/assetId.js'
import type { DiscoveredResource, ResourcePage } from '../../protocol/discovery.js'
import { canonicalNetwork } from '../../protocol/network.js'
import { cacheFor } from '../cacheFor.js'
import type { DiscoveryUseCases, ListQuery, ResourceFilters } from './useCases.js'

interface ListResourcesDependencies {
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

const form = /^(?<score>[0-9]{1,18})\.(?<id>[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})$/

const writeCursor = ({ score, id }: CataloguePosition): string =>
  Buffer.from(`${score}.${id}`).toString('base64url')

/** Throws INVALID_REQUEST. */
const readCursor = (cursor: string): CataloguePosition => {
  const { score, id } = form.exec(Buffer.from(cursor, 'base64url').toString('latin1'))?.groups ?? {}
  if (score === undefined || id === undefined) {
    throw new AppError('INVALID_REQUEST', 'cursor: is not a `nextCursor` of this endpoint')
  }
  return { score: BigInt(score), id }
}

type CompactResource = ResourcePage['resources'][number]

/** Declarations of one page; a few large ones must not make a page large. */
const maxDeclarationsLength = 524_288

const viewResource = (entry: CatalogueEntry): DiscoveredResource => {
  const { resource, terms, payers, lastSettledAt } = entry
  const { version } = resource
  return {
    ...viewCompact(entry),
    resource: resource.key.url,
    x402Version: version,
    t402Version: version,
    accepts: terms.map(({ extra, ...each }) => ({
      ...each,
      ...(version === 1 ? { maxAmountRequired: each.amount } : {}),
      extra: { ...extra },
    })),
    lastUpdated: lastSettledAt.toISOString(),
    ...(resource.description === null ? {} : { description: resource.description }),
    ...(resource.mimeType === null ? {} : { mimeType: resource.mimeType }),
    ...(resource.serviceName === null ? {} : { serviceName: resource.serviceName }),
    ...(resource.tags.length === 0 ? {} : { tags: [...resource.tags] }),
    ...(resource.iconUrl === null ? {} : { iconUrl: resource.iconUrl }),
    extensions: { bazaar: resource.declaration },
    distinctPayers: payers,
  }
}

const viewCompact = ({ id, resource, terms, firstSettledAt }: CatalogueEntry): CompactResource => {
  const { key, type, method, serviceName, description, tags } = resource
  return {
    id,
    resourceUri: key.url,
    url: key.url,
    type,
    network: terms[0]?.network ?? '',
    discoveredAt: firstSettledAt.toISOString(),
    metadata: {
      provider: serviceName ?? new URL(key.url).host,
      ...(description === null ? {} : { description }),
      tags: [...tags],
      ...(method === null ? {} : { method }),
      ...(key.toolName === '' ? {} : { toolName: key.toolName }),
    },
  }
}

const viewResources = (
  entries: readonly CatalogueEntry[],
): { readonly views: DiscoveredResource[]; readonly isCut: boolean } => {
  let length = 0
  let isCut = false
  const views = entries.map((entry) => {
    const view = viewResource(entry)
    length += JSON.stringify(entry.resource.declaration).length
    if (length <= maxDeclarationsLength) return view
    isCut = true
    const { extensions: _left, ...rest } = view
    return rest
  })
  return { views, isCut }
}

/** Words of questions that say nothing of a resource; every other word has to occur. */
const fillers = new Set(
  'a an the of for to in on at by with and or from as is are i me my you we want need find get give show'.split(
    ' ',
  ),
)

export const readFilter = (filters: ResourceFilters, text: string | undefined): CatalogueFilter => {
  const { type, network: givenNetwork, scheme, asset: givenAsset, payTo, extensions = '' } = filters
  const network = givenNetwork === undefined ? undefined : canonicalNetwork(givenNetwork)
  const asset =
    givenAsset === undefined || network === undefined ? givenAsset : canonicalAsset(network, givenAsset)
  const keys = extensions.split(',').map((key) => key.trim())
  return {
    tokens: [
      ...(text === undefined ? [] : readWords(text)),
      ...(type === undefined ? [] : [filterTokens.type(type)]),
      ...(network === undefined ? [] : [filterTokens.network(network)]),
      ...(scheme === undefined ? [] : [filterTokens.scheme(scheme)]),
      ...(asset === undefined ? [] : [filterTokens.asset(asset)]),
      ...(payTo === undefined ? [] : [filterTokens.payTo(payTo)]),
      ...keys.filter((key) => key !== '').map(filterTokens.extension),
    ],
    terms: {
      ...(network === undefined ? {} : { network }),
      ...(scheme === undefined ? {} : { scheme }),
      ...(asset === undefined ? {} : { asset }),
      ...(payTo === undefined ? {} : { payTo }),
    },
    minAmount: filters.minAmount ?? null,
    maxAmount: filters.maxAmount ?? null,
  }
}

const readWords = (text: string): readonly string[] => {
  const words = divideWords(text)
  const specific = words.filter((word) => !fillers.has(word))
  return specific.length === 0 ? words : specific
}
