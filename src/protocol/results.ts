import { z } from 'zod'
import { describeReason, findOperationalCode, type Reason } from './reasons.js'

const operationalCode = z
  .string()
  .optional()
  .meta({ description: 'Operational code, where one applies', examples: ['SVC-1006'] })

/** The answer of /verify. */
export const verifyResult = z
  .object({
    isValid: z.boolean(),
    payer: z.string().optional(),
    invalidReason: z.string().optional().meta({ description: 'Present only when invalid' }),
    invalidMessage: z.string().optional().meta({ description: 'The reason as a sentence' }),
    operationalCode,
  })
  .meta({ id: 'VerifyResult' })

/** What /verify answers. */
export type VerifyResult = z.infer<typeof verifyResult>

/** The answer of /settle for the scheme `exact`. */
export const settleResult = z
  .object({
    success: z.boolean(),
    transaction: z.string().meta({ description: 'Transaction hash; empty when nothing was sent' }),
    network: z.string().meta({ description: 'The network as the caller spelled it' }),
    payer: z.string().optional(),
    amount: z.string().optional().meta({ description: 'What was transferred, in smallest units' }),
    errorReason: z.string().optional().meta({ description: 'Present only on failure' }),
    errorMessage: z.string().optional().meta({ description: 'The reason as a sentence' }),
    operationalCode,
    settlementId: z.string().optional().meta({ description: 'For GET /v1/settlements/{id}' }),
    status: z.enum(['confirmed', 'failed', 'pending']).optional(),
  })
  .meta({ id: 'SettleResult' })

/** What /settle answers. */
export type SettleResult = z.infer<typeof settleResult>

/** A settlement as `GET /v1/settlements/{id}` shows it. */
export const settlementView = z
  .object({
    id: z.string(),
    status: z.enum(['confirmed', 'failed', 'pending']),
    scheme: z.string(),
    network: z.string(),
    asset: z.string(),
    payer: z.string(),
    payTo: z.string(),
    amount: z.string(),
    transaction: z.string().meta({ description: 'Empty while nothing was sent' }),
    errorReason: z.string().optional(),
    errorMessage: z.string().optional(),
    createdAt: z.iso.datetime(),
    closedAt: z.iso.datetime().optional(),
  })
  .meta({ id: 'Settlement' })

/** A settlement as it is shown. */
export type SettlementView = z.infer<typeof settlementView>

/** The answer of /supported. */
export const supported = z
  .object({
    kinds: z.array(
      z.object({
        payVersion: z.int(),
        x402Version: z.int().meta({ description: 'The same number, for x402 clients' }),
        t402Version: z.int().meta({ description: 'The same number, for t402 clients' }),
        scheme: z.string(),
        network: z.string(),
        extra: z.record(z.string(), z.unknown()).optional(),
      }),
    ),
    extensions: z.array(z.string()),
    signers: z.record(z.string(), z.array(z.string())),
  })
  .meta({ id: 'Supported' })

/** What /supported answers. */
export type Supported = z.infer<typeof supported>

/** The answer of /ready. */
export const readiness = z
  .object({
    status: z.enum(['ready', 'unready']),
    checks: z.record(z.string(), z.string()).meta({
      description: '`ok`, `none` where nothing is configured, or what is wrong, by the name of the check',
    }),
  })
  .meta({ id: 'Readiness' })

/** What /ready answers. */
export type Readiness = z.infer<typeof readiness>

/** The answer of /info. */
export const serviceInfo = z
  .object({
    name: z.string(),
    version: z.string(),
    description: z.string(),
    endpoints: z.array(z.object({ method: z.string(), path: z.string(), description: z.string() })),
    features: z.record(z.string(), z.boolean()),
  })
  .meta({ id: 'ServiceInfo' })

/** What /info answers. */
export type ServiceInfo = z.infer<typeof serviceInfo>

/** The fields with which an answer refuses a payment, the reason's own sentence unless a better one is given. */
export const refusalFields = (reason: Reason, message?: string) => {
  const code = findOperationalCode(reason)
  return {
    reason,
    message: message ?? describeReason(reason),
    ...(code === null ? {} : { operationalCode: code }),
  }
}
