import { BlockList, isIP } from 'node:net'
import { domainToUnicode } from 'node:url'
import { hasHiddenCharacters } from './bounds.js'

const maxUrlLength = 2_048

/** What one listing stands for. The method is not part of it. */
export interface ResourceKey {
  /** Origin and path in one normal form, hosts in ASCII. */
  readonly url: string
  /** MCP servers: one listing a tool; otherwise empty. */
  readonly toolName: string
}

/** Null: an absolute http(s) URL that can be listed. */
export const findUrlProblem = (text: string | null): string | null => {
  if (text === null || text === '') return 'is missing'
  if (text.length > maxUrlLength) return `has more than ${maxUrlLength} characters`
  if (hasHiddenCharacters(text)) return 'contains control or invisible characters'
  if (!/^https?:\/\//i.test(text)) return 'does not start with http:// or https://'
  const url = parseUrl(text)
  if (url === null) return 'is not a URL'
  if (url.username !== '' || url.password !== '') return 'contains credentials'
  if (normalizeHost(url) === '') return 'has no host'
  return normalizeUrl(url).length > maxUrlLength ? `has more than ${maxUrlLength} characters` : null
}

/** For a URL without a problem. A valid `routeTemplate` replaces the path. */
export const toResourceKey = (
  url: string,
  { routeTemplate, toolName }: { readonly routeTemplate: string | null; readonly toolName: string },
): ResourceKey => ({ url: normalizeUrl(new URL(url), routeTemplate), toolName })

const normalizeUrl = (url: URL, path: string | null = null): string => {
  const port = url.port === '' ? '' : `:${url.port}`
  // Resolves `.` segments of a template.
  const pathname = path === null ? url.pathname : new URL(path, url.origin).pathname
  return `${url.protocol}//${normalizeHost(url)}${port}${normalizePath(pathname)}`
}

const normalizeHost = ({ hostname }: URL): string => hostname.replace(/\.+$/, '')

/** RFC 3986, section 6.2.2: upper-case escapes, and none for unreserved characters. */
const normalizePath = (path: string): string =>
  path.replaceAll(/%([0-9a-f]{2})/gi, (encoded, digits: string) => {
    const character = String.fromCharCode(Number.parseInt(digits, 16))
    return /[A-Za-z0-9\-_~]/.test(character) ? character : encoded.toUpperCase()
  })

/** Whether the key stands for many URLs; a literal path with a colon is taken for one too. */
export const isTemplateKey = ({ url }: Pick<ResourceKey, 'url'>): boolean =>
  new URL(url).pathname.includes(':')

/** Null: not a URL. (`URL.parse` is newer than the oldest supported Node.) */
export const parseUrl = (text: string): URL | null => (URL.canParse(text) ? new URL(text) : null)

const allowed = /^\/[a-zA-Z0-9_/:.\-~%]+$/
const maxLength = 1_024
const maxDecodings = 5

/** Null: valid. The rules of x402, with decoding to a fixed point. */
export const findTemplateProblem = (template: unknown): string | null => {
  if (typeof template !== 'string') return 'is not a string'
  if (template.length > maxLength) return `has more than ${maxLength} characters`
  if (!allowed.test(template)) return 'is not a path of letters, digits and _ / : . - ~ %'
  const decoded = decodeFully(template)
  if (decoded === null) return `is not percent-encoded text that ${maxDecodings} decodings resolve`
  if (decoded.includes('..')) return 'contains `..`'
  if (decoded.includes('://')) return 'contains `://`'
  if (decoded.includes('//') || decoded.includes('\\')) return 'contains `//` or a backslash'
  return null
}

const decodeFully = (text: string): string | null => {
  let decoded = text
  for (let pass = 0; pass < maxDecodings; pass += 1) {
    const next = decodeOnce(decoded)
    if (next === null || next === decoded) return next
    decoded = next
  }
  return null
}

const decodeOnce = (text: string): string | null => {
  try {
    return decodeURIComponent(text)
  } catch {
    return null
  }
}

/** Null: `hostname` (ASCII, as `URL` writes it) belongs to one writing system a label, and is visible. */
export const findHostProblem = (hostname: string): string | null => {
  const shown = domainToUnicode(hostname)
  if (shown === '' && hostname.includes('xn--')) return 'is not valid punycode'
  if (hasHiddenCharacters(shown)) return 'contains invisible characters'
  const mixed = shown.split('.').find(mixesScripts)
  return mixed === undefined ? null : 'mixes writing systems in one label, as look-alike names do'
}

// UTS 39, highly restrictive: these are written together; Latin may stand beside the East Asian ones.
const eastAsian = ['Han', 'Hiragana', 'Katakana', 'Hangul', 'Bopomofo'] as const
const others = [
  'Latin',
  'Cyrillic',
  'Greek',
  'Armenian',
  'Hebrew',
  'Arabic',
  'Devanagari',
  'Bengali',
  'Tamil',
  'Telugu',
  'Thai',
  'Georgian',
  'Cherokee',
  'Ethiopic',
  'Khmer',
  'Lao',
  'Myanmar',
  'Sinhala',
  'Tibetan',
  'Mongolian',
  'Coptic',
  'Lisu',
  'Canadian_Aboriginal',
] as const
const asianLetters = new RegExp(eastAsian.map((script) => `\\p{Script=${script}}`).join('|'), 'u')
const scripts = others.map((script) => ({ script, letters: new RegExp(`\\p{Script=${script}}`, 'u') }))

const mixesScripts = (label: string): boolean => {
  const found = scripts.filter(({ letters }) => letters.test(label)).map(({ script }) => script)
  if (asianLetters.test(label)) return found.some((script) => script !== 'Latin')
  return found.length > 1
}

const privateAddresses = new BlockList()
const privateBlocks = [
  ['0.0.0.0', 8],
  ['10.0.0.0', 8],
  ['100.64.0.0', 10],
  ['127.0.0.0', 8],
  ['169.254.0.0', 16],
  ['172.16.0.0', 12],
  ['192.0.0.0', 24],
  ['192.168.0.0', 16],
  ['198.18.0.0', 15],
  ['224.0.0.0', 3],
] as const
const privateBlocks6 = [
  ['::', 96],
  ['::ffff:0:0:0', 96],
  ['64:ff9b::', 96],
  ['64:ff9b:1::', 48],
  ['2002::', 16],
  ['fc00::', 7],
  ['fe80::', 10],
  ['fec0::', 10],
  ['ff00::', 8],
] as const
for (const [network, prefix] of privateBlocks) privateAddresses.addSubnet(network, prefix, 'ipv4')
for (const [network, prefix] of privateBlocks6) privateAddresses.addSubnet(network, prefix, 'ipv6')

const privateNames = /(?:^|\.)(?:localhost|localdomain|local|internal|intranet|lan|corp|home|home\.arpa)$/

/**
 * Whether the host is this machine or in its network. `hostname` is as `URL` writes it, where addresses are canonical.
 */
export const isPrivateHost = (hostname: string): boolean => {
  const name = hostname.replace(/\.$/, '')
  const address = name.startsWith('[') ? name.slice(1, -1) : name
  const family = isIP(address)
  // IPv4-mapped addresses are compared as IPv4.
  if (family !== 0) return privateAddresses.check(address, family === 6 ? 'ipv6' : 'ipv4')
  return !name.includes('.') || privateNames.test(name)
}
