import { isIP } from 'node:net'
import { isPrivateHost } from './host.js'
import { parseUrl } from './resourceKey.js'

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
