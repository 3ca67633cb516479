import type { FastifySchema } from 'fastify'
import { z } from 'zod'
import { tierSources, tiers } from '../../protocol/tiers.js'
import { readErrors } from './core.js'
import { describeErrors, jsonResponse } from './responses.js'

const tier = z
  .object({
    name: z.string().meta({ description: 'Display name' }),
    monthlyQuota: z.int().meta({ description: 'Transactions per month; -1 means unlimited' }),
    rpmLimit: z
      .int()
      .meta({ description: 'Requests per minute, for each of /verify and /settle; -1 means unlimited' }),
    feeRate: z.number().meta({ description: 'Fraction of a payment, for example 0.001' }),
    priceCents: z.int().meta({ description: 'Monthly price in cents' }),
  })
  .meta({ id: 'Tier' })

const tierList = z.object({
  tiers: z
    .object({
      free: tier.optional(),
      builder: tier.optional(),
      scale: tier.optional(),
      enterprise: tier.optional(),
    } satisfies Record<keyof typeof tiers, unknown>)
    .catchall(tier)
    .meta({ description: 'By id. All four, unless `source` is `configured`: then the ids of the operator' }),
  source: z.enum(tierSources).meta({
    description:
      '`specification`: the plans of a hosted service, the default with `API_KEY_REQUIRED=true` and of a ' +
      'sandbox. `self-hosted`: the default where keys are optional. `configured`: the operator set `TIERS`',
  }),
  registrationTier: z.string().meta({ description: 'Tier of new API keys' }),
})

export const tiersSchema = {
  operationId: 'getTiers',
  tags: ['Service'],
  summary: 'Plans: quotas, limits and prices',
  description:
    'The operator decides names, quotas, rates, fees and prices; the limits apply to callers with an API key.',
  response: {
    200: jsonResponse('All plans, by id.', tierList, {
      tiers: { summary: 'All plans', value: { tiers, source: 'specification', registrationTier: 'free' } },
    }),
    ...describeErrors(readErrors),
  },
} satisfies FastifySchema
