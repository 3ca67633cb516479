import type { CatalogueEntry } from '../../ports/discoveryCatalogue.js'
import type { DiscoveredResource, ResourcePage } from '../../protocol/discovery.js'

type CompactResource = ResourcePage['resources'][number]

/** Declarations of one page; a few large ones must not make a page large. */
const maxDeclarationsLength = 524_288

export const viewResource = (entry: CatalogueEntry): DiscoveredResource => {
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

export const viewCompact = ({ id, resource, terms, firstSettledAt }: CatalogueEntry): CompactResource => {
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

export const viewResources = (
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
