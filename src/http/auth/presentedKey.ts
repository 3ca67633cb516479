import type { FastifyRequest } from 'fastify'
import { AppError } from '../../errors.js'
import { Secret } from '../../platform/secret.js'

/** From `Authorization: Bearer` or `X-API-Key`. Throws UNAUTHORIZED if the headers are ambiguous. */
export const readPresentedKey = (request: FastifyRequest, acceptsBearer: boolean): Secret | null => {
  const { authorization, 'x-api-key': xApiKey } = request.headers
  if (authorization === undefined && xApiKey === undefined) return null
  const bearer = acceptsBearer ? readBearer(readSingleHeader(request, 'Authorization')) : null
  const apiKey = readApiKey(readSingleHeader(request, 'X-API-Key'))
  if (bearer !== null && apiKey !== null && bearer !== apiKey) {
    throw new AppError(
      'UNAUTHORIZED',
      'Authorization and X-API-Key carry different keys; send only one of them',
    )
  }
  const presented = bearer ?? apiKey
  return presented === null ? null : new Secret(presented)
}

/** Uses the raw headers: for repeated headers Node keeps the first or joins them. */
const readSingleHeader = ({ raw: { rawHeaders } }: FastifyRequest, name: string): string | null => {
  const isNamed = (header: string | undefined) => header?.toLowerCase() === name.toLowerCase()
  const values = rawHeaders.filter((_, at) => at % 2 === 1 && isNamed(rawHeaders[at - 1]))
  if (values.length > 1) throw new AppError('UNAUTHORIZED', `The header ${name} must be sent once`)
  return values[0] ?? null
}

const readBearer = (value: string | null): string | null => {
  if (value === null || value === '') return null
  const [, scheme = '', credentials = ''] = /^(\S+)(?: +(.*))?$/.exec(value) ?? []
  // Another scheme with credentials is meant for another party, such as a proxy in front of us.
  if (scheme.toLowerCase() !== 'bearer' && credentials !== '') return null
  if (isKeyLike(credentials)) return credentials
  throw new AppError('UNAUTHORIZED', 'Authorization must be "Bearer <API key>"')
}

const readApiKey = (value: string | null): string | null => {
  if (value === null || isKeyLike(value)) return value
  throw new AppError('UNAUTHORIZED', 'X-API-Key must contain only your API key')
}

/** Visible ASCII without a comma: proxies join repeated headers with commas. */
const isKeyLike = (text: string): boolean => /^[\x21-\x2b\x2d-\x7e]+$/.test(text)
