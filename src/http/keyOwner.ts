import type { FastifyRequest } from 'fastify'
import { AppError } from '../errors.js'
import type { Secret } from '../platform/secret.js'
import type { Account } from '../ports/accountStore.js'

/** Who presented a key, and which. */
export interface KeyOwner {
  readonly account: Account
  readonly apiKey: Secret
}

/** The owner of the presented key; on a route whose `access` is `dashboard` there always is one. */
export const getKeyOwner = ({ account, apiKey }: FastifyRequest): KeyOwner => {
  if (account === null || apiKey === null)
    throw new AppError('UNAUTHORIZED', 'This is for owners of API keys')
  return { account, apiKey }
}
