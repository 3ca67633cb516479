import { containsApiKey } from '../../usecases/dashboard/apiKey.js'

/** `foreign`: a credential of another service. `malformed`: meant for this service, but not a key. */
export type KeyHeader = { readonly key: string } | 'foreign' | 'malformed' | null

export const parseAuthorization = (value: string | null): KeyHeader => {
  if (value === null || value === '') return null
  const [, scheme = '', credentials = ''] = /^(\S+)(?: +(.*))?$/.exec(value) ?? []
  const isBearer = scheme.toLowerCase() === 'bearer'
  // Another scheme with credentials is meant for another party, such as a proxy in front of us.
  if (!isBearer && credentials !== '') return null
  const isEmpty = isBearer && credentials.trim() === ''
  if (!isEmpty && !containsApiKey(value)) return 'foreign'
  return isBearer && isKeyLike(credentials) ? { key: credentials } : 'malformed'
}

export const parseXApiKey = (value: string | null): KeyHeader => {
  if (value === null) return null
  if (value.trim() !== '' && !containsApiKey(value)) return 'foreign'
  return isKeyLike(value) ? { key: value } : 'malformed'
}

/** Visible ASCII without a comma: proxies join repeated headers with commas. */
const isKeyLike = (text: string): boolean => /^[\x21-\x2b\x2d-\x7e]+$/.test(text)
