import { z } from 'zod'
import { resourceUrl } from './wire.js'

const record = z.record(z.string(), z.unknown())
const textOrNumber = z.union([z.string(), z.number()])

/**
 * A payment payload of any version. A stranger wrote it: what does not fit is a decided answer, never a caller's
 * mistake.
 */
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
      // The usual form first: every one that does not fit costs.
      [z.looseObject({ url: resourceUrl.optional() }), resourceUrl],
      'must be a URL or an object with `url`',
    )
    .nullish(),
})

/** A payload of any version, as read: its proof is still the scheme's to judge. */
export type PayloadShape = z.infer<typeof payloadShape>
