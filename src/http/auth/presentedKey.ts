import { createHash } from 'node:crypto'
import type { IncomingHttpHeaders } from 'node:http'
import type { FastifyRequest } from 'fastify'
import { setNewest } from '../../concurrency/boundedMap.js'
import { AppError } from '../../errors.js'
import { Secret } from '../../platform/secret.js'
import { containsApiKey } from '../../usecases/dashboard/apiKey.js'
import type { KeyHolder } from '../../usecases/dashboard/useCases.js'

/** `foreign`: a credential of another service, which is ignored where no key is needed. */
type PresentedKey = Secret | 'foreign' | null

/**
 * Reads `Authorization: Bearer` or `X-API-Key`. Throws UNAUTHORIZED if the headers are empty or ambiguous, or hold a
 * malformed key of ours. Credentials without our prefix, such as the JWT of another provider, are foreign.
 */
export const readPresentedKey = (request: FastifyRequest, acceptsBearer: boolean): PresentedKey => {
  const { authorization, 'x-api-key': xApiKey } = request.headers
  if (authorization === undefined && xApiKey === undefined) return null
  const bearer = acceptsBearer ? readBearer(readSingleHeader(request, 'Authorization')) : null
  const apiKey = readApiKey(readSingleHeader(request, 'X-API-Key'))
  if (bearer instanceof Secret && apiKey instanceof Secret && bearer.reveal() !== apiKey.reveal()) {
    throw new AppError(
      'UNAUTHORIZED',
      'Authorization and X-API-Key carry different keys; send only one of them',
    )
  }
  if (bearer instanceof Secret) return bearer
  return apiKey ?? bearer
}

/** Uses the raw headers: for repeated headers Node keeps the first or joins them. */
const readSingleHeader = ({ raw: { rawHeaders } }: FastifyRequest, name: string): string | null => {
  const isNamed = (header: string | undefined) => header?.toLowerCase() === name.toLowerCase()
  const values = rawHeaders.filter((_, at) => at % 2 === 1 && isNamed(rawHeaders[at - 1]))
  if (values.length > 1 && values.some(containsApiKey)) {
    throw new AppError('UNAUTHORIZED', `The header ${name} must be sent once`)
  }
  return values[0] ?? null
}

const readBearer = (value: string | null): PresentedKey =>
  present(parseAuthorization(value), 'Authorization must be "Bearer <API key>"')

const readApiKey = (value: string | null): PresentedKey =>
  present(parseXApiKey(value), 'X-API-Key must contain only your API key')

const present = (header: KeyHeader, problem: string): PresentedKey => {
  if (header === 'malformed') throw new AppError('UNAUTHORIZED', problem)
  return header === null || header === 'foreign' ? header : new Secret(header.key)
}

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

/** `foreign`: a credential of another service. `malformed`: meant for this service, but not a key. */
type KeyHeader = { readonly key: string } | 'foreign' | 'malformed' | null

const parseAuthorization = (value: string | null): KeyHeader => {
  if (value === null || value === '') return null
  const [, scheme = '', credentials = ''] = /^(\S+)(?: +(.*))?$/.exec(value) ?? []
  const isBearer = scheme.toLowerCase() === 'bearer'
  // Another scheme with credentials is meant for another party, such as a proxy in front of us.
  if (!isBearer && credentials !== '') return null
  const isEmpty = isBearer && credentials.trim() === ''
  if (!isEmpty && !containsApiKey(value)) return 'foreign'
  return isBearer && isKeyLike(credentials) ? { key: credentials } : 'malformed'
}

const parseXApiKey = (value: string | null): KeyHeader => {
  if (value === null) return null
  if (value.trim() !== '' && !containsApiKey(value)) return 'foreign'
  return isKeyLike(value) ? { key: value } : 'malformed'
}

/** Visible ASCII without a comma: proxies join repeated headers with commas. */
const isKeyLike = (text: string): boolean => /^[\x21-\x2b\x2d-\x7e]+$/.test(text)

export type KeyCustomer = Pick<KeyHolder, 'customer' | 'isProven' | 'tier'>

/** Remembers keys that this process accepted and has not refused since: a hint for limits, never a proof. */
export interface AcceptedKeys {
  add(headers: IncomingHttpHeaders, owner: KeyCustomer): void
  remove(headers: IncomingHttpHeaders): void
  /** Null if the key was not accepted. */
  find(headers: IncomingHttpHeaders): KeyCustomer | null
}

export const maxAcceptedKeys = 20_000

export const createAcceptedKeys = (): AcceptedKeys => {
  // Ordered by last use, so that keys in use stay.
  const accepted = new Map<string, KeyCustomer>()
  return {
    add: (headers, { customer, isProven, tier }) => {
      const hash = findKeyHash(headers)
      if (hash !== null) setNewest(accepted, hash, { customer, isProven, tier }, maxAcceptedKeys)
    },
    remove: (headers) => {
      const hash = findKeyHash(headers)
      if (hash !== null) accepted.delete(hash)
    },
    find: (headers) => {
      const hash = accepted.size === 0 ? null : findKeyHash(headers)
      return (hash === null ? undefined : accepted.get(hash)) ?? null
    },
  }
}
