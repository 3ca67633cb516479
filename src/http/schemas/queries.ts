import { z } from 'zod'
import { parameters } from './paymentExamples.js'

/** As stored: lower case. */
export const uuidText = z.uuid().transform((text) => text.toLowerCase())

/** Text of a query parameter, documented as the integer that it stands for. */
export const integerText = (pattern: RegExp, minimum: number, maximum: number) =>
  z
    .string()
    .regex(pattern)
    .transform(Number)
    .pipe(z.int().min(minimum).max(maximum))
    .meta({ type: 'integer', minimum, maximum })

/** A page size. Larger ones are those of the largest page, so that callers need not know it. */
export const limitText = (maximum: number) =>
  z
    .string()
    .regex(/^[1-9][0-9]*$/, 'must be a whole number from 1 on')
    .transform((text) => Math.min(Number(text), maximum))
    .meta({ type: 'integer', minimum: 1 })

const largestPage = 200

export const pageLimit = limitText(largestPage)

export const describeLimit = (what: string, fallback: number, maximum: number = largestPage) => ({
  description: `${what}, from 1 on; at most ${maximum} are returned; default ${fallback}`,
  examples: [fallback],
})

export const pageQuery = z.strictObject({
  limit: pageLimit.default(50).meta(describeLimit('Page size', 50)),
  cursor: uuidText.optional().meta({ description: '`nextCursor` of the previous page' }),
})

const fields = z.strictObject({
  network: z
    .string()
    .min(1)
    .max(128)
    .optional()
    .meta({
      description:
        'With `transaction`: required, as in the settle response. With `status`: filter by network',
      examples: [parameters.network],
    }),
  transaction: z
    .string()
    .min(1)
    .max(256)
    .optional()
    .meta({ description: 'Transaction hash', examples: [parameters.transaction] }),
  payer: z
    .string()
    .min(1)
    .max(128)
    .optional()
    .meta({ description: 'With `transaction`: payer of the payment' }),
  status: z
    .enum(['pending', 'confirmed', 'failed'])
    .optional()
    .meta({ description: 'For operators, instead of `transaction`: all settlements with this status' }),
  since: z.iso
    .datetime({ offset: true })
    .transform((text) => new Date(text))
    .optional()
    .meta({
      description: 'For lists: created at or after this time',
      examples: ['2026-01-01T00:00:00Z'],
    }),
  limit: pageLimit.optional().meta(describeLimit('For lists: page size', 50)),
  cursor: uuidText.optional().meta({ description: 'For lists: `nextCursor` of the previous page' }),
})

type Fields = z.infer<typeof fields>

const withTransaction = ['transaction', 'payer'] as const
const withStatus = ['since', 'limit', 'cursor'] as const
const defaultLimit = 50

/** It has two exclusive forms: by transaction (public), or by status (operators). */
export const settlementsQuery = fields.transform((query, context) => {
  const refuse = (field: keyof Fields, message: string) => {
    context.addIssue({ code: 'custom', path: [field], message })
  }
  const { network, transaction, payer, status, since, limit = defaultLimit, cursor } = query
  if (status !== undefined) {
    for (const field of withTransaction) {
      if (query[field] !== undefined) refuse(field, 'cannot be combined with status')
    }
    return { ofStatus: { status, network, since, limit, cursor } }
  }
  for (const field of withStatus) if (query[field] !== undefined) refuse(field, 'requires status')
  if (network === undefined) refuse('network', 'is required')
  if (transaction === undefined) refuse('transaction', 'is required')
  if (network === undefined || transaction === undefined) return z.NEVER
  return { ofTransaction: { network, transaction, payer } }
})

export const accountSettlementsQuery = fields
  .pick({ since: true, limit: true, cursor: true })
  .extend({
    status: z.enum(['pending', 'confirmed', 'failed']).optional().meta({ description: 'Filter by status' }),
    network: z.string().min(1).max(128).optional().meta({ description: 'Filter by network' }),
    search: z
      .string()
      .min(1)
      .max(256)
      .optional()
      .meta({
        description:
          'Only settlements with this id or transaction, and, of the newest 1,000 that match the other filters, those ' +
          'of this payer',
      }),
  })
  .transform(({ limit = defaultLimit, ...rest }) => ({ ...rest, limit }))

/** Checks the unvalidated query, because authentication runs before validation. */
export const requiresOperator = ({ query }: { readonly query: unknown }): boolean =>
  typeof query === 'object' && query !== null && 'status' in query
