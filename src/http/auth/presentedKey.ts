import type { FastifyRequest } from 'fastify'
import { AppError } from '../../errors.js'
import { Secret } from '../../platform/secret.js'
import { containsApiKey } from '../../usecases/dashboard/apiKey.js'
import { type KeyHeader, parseAuthorization, parseXApiKey } from './keyHeaders.js'

/** `foreign`: a credential of another service, which is ignored where no key is needed. */
type PresentedKey = Secret | 'foreign' | null

/**
 * From `Authorization: Bearer` or `X-API-Key`. Throws UNAUTHORIZED if the headers are empty or ambiguous, or hold a
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
