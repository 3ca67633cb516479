import { z } from 'zod'
import { readUint256 } from './amount.js'
import { nextCursor, reasonName } from './results.js'
import { wirePaymentRequest } from './wire.js'

/* Requests and responses of the stream endpoints. */

export const streamStates = ['active', 'paused', 'closing', 'closed', 'failed', 'expired'] as const
export type StreamState = (typeof streamStates)[number]

export const streamEvents = [
  'stream.opened',
  'stream.paused',
  'stream.resumed',
  'stream.closed',
  'stream.failed',
  'stream.expired',
  'stream.insufficient_funds',
  'stream.funds_restored',
] as const
export type StreamEvent = (typeof streamEvents)[number]

export const streamLimits = {
  /** It bounds the metadata as JSON. */
  metadataBytes: 2_048,
  /** It bounds a voucher's signature in hex; wallets of several owners concatenate their signatures. */
  signature: 2 + 2 * 8_192,
  token: 128,
  lifetimeMs: 30 * 86_400_000,
  defaultLifetimeMs: 86_400_000,
  /** Left between the last moment of a stream and the end of its authorization. */
  marginMs: 60_000,
  /** The most that is left where many streams end at the same time: with more of them, none is opened. */
  maxMarginMs: 600_000,
} as const

/** Stays text: the state machine reads it. */
const amount = z
  .string()
  .regex(/^[0-9]{1,78}$/, 'must be smallest units, as decimal digits')
  .refine((digits) => readUint256(digits) !== null, 'must be at most 2^256 - 1')

const streamId = z.uuid().transform((text) => text.toLowerCase())

const streamToken = z.string().min(1).max(streamLimits.token).optional().meta({
  description: 'Of a stream that was opened without an API key; may be sent as `X-Stream-Token` instead',
})

const streamMetadata = z
  .record(z.string(), z.unknown())
  .refine(
    (metadata) => Buffer.byteLength(JSON.stringify(metadata)) <= streamLimits.metadataBytes,
    `must be at most ${streamLimits.metadataBytes} bytes of JSON`,
  )

export const openStreamBody = wirePaymentRequest
  .omit({ settleAmount: true, usageDetails: true })
  .extend({
    expiresAt: z.iso.datetime({ offset: true }).optional().meta({
      description:
        'When the stream closes by itself: at most 30 days from now, and 60 s before the authorization ends; default 24 h',
    }),
    baseline: amount.optional().meta({
      description:
        'Only over a channel: what you have charged of it before, if that is more than what is claimed on chain',
    }),
    metadata: streamMetadata
      .optional()
      .meta({ description: 'Yours, returned as it is; at most 2,048 bytes' }),
  })
  .meta({
    id: 'StreamOpenRequest',
    description:
      'A payment under `upto`, as for /verify, that is settled when the stream is closed; or a `voucher` under ' +
      '`batch-settlement`, whose channel pays by one claim',
  })
export type OpenStreamBody = z.infer<typeof openStreamBody>

const hexSignature = z
  .string()
  .max(streamLimits.signature)
  .regex(/^0x(?:[0-9a-fA-F]{2})+$/, 'must be hex')

const voucher = z
  .strictObject({
    signature: hexSignature,
    maxClaimableAmount: amount
      .optional()
      .meta({ description: 'Only over a channel: what may be claimed of it over its life' }),
    channelId: z
      .string()
      .regex(/^0x[0-9a-fA-F]{64}$/, 'must be 32 bytes of hex')
      .optional()
      .meta({ description: 'Only over a channel: that of the stream' }),
  })
  .meta({
    description:
      "The payer's EIP-712 signature over stream, amount and sequence, see `voucherTypedData` of the open answer. Once " +
      'a stream has seen one, every update needs one. Over a channel: the voucher of the channel, which an update needs ' +
      'when what was used exceeds the highest one',
  })

export const updateStreamBody = z
  .strictObject({
    streamId,
    amount: amount.meta({
      description: 'What was used since the stream was opened, in smallest units: never less than before',
      examples: ['2500'],
    }),
    sequence: z
      .int()
      .min(1)
      .optional()
      .meta({ description: 'Above that of the last update; gaps are fine. Default: the next one' }),
    voucher: voucher.optional(),
    token: streamToken,
  })
  .meta({ id: 'StreamUpdateRequest', description: 'The amount that was used so far' })
export type UpdateStreamBody = z.infer<typeof updateStreamBody>

export const closeStreamBody = z
  .strictObject({
    streamId,
    finalAmount: amount.optional().meta({
      description: 'What to settle: at least what was used; default: that. 0 transfers nothing',
      examples: ['2500'],
    }),
    claimAuthorizerSignature: hexSignature.optional().meta({
      description:
        'Only over a channel whose receiverAuthorizer is yours: its signature over `claim.typedData` of the last answer',
    }),
    token: streamToken,
  })
  .meta({ id: 'StreamCloseRequest', description: 'Ends a stream' })
export type CloseStreamBody = z.infer<typeof closeStreamBody>

/** Pause and resume take it. */
export const controlStreamBody = z
  .strictObject({ token: streamToken })
  .meta({ id: 'StreamControl' })
  .nullish()

export const streamView = z
  .object({
    id: z.string(),
    status: z.enum(streamStates).meta({
      description:
        '`closing`: the final amount is fixed and its settlement under way. `failed`: it could not be settled. ' +
        '`expired`: its time passed and nothing was used',
    }),
    scheme: z.string(),
    network: z.string().meta({ description: 'CAIP-2 identifier' }),
    asset: z.string(),
    payer: z.string(),
    payee: z.string().meta({ description: 'Recipient: `payTo` of the requirements' }),
    maxAmount: z.string().meta({ description: 'What the payer authorized, in smallest units' }),
    currentAmount: z.string().meta({ description: 'What was used so far' }),
    sequence: z.int().meta({ description: 'Of the last update; 0 before the first' }),
    updates: z.int().meta({ description: 'Updates that were accepted' }),
    vouchers: z
      .boolean()
      .meta({ description: 'Whether the payer signs: every update needs a voucher from then on' }),
    channel: z
      .object({
        channelId: z.string(),
        baseline: z.string().meta({ description: 'What was charged of it before the stream' }),
        ceiling: z.string().meta({ description: "Of the payer's highest voucher, `baseline` included" }),
      })
      .optional()
      .meta({ description: 'Of a stream over a channel: a claim takes `baseline` and the final amount' }),
    finalAmount: z.string().optional().meta({ description: 'What is settled; fixed by the close' }),
    settledAmount: z.string().optional().meta({ description: 'What was transferred' }),
    transaction: z.string().optional().meta({ description: 'Empty if nothing had to be sent' }),
    settlementId: z.string().optional().meta({ description: 'For GET /v1/settlements/{id}' }),
    errorReason: reasonName,
    errorMessage: z.string().optional().meta({ description: 'The reason as a sentence' }),
    risk: reasonName.meta({
      description: 'Why the amount could not be settled at the last look at the chain; absent if it could',
    }),
    metadata: z.looseObject({}).optional(),
    createdAt: z.iso.datetime(),
    lastUpdatedAt: z.iso.datetime(),
    expiresAt: z.iso.datetime().meta({ description: 'When the stream closes by itself' }),
    closedAt: z.iso.datetime().optional(),
  })
  .meta({ id: 'Stream' })
export type StreamView = z.infer<typeof streamView>

export const streamOpened = z
  .object({
    stream: streamView,
    voucherTypedData: z
      .looseObject({})
      .optional()
      .meta({
        description:
          'EIP-712 typed data of a voucher, for `eth_signTypedData_v4`: the payer replaces `amount` and `sequence` of the ' +
          'message. Absent where the network has no vouchers',
      }),
    streamToken: z.string().optional().meta({
      description: 'Only without an API key, and only once: controls the stream. Keep it secret',
    }),
  })
  .meta({ id: 'StreamOpened' })
export type StreamOpened = z.infer<typeof streamOpened>

const streamClaim = z
  .object({
    claims: z
      .array(z.looseObject({}))
      .meta({ description: 'The row as `/settle` takes it in a `claim`, with the highest voucher' }),
    typedData: z
      .looseObject({})
      .meta({ description: 'EIP-712 typed data that the receiverAuthorizer of the channel signs' }),
  })
  .meta({ id: 'StreamClaim', description: 'What settles a stream over a channel, as it stands' })
export type StreamClaim = z.infer<typeof streamClaim>

export const streamUpdated = z
  .object({
    stream: streamView,
    remaining: z.string().meta({
      description:
        'What is left of the maximum, over a channel at most of the highest voucher; in smallest units',
      examples: ['7500'],
    }),
    canContinue: z.boolean().meta({
      description:
        'False: stop the service. The maximum is used, the time is over, the funds are at risk, or the payer of a channel ' +
        'has to sign a higher voucher',
    }),
    claim: streamClaim.optional().meta({ description: 'Of GET, over a channel' }),
  })
  .meta({ id: 'StreamUpdated' })
export type StreamUpdated = z.infer<typeof streamUpdated>

export const streamAnswer = z
  .object({
    stream: streamView,
    claim: streamClaim.optional().meta({ description: 'Of a close over a channel that is not settled' }),
  })
  .meta({ id: 'StreamAnswer' })
export type StreamAnswer = z.infer<typeof streamAnswer>

export const streamPage = z
  .object({
    streams: z.array(streamView).meta({ description: 'Newest first' }),
    nextCursor,
  })
  .meta({ id: 'StreamPage' })
export type StreamPage = z.infer<typeof streamPage>
