import type { FastifyRequest } from 'fastify'
import { AppError } from '../errors.js'
import { Secret } from '../platform/secret.js'

/**
 * The API key that a request presents as `Authorization: Bearer …` or as `X-API-Key`, null where it presents none.
 * Throws UNAUTHORIZED where two readers could take different keys from it. The query string is not looked at.
 */
export const readPresentedKey = (request: FastifyRequest, isBearerAKey: boolean): Secret | null => {
  const { authorization, 'x-api-key': given } = request.headers
  if (authorization === undefined && given === undefined) return null
  const bearer = isBearerAKey ? readBearer(readOnly(request, 'Authorization')) : null
  const apiKey = readApiKey(readOnly(request, 'X-API-Key'))
  if (bearer !== null && apiKey !== null && bearer !== apiKey) {
    throw new AppError('UNAUTHORIZED', 'Authorization and X-API-Key carry different keys; send one of them')
  }
  const presented = bearer ?? apiKey
  return presented === null ? null : new Secret(presented)
}

/** The one value of a header. Of several, node would keep the first, or join them. */
const readOnly = ({ raw: { rawHeaders } }: FastifyRequest, name: string): string | null => {
  const isNamed = (header: string | undefined) => header?.toLowerCase() === name.toLowerCase()
  const values = rawHeaders.filter((_, at) => at % 2 === 1 && isNamed(rawHeaders[at - 1]))
  if (values.length > 1) throw new AppError('UNAUTHORIZED', `Send the header ${name} once`)
  return values[0] ?? null
}

const readBearer = (value: string | null): string | null => {
  if (value === null || value === '') return null
  const [, scheme = '', credentials = ''] = /^(\S+)(?: +(.*))?$/.exec(value) ?? []
  // A scheme with its credentials that is not ours is somebody else's affair, such as a proxy's in front of us.
  if (scheme.toLowerCase() !== 'bearer' && credentials !== '') return null
  if (isKeyLike(credentials)) return credentials
  throw new AppError('UNAUTHORIZED', 'Authorization must be the word Bearer, a space and your API key')
}

const readApiKey = (value: string | null): string | null => {
  if (value === null || isKeyLike(value)) return value
  throw new AppError('UNAUTHORIZED', 'X-API-Key must be your API key and nothing else')
}

/** Visible ASCII without a comma: proxies join repeated headers with one. */
const isKeyLike = (text: string): boolean => /^[\x21-\x2b\x2d-\x7e]+$/.test(text)
