import type { FastifyRequest } from 'fastify'
import { AppError } from '../../errors.js'
import type { Secret } from '../../platform/secret.js'
import type { Account } from '../../ports/accountStore.js'

export interface KeyOwner {
  readonly account: Account
  readonly apiKey: Secret
}

export const getKeyOwner = ({ account, apiKey }: FastifyRequest): KeyOwner => {
  if (account === null || apiKey === null) throw new AppError('UNAUTHORIZED', 'An API key is required')
  return { account, apiKey }
}
