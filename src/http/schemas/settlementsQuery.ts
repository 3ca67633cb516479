import { z } from 'zod'
import { parameters } from './examples.js'

const fields = z.object({
  network: z
    .string()
    .min(1)
    .max(128)
    .optional()
    .meta({
      description: 'With `transaction`: as in the answer that named it. With `status`: only this network',
      examples: [parameters.network],
    }),
  transaction: z
    .string()
    .min(1)
    .max(256)
    .optional()
    .meta({ description: 'Transaction hash', examples: [parameters.transaction] }),
  payer: z.string().min(1).max(128).optional().meta({ description: 'With `transaction`: whose payment' }),
  status: z
    .enum(['pending', 'confirmed', 'failed'])
    .optional()
    .meta({ description: 'For operators, in place of `transaction`: all settlements that stand so' }),
  since: z.iso
    .datetime({ offset: true })
    .transform((text) => new Date(text))
    .optional()
    .meta({
      description: 'Of a list: those that were opened then or later',
      examples: ['2026-01-01T00:00:00Z'],
    }),
  limit: z
    .string()
    .regex(/^[1-9][0-9]{0,2}$/)
    .transform(Number)
    .pipe(z.int().min(1).max(200))
    .optional()
    .meta({ description: 'Of a list: how many at most, 1 to 200; 50 unless told', examples: ['50'] }),
  cursor: z
    .uuid()
    .transform((text) => text.toLowerCase())
    .optional()
    .meta({ description: 'Of a list: the `nextCursor` of the page before' }),
})

type Fields = z.infer<typeof fields>

const withTransaction = ['transaction', 'payer'] as const
const withStatus = ['since', 'limit', 'cursor'] as const
const defaultLimit = 50

/** The two questions of `GET /v1/settlements`: what a transaction settled, and, for operators, what stands how. */
export const settlementsQuery = fields.transform((query, context) => {
  const refuse = (field: keyof Fields, message: string) => {
    context.addIssue({ code: 'custom', path: [field], message })
  }
  const { network, transaction, payer, status, since, limit = defaultLimit, cursor } = query
  if (status !== undefined) {
    for (const field of withTransaction) {
      if (query[field] !== undefined) refuse(field, 'does not go with status')
    }
    return { ofStatus: { status, network, since, limit, cursor } }
  }
  for (const field of withStatus) if (query[field] !== undefined) refuse(field, 'goes only with status')
  if (network === undefined) refuse('network', 'is required')
  if (transaction === undefined) refuse('transaction', 'is required')
  if (network === undefined || transaction === undefined) return z.NEVER
  return { ofTransaction: { network, transaction, payer } }
})

/** The filters of `GET /dashboard/settlements`. */
export const accountSettlementsQuery = fields
  .pick({ since: true, limit: true, cursor: true })
  .extend({
    status: z
      .enum(['pending', 'confirmed', 'failed'])
      .optional()
      .meta({ description: 'Only those that stand so' }),
    network: z.string().min(1).max(128).optional().meta({ description: 'Only this network' }),
  })
  .transform(({ limit = defaultLimit, ...rest }) => ({ ...rest, limit }))

/** Whether a query, as it arrived, is the question that only operators may ask. */
export const asksOperators = ({ query }: { readonly query: unknown }): boolean =>
  typeof query === 'object' && query !== null && 'status' in query
