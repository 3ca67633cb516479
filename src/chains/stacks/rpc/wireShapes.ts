import { z } from 'zod'

const whole = z.int().nonnegative()

export const infoShape = z.object({ network_id: whole })

/** Newest block first. */
export const blocksShape = z.object({
  results: z
    .array(
      z.object({ canonical: z.literal(true), height: whole, block_time: whole, burn_block_height: whole }),
    )
    .length(1),
})

export interface Tip {
  readonly height: number
  readonly burnHeight: number
  /** Unix seconds. */
  readonly time: number
}

const eventShape = z.discriminatedUnion('event_type', [
  z.object({
    event_type: z.literal('fungible_token_asset'),
    event_index: whole,
    asset: z.object({
      asset_event_type: z.string(),
      /** `<contract>::<token>`. */
      asset_id: z.string().max(400),
      sender: z.string().max(200).default(''),
      recipient: z.string().max(200).default(''),
      // A u128.
      amount: z
        .string()
        .regex(/^[0-9]{1,39}$/)
        .transform(BigInt),
    }),
  }),
  z.object({
    event_type: z.literal('smart_contract_log'),
    event_index: whole,
    contract_log: z.object({
      contract_id: z.string().max(200),
      topic: z.string(),
      value: z.object({ hex: z.string() }),
    }),
  }),
  z.object({
    event_type: z.enum(['stx_lock', 'stx_asset', 'non_fungible_token_asset']),
    event_index: whole,
  }),
])

export type TransactionEvent = z.infer<typeof eventShape>

const minedShape = z.object({
  tx_status: z.enum(['success', 'abort_by_response', 'abort_by_post_condition']),
  sender_address: z.string().max(200),
  canonical: z.boolean(),
  microblock_canonical: z.boolean(),
  is_unanchored: z.boolean(),
  block_hash: z.string().regex(/^0x[0-9a-f]{64}$/),
  block_height: whole,
  /** Unix seconds. */
  block_time: z.int().positive(),
  burn_block_height: whole,
  event_count: whole,
  events: z.array(eventShape),
})

const unminedShape = z.object({
  tx_status: z.union([z.literal('pending'), z.templateLiteral(['dropped_', z.string()])]),
})

export type MinedTransaction = z.infer<typeof minedShape>

/** The answer must be about this transaction. */
export const transactionShapeOf = (id: string) =>
  z.object({ tx_id: z.literal(id) }).and(z.union([minedShape, unminedShape]))

export const contractShape = z.object({ fungible_tokens: z.array(z.object({ name: z.string().max(200) })) })

// `(ok uint)`, serialized: two bytes of types and a u128.
const okUintForm = /^0x0701([0-9a-f]{32})$/

export const balanceShape = z
  .object({ okay: z.literal(true), result: z.string().regex(okUintForm) })
  .transform(({ result }) => BigInt(result.replace(okUintForm, '0x$1')))

export const feeRateShape = whole.transform(BigInt)
