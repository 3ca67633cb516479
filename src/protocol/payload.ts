import { z } from 'zod'
import { resourceUrl } from './wire.js'

const record = z.record(z.string(), z.unknown())
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
  payload: record,
  resource: z
    .union(
      // Most common form first: each failed member costs time.
      [z.looseObject({ url: resourceUrl.optional() }), resourceUrl],
      'must be a URL or an object with `url`',
    )
    .nullish(),
})

export type PayloadShape = z.infer<typeof payloadShape>
