import { z } from 'zod'
import { readUint256 } from './amount.js'
import { resourceUrl, wireLimits } from './wire.js'

/*
 * `POST /accepts` in its two dialects. Middlewares of one group post requirements and read them back complete (200);
 * those of another post a price and read the whole 402 answer of their resource.
 */

const maxRequirements = 20

const text = (maxLength: number) => z.string().min(1).max(maxLength)
const openMap = z.record(z.string(), z.unknown()).nullish()
const version = z.int().min(1).max(2).optional()

const amount = z
  .string()
  .refine((digits) => readUint256(digits) !== null, 'must be a whole number of smallest units')
  .meta({ examples: ['10000'] })

const draft = z
  .looseObject({
    scheme: text(wireLimits.scheme).optional().meta({ description: 'Default `exact`' }),
    network: text(wireLimits.network).meta({ description: 'Any name that `/supported` lists' }),
    amount: amount.optional(),
    maxAmountRequired: amount.optional().meta({ description: 'Version 1 name of `amount`' }),
    maxAmount: amount.optional().meta({ description: 'Name of `amount` in the scheme `upto`' }),
    minAmount: amount.optional().meta({ description: 'Scheme `upto`: the least that may be settled' }),
    asset: text(wireLimits.address)
      .optional()
      .meta({ description: 'Default: the first token of the network' }),
    payTo: text(wireLimits.address),
    maxTimeoutSeconds: z.number().positive().max(wireLimits.timeoutSeconds).optional(),
    extra: openMap,
    resource: resourceUrl.optional(),
    description: z.string().max(8_192).optional(),
    mimeType: z.string().max(256).optional(),
  })
  .check((context) => {
    const { scheme, amount, maxAmountRequired, maxAmount, minAmount } = context.value
    const refuse = (field: string, message: string): void => {
      context.issues.push({ code: 'custom', path: [field], message, input: context.value })
    }
    const [first, ...others] = Object.entries({ amount, maxAmountRequired, maxAmount }).filter(
      ([, value]) => value !== undefined,
    )
    if (first === undefined) {
      refuse('amount', 'is required')
      return
    }
    const [name, text] = first
    const maximum = readUint256(text)
    for (const [field, value] of others) {
      if (readUint256(value) !== maximum) refuse(field, `differs from ${name}`)
    }
    const minimum = scheme === 'upto' ? readUint256(minAmount) : null
    if (minimum !== null && maximum !== null && minimum > maximum) refuse('minAmount', `exceeds ${name}`)
  })

const draftList = z
  .looseObject({
    payVersion: version,
    x402Version: version,
    t402Version: version,
    resource: z.union([z.looseObject({ url: resourceUrl.optional() }), resourceUrl]).nullish(),
    accepts: z.array(draft).min(1).max(maxRequirements),
  })
  .meta({
    id: 'RequirementsToComplete',
    description: 'Requirements that lack what only a facilitator knows, such as `extra`. Answered with 200.',
  })

const tokenAmount = z.looseObject({
  amount,
  asset: z.looseObject({
    address: text(wireLimits.address),
    eip712: z.looseObject({ name: z.string().max(256), version: z.string().max(64) }).nullish(),
  }),
})

const priced = z
  .looseObject({
    x402Version: version,
    resourceUrl,
    method: z.string().max(32).optional().meta({ description: 'HTTP method of the resource; not read' }),
    network: text(wireLimits.network).meta({ description: 'Any name that `/supported` lists' }),
    price: z.union([z.string().max(64), z.number(), tokenAmount]).meta({
      description: 'Dollars (`$0.01`) in the first token of the network, or an amount of a token',
      examples: ['$0.01'],
    }),
    scheme: text(wireLimits.scheme).nullish().meta({ description: 'Default `exact`' }),
    recipientAddress: text(wireLimits.address).nullish().meta({ description: 'Payee' }),
    serverWalletAddress: text(wireLimits.address).nullish().meta({
      description: 'Payee if `recipientAddress` is absent',
    }),
    routeConfig: z
      .looseObject({
        description: z.string().max(8_192).nullish(),
        mimeType: z.string().max(256).nullish(),
        maxTimeoutSeconds: z.number().positive().max(wireLimits.timeoutSeconds).nullish(),
        outputSchema: z.unknown().optional(),
      })
      .nullish(),
    extraMetadata: openMap.meta({ description: 'Copied into `extra`' }),
    // Every body with `accepts` is of the other dialect.
    accepts: z.never().optional(),
  })
  .meta({ id: 'Price', description: 'A price, answered with the body of a 402 response.' })

export const acceptsRequest = z.union(
  [draftList, priced],
  'must have accepts, or resourceUrl, network and price, each of the right form',
)

export type RequirementsDraft = z.infer<typeof draft>
export type RequirementsToComplete = z.infer<typeof draftList>
export type PriceRequest = z.infer<typeof priced>

export const isPriceRequest = (request: z.infer<typeof acceptsRequest>): request is PriceRequest =>
  !('accepts' in request)

const completeExtra = z.record(z.string(), z.unknown())

const partial = {
  maxAmount: z.string().optional().meta({ description: 'Scheme `upto`: the same as the amount' }),
  minAmount: z.string().optional().meta({ description: 'Scheme `upto`: the least that may be settled' }),
}

const requirementsV2 = z.object({
  scheme: z.string(),
  network: z.string().meta({ description: 'As the caller named it' }),
  amount: z.string(),
  ...partial,
  asset: z.string(),
  payTo: z.string(),
  maxTimeoutSeconds: z.number(),
  extra: completeExtra,
})

const requirementsV1 = z
  .object({
    scheme: z.string(),
    network: z.string(),
    maxAmountRequired: z.string(),
    ...partial,
    resource: z.string(),
    description: z.string(),
    mimeType: z.string(),
    outputSchema: z.unknown().optional(),
    asset: z.string(),
    payTo: z.string(),
    maxTimeoutSeconds: z.number(),
    extra: completeExtra,
  })
  .meta({ id: 'RequirementsV1' })

const envelope = {
  payVersion: z.int(),
  x402Version: z.int(),
  t402Version: z.int(),
  error: z.string().optional(),
}

export const completedRequirements = z
  .object({
    ...envelope,
    resource: z.looseObject({ url: z.string() }),
    accepts: z.array(z.union([requirementsV2, requirementsV1])),
  })
  .meta({ id: 'CompletedRequirements', description: 'Entries that this instance cannot settle are left out' })

export const pricedRequirements = z
  .object({ ...envelope, error: z.string(), accepts: z.array(requirementsV1) })
  .meta({ id: 'PaymentRequired', description: 'The body of a 402 response in version 1' })

export type RequirementsV2 = z.infer<typeof requirementsV2>
export type RequirementsV1 = z.infer<typeof requirementsV1>
export type CompletedRequirements = z.infer<typeof completedRequirements>
export type PricedRequirements = z.infer<typeof pricedRequirements>
