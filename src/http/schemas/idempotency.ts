import { z } from 'zod'

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
