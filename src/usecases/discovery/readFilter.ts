import { divideWords } from '../../extensions/bazaar/searchTokens.js'
import type { CatalogueFilter } from '../../ports/discoveryCatalogue.js'
import { canonicalAsset } from '../../protocol/assetId.js'
import { canonicalNetwork } from '../../protocol/network.js'
import { filterTokens } from './tokens.js'
import type { ResourceFilters } from './useCases.js'

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
