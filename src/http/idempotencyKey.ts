import type { FastifyRequest } from 'fastify'
import { z } from 'zod'
import { AppError } from '../errors.js'

const wellFormedKey = /^[A-Za-z0-9-]{1,64}$/

type KeyedRequest = Pick<FastifyRequest, 'headers'>

/** For `onRequest`, before the body is read: a malformed key could not be looked up again. */
export const rejectMalformedKey = async ({ headers }: KeyedRequest): Promise<void> => {
  const key = headers['idempotency-key']
  if (key === undefined || (typeof key === 'string' && wellFormedKey.test(key))) return
  throw new AppError('INVALID_IDEMPOTENCY_KEY', 'Idempotency-Key must be 1 to 64 letters, digits and hyphens')
}

export const readIdempotencyKey = ({ headers }: KeyedRequest): string | null => {
  const key = headers['idempotency-key']
  return typeof key === 'string' ? key : null
}

export const exampleKey = 'order-4711-attempt-1'

export const keyedHeaders = z.object({
  'Idempotency-Key': z
    .string()
    .regex(/^[A-Za-z0-9-]{1,64}$/)
    .optional()
    .meta({
      description: 'Unique key of this request: 1 to 64 letters, digits and hyphens',
      examples: [exampleKey],
    }),
})

export const replayedHeader = {
  'X-Idempotency-Replayed': {
    description: '`true` if this answers an earlier request with the same `Idempotency-Key` again',
    schema: { type: 'string', enum: ['true'] },
  },
} as const
