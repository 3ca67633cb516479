import { z } from 'zod'
import { nextCursor, operationalCodeName, reasonName } from './results.js'

/* Requests and responses of `/v1/captures`, `/v1/voids`, `/v1/refunds` and `/v1/payments`. */

export const heldStatuses = [
  'pending',
  'held',
  'captured',
  'voided',
  'expired',
  'reclaimed',
  'failed',
] as const

export const heldStatus = z.enum(heldStatuses)
export type HeldStatus = z.infer<typeof heldStatus>

export const moveType = z.enum(['capture', 'void', 'refund'])
export type MoveType = z.infer<typeof moveType> | 'hold'

/** What is done with a hold shortly before its capture deadline. */
export const atDeadline = z.enum(['nothing', 'capture', 'void'])
export type AtDeadline = z.infer<typeof atDeadline>

const hashForm = /^0x[0-9a-fA-F]{64}$/

/** As stored: lower case. */
export const paymentInfoHash = z
  .string()
  .regex(hashForm, 'must be 32 bytes of hex')
  .transform((text) => text.toLowerCase())
  .meta({
    description: "The escrow's hash of the payment, in any letter case",
    examples: [`0x${'5f'.repeat(32)}`],
  })

export const heldNetwork = z
  .string()
  .min(1)
  .max(128)
  .meta({ description: 'Any name of the network', examples: ['eip155:84532'] })

const amountError = 'must be a whole number of smallest units above 0, as decimal digits'

/** The escrow counts in uint120: 37 digits. */
const movedAmount = z
  .string(amountError)
  .regex(/^[0-9]{1,37}$/, amountError)
  .refine((digits) => !/^0+$/.test(digits), amountError)
  .meta({ description: 'Smallest units of the token, decimal digits', examples: ['4000'] })

const held = { network: heldNetwork, paymentInfoHash }

export const captureRequest = z
  .strictObject({
    ...held,
    amount: movedAmount,
    fee: z
      .string()
      .regex(/^[0-9]{1,37}$/, 'must be a whole number, as decimal digits')
      .optional()
      .meta({
        description:
          "The part of it that `feeReceiver` gets: an amount, under version 1.0 of the escrow basis points. Default: the lowest that the payment's terms allow",
      }),
    feeReceiver: z
      .string()
      .regex(/^0x[0-9a-fA-F]{40}$/, 'must be an EVM address')
      .optional()
      .meta({
        description: "Default: the recipient that the payment's terms name, or `payTo` where they name none",
      }),
    voidRemainder: z.boolean().optional().meta({
      description: 'Whether what is left is returned to the payer after the capture; default: false',
    }),
  })
  .meta({ id: 'CaptureRequest' })
export type CaptureRequest = z.infer<typeof captureRequest>

export const voidRequest = z.strictObject(held).meta({ id: 'VoidRequest' })

const atDeadlineField = atDeadline.meta({
  description:
    'What is done shortly before `captureDeadline`: `nothing`, `capture` all that can still be captured, or `void` it',
})

export const atDeadlineRequest = z.strictObject({ atDeadline: atDeadlineField }).meta({ id: 'AtDeadline' })

export const refundRequest = z.strictObject({ ...held, amount: movedAmount }).meta({ id: 'RefundRequest' })

const units = (description: string) => z.string().meta({ description: `${description}, in smallest units` })

export const heldPaymentView = z
  .object({
    network: z.string().meta({ description: 'CAIP-2 identifier' }),
    paymentInfoHash: z.string(),
    status: heldStatus.meta({
      description:
        '`pending`: not held yet; `held`: can be captured; `captured`: all of it was; `voided`: what was not captured was ' +
        'returned; `expired`: the capture deadline has passed, and the payer can take back what is left; `reclaimed`: it ' +
        'did; `failed`: it was never held',
    }),
    payer: z.string(),
    payTo: z.string(),
    asset: z.string(),
    amount: units('What was held at first'),
    capturableAmount: units('What can still be captured'),
    refundableAmount: units('What was captured and not refunded'),
    capturedAmount: units('What was captured, with fees'),
    voidedAmount: units('What a void returned to the payer'),
    reclaimedAmount: units('What the payer took back'),
    refundedAmount: units('What was refunded'),
    captureDeadline: z.iso.datetime(),
    atDeadline: atDeadlineField,
    refundDeadline: z.iso.datetime(),
    createdAt: z.iso.datetime(),
  })
  .meta({ id: 'HeldPayment' })
export type HeldPaymentView = z.infer<typeof heldPaymentView>

export const heldPaymentDetails = heldPaymentView
  .extend({
    settlements: z
      .array(
        z.object({
          id: z.string().meta({ description: 'For GET /v1/settlements/{id}' }),
          type: z.enum(['hold', 'capture', 'void', 'refund']),
          status: z.enum(['confirmed', 'failed', 'pending']),
          amount: units('What it holds, captures or refunds; 0 for a void'),
          transaction: z.string().meta({ description: 'Empty until something is sent' }),
          automatic: z.boolean().meta({ description: 'Whether `atDeadline` asked for it, and no request' }),
          createdAt: z.iso.datetime(),
        }),
      )
      .meta({ description: 'Oldest first; those that failed without a success are left out' }),
  })
  .meta({ id: 'HeldPaymentDetails' })
export type HeldPaymentDetails = z.infer<typeof heldPaymentDetails>

export const heldPaymentPage = z
  .object({
    payments: z
      .array(heldPaymentView)
      .meta({ description: 'Newest first, as of the last look at the chain' }),
    nextCursor,
  })
  .meta({ id: 'HeldPaymentPage' })
export type HeldPaymentPage = z.infer<typeof heldPaymentPage>

const moved = z.object({
  status: z.enum(['confirmed', 'pending', 'failed']).meta({
    description:
      '`pending`: sent, outcome not known yet; send the same request again under the same `Idempotency-Key`',
  }),
  amount: units('What was asked for; absent for a void').optional(),
  settlementId: z.string().optional().meta({ description: 'For GET /v1/settlements/{id}' }),
  transaction: z.string().meta({ description: 'Empty when nothing was sent' }),
  errorReason: reasonName,
  errorMessage: z.string().optional(),
  operationalCode: operationalCodeName,
})
export type Moved = z.infer<typeof moved>

export const movedHold = moved
  .extend({
    void: moved
      .optional()
      .meta({ description: 'With `voidRemainder`: what became of the void, once the capture is confirmed' }),
    payment: heldPaymentDetails
      .optional()
      .meta({ description: 'The payment afterwards; absent while it cannot be read' }),
  })
  .meta({ id: 'MovedHold' })
export type MovedHold = z.infer<typeof movedHold>
