import { z } from 'zod'
import { parameters } from './examples.js'
import { describeLimit, pageLimit, uuidText } from './page.js'

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

/** Two exclusive forms: by transaction (public), or by status (operators). */
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
  })
  .transform(({ limit = defaultLimit, ...rest }) => ({ ...rest, limit }))

/** Checks the unvalidated query, because authentication runs before validation. */
export const requiresOperator = ({ query }: { readonly query: unknown }): boolean =>
  typeof query === 'object' && query !== null && 'status' in query
