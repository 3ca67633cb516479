import { z } from 'zod'
import { wirePayload } from './wire.js'

/* `GET /sandbox/addresses`: payers whose results are fixed. */

const verifyAnswer = z
  .object({ isValid: z.boolean(), invalidReason: z.string().optional() })
  .meta({ id: 'SandboxVerifyAnswer' })

const settleAnswer = z
  .object({
    success: z.boolean(),
    errorReason: z.string().optional(),
    status: z.literal('pending').optional(),
  })
  .meta({ id: 'SandboxSettleAnswer', description: 'Of the first /settle with the payment' })

/** `GET /sandbox/payments/{payer}`. */
export const sandboxPayment = z
  .object({ paymentPayload: wirePayload, paymentRequirements: z.record(z.string(), z.unknown()) })
  .meta({
    id: 'SandboxPayment',
    description: 'A body for /verify and /settle, of the scheme exact, with a new nonce',
  })

export type SandboxPayment = z.infer<typeof sandboxPayment>

export const sandboxAddress = z
  .object({
    name: z.string().meta({
      description: 'For `GET /sandbox/payments/{payer}`; the same on every network',
      examples: ['CAFE11'],
    }),
    address: z.string().meta({
      description: 'The payer; no key of it is known, so that neither signature nor balance is checked',
      examples: ['0x0000000000000000000000000000000000CAFE11'],
    }),
    family: z.string().meta({ description: 'Namespace of its networks', examples: ['eip155'] }),
    networks: z.array(z.string()).meta({ description: 'CAIP-2 identifiers' }),
    schemes: z.array(z.string()).meta({ examples: [['exact', 'upto']] }),
    meaning: z.string().meta({ description: 'What happens to its payments' }),
    verify: verifyAnswer.meta({ description: 'What /verify answers' }),
    settle: settleAnswer.meta({ description: 'What /settle answers' }),
    request: sandboxPayment,
  })
  .meta({ id: 'SandboxAddress' })
export type SandboxAddress = z.infer<typeof sandboxAddress>

export const sandboxAddressList = z
  .object({ addresses: z.array(sandboxAddress) })
  .meta({ id: 'SandboxAddressList' })

export type SandboxAddressList = z.infer<typeof sandboxAddressList>
