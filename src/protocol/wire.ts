import { z } from 'zod'
import { readUint256 } from './amount.js'

/*
 * Request bodies of /verify and /settle. Requirements come from the resource server, so an invalid one is a 400
 * that names the field. The payment payload comes from the payer: here it only has to be an object, and an
 * invalid one is refused with `invalid_payload_structure` (HTTP 200).
 */

/** Maximum lengths, and the maximum `maxTimeoutSeconds`. */
export const wireLimits = {
  scheme: 64,
  network: 128,
  address: 256,
  url: 8_192,
  unit: 128,
  timeoutSeconds: 31_536_000,
} as const

const amountError = { error: 'must be a whole number of smallest units, as decimal digits', abort: true }

const amount = z
  .union(
    [
      z
        .string()
        .regex(/^[0-9]{1,78}$/, amountError)
        .refine((digits) => readUint256(digits) !== null, 'must be at most 2^256 - 1'),
      z.int(amountError).nonnegative(amountError),
    ],
    amountError,
  )
  .meta({ description: 'Smallest units of the token, decimal digits (uint256)', examples: ['10000'] })

/** Stored in Postgres, which does not accept NUL in text. */
export const resourceUrl = z
  .string()
  .max(wireLimits.url)
  .refine((url) => !url.includes('\0'), 'must not contain NUL')

const text = (maxLength: number) => z.string().min(1).max(maxLength)
/** A map of any values. It accepts what `z.record` accepts of JSON, for a quarter of the time. */
const openObject = z.looseObject({})
const openMap = openObject.nullish()
const version = z.int().optional().meta({ description: 'Protocol version, 1 or 2' })

const amountNames = ['amount', 'maxAmountRequired', 'maxAmount'] as const

/** `amount` in version 2, `maxAmountRequired` in version 1, `maxAmount` in the scheme `upto`. */
export const wireRequirements = z
  .looseObject({
    scheme: text(wireLimits.scheme).meta({
      description: 'How the payment is authorized',
      examples: ['exact'],
    }),
    network: text(wireLimits.network).meta({
      description: 'CAIP-2 identifier, or the short name of version 1',
      examples: ['eip155:84532'],
    }),
    amount: amount.optional(),
    maxAmountRequired: amount.optional().meta({ description: 'Version 1 name of `amount`' }),
    maxAmount: amount.optional().meta({ description: 'Name of `amount` in the scheme `upto`' }),
    minAmount: amount
      .optional()
      .meta({ description: 'Scheme `upto`: the least that may be settled, unless it is 0' }),
    asset: text(wireLimits.address).meta({
      description: "The token's contract address, the chain's own name for it, or its CAIP-19 identifier",
      examples: ['0x036CbD53842c5426634e7929541eC2318f3dCF7e'],
    }),
    payTo: text(wireLimits.address).meta({ description: 'Recipient address' }),
    maxTimeoutSeconds: z
      .number()
      .nonnegative()
      .max(wireLimits.timeoutSeconds)
      .optional()
      .meta({
        description:
          'How long an authorization may be valid; may be absent beside `maxAmountRequired`. Scheme `batch-settlement`: may be 0, ' +
          'where nothing is authorized',
      }),
    extra: openMap.meta({
      description:
        "EVM: `name` and `version` of the token's EIP-712 domain. Scheme `upto`: `unit` is `token`, `request`, `second`, " +
        '`minute`, `byte`, `kb` or `mb`, and `unitPrice` the price of one, in smallest units',
    }),
    resource: resourceUrl.optional().meta({ description: 'Version 1: URL of what is paid for' }),
    description: z.string().max(8_192).optional().meta({ description: 'Version 1: what is paid for' }),
    mimeType: z.string().max(256).optional().meta({ description: 'Version 1: media type of the resource' }),
    outputSchema: z.unknown().optional().meta({ description: 'Version 1: how to call the resource' }),
    extensions: openMap.meta({ description: 'Declarations of protocol extensions, by key' }),
  })
  .check((context) => {
    const { scheme, maxAmountRequired, minAmount, maxTimeoutSeconds } = context.value
    const missing = (field: string) =>
      context.issues.push({ code: 'custom', path: [field], message: 'is required', input: context.value })
    const [first, ...others] = amountNames.filter((name) => context.value[name] !== undefined)
    if (first === undefined) missing('amount')
    const maximum = first === undefined ? null : readUint256(context.value[first])
    // Aliases with different values are ambiguous: client and facilitator could read different prices.
    for (const field of others) {
      if (readUint256(context.value[field]) === maximum) continue
      const message = `differs from ${first}`
      context.issues.push({ code: 'custom', path: [field], message, input: context.value })
    }
    const minimum = scheme === 'upto' ? readUint256(minAmount) : null
    // A charge of 0 takes the place of the maximum in x402's settle request.
    if (minimum !== null && maximum !== null && maximum > 0n && minimum > maximum) {
      const message = `exceeds ${first}`
      context.issues.push({ code: 'custom', path: ['minAmount'], message, input: context.value })
    }
    // Claims, sweeps and refunds authorize nothing; an authorization that ends at once pays nothing.
    if (maxTimeoutSeconds === 0 && scheme !== 'batch-settlement') {
      const message = 'must be greater than 0'
      context.issues.push({ code: 'custom', path: ['maxTimeoutSeconds'], message, input: context.value })
    }
    // Version 1 may omit it; version 2 requires it.
    if (maxTimeoutSeconds === undefined && maxAmountRequired === undefined) missing('maxTimeoutSeconds')
  })
  .meta({
    id: 'PaymentRequirements',
    description:
      'What the resource server asks for. One of `amount`, `maxAmountRequired` and `maxAmount` is required; ' +
      'where several are given they must be equal.',
  })

export const wirePayload = z.looseObject({}).meta({
  id: 'PaymentPayload',
  description:
    'Version 2: `accepted` and `payload`. Version 1 and the flat shape: `scheme`, `network` and `payload`. ' +
    'The version is read from `payVersion`, `x402Version` or `t402Version`.',
})

const unixSeconds = z.number().nonnegative().optional().meta({ description: 'Unix time in seconds' })

const usageDetails = z
  .looseObject({
    unitsConsumed: z.number().nonnegative().optional(),
    unitPrice: z
      .string()
      .max(wireLimits.unit)
      .optional()
      .meta({ description: 'Price per unit, in smallest units; may have a fraction', examples: ['2.5'] }),
    unitType: z
      .string()
      .max(wireLimits.unit)
      .optional()
      .meta({ description: 'Billing unit', examples: ['request'] }),
    startTime: unixSeconds,
    endTime: unixSeconds,
  })
  .meta({
    id: 'UsageDetails',
    description:
      'What was used. Scheme `upto`: what does not agree with what is settled is a warning in the answer',
  })

export const wirePaymentRequest = z
  .looseObject({
    payVersion: version,
    x402Version: version,
    t402Version: version,
    paymentPayload: wirePayload,
    paymentRequirements: wireRequirements,
    settleAmount: amount.optional().meta({
      description:
        'Scheme `upto`: what to transfer, at most `maxAmount`; 0 transfers nothing and consumes the authorization. ' +
        'The scheme `exact` ignores it',
    }),
    usageDetails: usageDetails.nullish(),
  })
  .meta({ id: 'PaymentRequest', description: 'A payment, and what the resource server asks for it' })

export type WirePaymentRequest = z.infer<typeof wirePaymentRequest>

/** As parsed: amounts are text, the network is the caller's name. */
export type WireRequirements = z.infer<typeof wireRequirements>

const textOrNumber = z.union([z.string(), z.number()])

/** Payment payload of any version. It comes from the payer, so a mismatch is a refusal, not INVALID_REQUEST. */
export const payloadShape = z.looseObject({
  payVersion: z.int().optional(),
  x402Version: z.int().optional(),
  t402Version: z.int().optional(),
  scheme: z.string().optional(),
  network: z.string().optional(),
  accepted: z
    .looseObject({
      scheme: z.string(),
      network: z.string(),
      amount: textOrNumber.optional(),
      maxAmount: textOrNumber.optional(),
      maxAmountRequired: textOrNumber.optional(),
      asset: z.string(),
      payTo: z.string(),
    })
    .optional(),
  payload: openObject,
  resource: z
    .union(
      // Most common form first: each failed member costs time.
      [z.looseObject({ url: resourceUrl.optional() }), resourceUrl],
      'must be a URL or an object with `url`',
    )
    .nullish(),
})

export type PayloadShape = z.infer<typeof payloadShape>
