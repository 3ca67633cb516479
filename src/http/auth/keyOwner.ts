import type { FastifyRequest } from 'fastify'
import { AppError } from '../../errors.js'
import type { Secret } from '../../platform/secret.js'
import type { Actor } from '../../ports/accountStore.js'
import type { KeyHolder } from '../../usecases/dashboard/useCases.js'

export interface KeyOwner {
  readonly account: KeyHolder
  readonly apiKey: Secret
}

export const getKeyOwner = ({ account, apiKey }: FastifyRequest): KeyOwner => {
  if (account === null || apiKey === null) throw new AppError('UNAUTHORIZED', 'An API key is required')
  return { account, apiKey }
}

/** For the audit log. */
export const readActor = (request: FastifyRequest): Actor => {
  const { key } = getKeyOwner(request).account
  return { actor: `key ${key.name} (${key.id})`, address: request.ip }
}
