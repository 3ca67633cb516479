import { createHash } from 'node:crypto'
import type { IncomingHttpHeaders } from 'node:http'
import { type KeyHeader, parseAuthorization, parseXApiKey } from './keyHeaders.js'

interface Credential {
  readonly hash: string
  /** Whether the headers present exactly one key of this service, which the hash names. */
  readonly isKey: boolean
}

const credentials = new WeakMap<IncomingHttpHeaders, Credential>()

/**
 * Names what a request presents as its key, or null; never the key itself, because it is kept and shared in stores.
 *
 * A key has one name: everything that authentication ignores, such as the header, the spelling of the scheme or a foreign
 * credential beside it, would let one key pass as any number of them.
 */
export const findCredentialHash = (headers: IncomingHttpHeaders): string | null =>
  findCredential(headers)?.hash ?? null

/** The same, but only for headers with exactly one key of this service: what can be accepted, and refused, as this key. */
export const findKeyHash = (headers: IncomingHttpHeaders): string | null => {
  const credential = findCredential(headers)
  return credential?.isKey === true ? credential.hash : null
}

const findCredential = (headers: IncomingHttpHeaders): Credential | null => {
  if (headers.authorization === undefined && headers['x-api-key'] === undefined) return null
  const known = credentials.get(headers)
  if (known !== undefined) return known
  const credential = createCredential(headers)
  credentials.set(headers, credential)
  return credential
}

const createCredential = (headers: IncomingHttpHeaders): Credential => {
  const authorization = headers.authorization ?? null
  const xApiKey = headers['x-api-key'] === undefined ? null : String(headers['x-api-key'])
  const key = findOnlyKey(parseAuthorization(authorization), parseXApiKey(xApiKey))
  if (key !== null) return { hash: sha256(key), isKey: true }
  return { hash: sha256(`${authorization} ${xApiKey}`), isKey: false }
}

/** Null also for headers that are refused although one of them may hold a valid key: this key must not suffer from them. */
const findOnlyKey = (bearer: KeyHeader, xApiKey: KeyHeader): string | null => {
  if (bearer === 'malformed' || xApiKey === 'malformed') return null
  const keys = [bearer, xApiKey].flatMap((header) =>
    header === null || header === 'foreign' ? [] : [header.key],
  )
  const [key = null] = keys
  return keys.every((other) => other === key) ? key : null
}

const sha256 = (text: string): string => createHash('sha256').update(text).digest('base64')
