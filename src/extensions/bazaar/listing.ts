import { isIP } from 'node:net'
import type { ListedResource, ListedTerms } from '../../ports/discovery.js'
import { foldAddress } from '../../protocol/assetId.js'
import { isPrivateHost, parseUrl } from './resourceUrl.js'

const printable = /^[\x20-\x7e]+$/
const maxLabelLength = 32
const maxTags = 5
const maxIconUrlLength = 2_048

export const isServiceName = (value: unknown): value is string =>
  typeof value === 'string' && value.length <= maxLabelLength && printable.test(value)

/** Those that are allowed, each once, at most five. */
export const readTags = (value: unknown): readonly string[] => {
  if (!Array.isArray(value)) return []
  const tags = new Map<string, string>()
  for (const tag of value) {
    if (!isServiceName(tag)) continue
    const key = tag.toLowerCase()
    if (!tags.has(key)) tags.set(key, tag)
    if (tags.size === maxTags) break
  }
  return [...tags.values()]
}

/** Public http(s) URL with a name as host: pages that show it fetch it. */
export const isIconUrl = (value: unknown): value is string => {
  if (typeof value !== 'string' || value.length > maxIconUrlLength || !printable.test(value)) return false
  const url = parseUrl(value)
  if (url === null || !/^https?:$/.test(url.protocol)) return false
  if (url.username !== '' || url.password !== '') return false
  return !url.hostname.startsWith('[') && isIP(url.hostname) === 0 && !isPrivateHost(url.hostname)
}

const maxWords = 200
const maxWordLength = 64
const maxTextLength = 4_096

/** Lower-case words of letters and digits, in any script; queries and listings are divided alike. */
export const divideWords = (text: string): readonly string[] => {
  const words = new Set<string>()
  const folded = text.slice(0, maxTextLength).normalize('NFKC').toLowerCase()
  for (const [word] of folded.matchAll(/[\p{L}\p{N}\p{M}]+/gu)) {
    if (words.size === maxWords) break
    words.add(word.slice(0, maxWordLength))
  }
  return [...words]
}

/** Words under which a listing is found. Their number and repetition do not influence its place. */
export const listSearchWords = ({ key, serviceName, tags, description }: ListedResource): readonly string[] =>
  divideWords([key.url, key.toolName, serviceName ?? '', ...tags, description ?? ''].join(' '))

/** Filters as tokens beside the words of a resource: words have no colon. */
export const filterTokens = {
  type: (type: string) => `t:${type}`,
  network: (network: string) => `n:${network}`,
  scheme: (scheme: string) => `s:${scheme}`,
  asset: (asset: string) => `a:${foldAddress(asset)}`,
  payTo: (payTo: string) => `p:${foldAddress(payTo)}`,
  extension: (key: string) => `x:${key}`,
} as const

export const listTermTokens = ({ network, scheme, asset, payTo }: ListedTerms): readonly string[] => [
  filterTokens.network(network),
  filterTokens.scheme(scheme),
  filterTokens.asset(asset),
  filterTokens.payTo(payTo),
]
