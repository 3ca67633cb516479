import { hasHiddenCharacters } from './visibleText.js'

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
