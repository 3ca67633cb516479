import { z } from 'zod'
import { describeReason, findOperationalCode, type Reason } from './reasons.js'

const operationalCode = z
  .string()
  .optional()
  .meta({ description: 'Operational code, where one applies', examples: ['SVC-1006'] })

/** The answer of /verify. */
export const verifyResult = z
  .object({
    isValid: z.boolean().meta({ description: 'Whether /settle would carry the payment out' }),
    payer: z
      .string()
      .optional()
      .meta({ description: 'Absent where the payload names none that can be read' }),
    invalidReason: z
      .string()
      .optional()
      .meta({ description: 'Present only when invalid; stable', examples: ['insufficient_funds'] }),
    invalidMessage: z.string().optional().meta({ description: 'The reason as a sentence' }),
    operationalCode,
  })
  .meta({ id: 'VerifyResult' })

/** What /verify answers. */
export type VerifyResult = z.infer<typeof verifyResult>

/** The answer of /settle for the scheme `exact`. */
export const settleResult = z
  .object({
    success: z.boolean().meta({ description: 'Whether the recipient has the money: deliver' }),
    transaction: z.string().meta({ description: 'Transaction hash; empty when nothing was sent' }),
    network: z.string().meta({ description: 'The network as the caller spelled it' }),
    payer: z.string().optional(),
    amount: z.string().optional().meta({ description: 'What was transferred, in smallest units' }),
    errorReason: z
      .string()
      .optional()
      .meta({ description: 'Present only without success; stable', examples: ['settlement_pending'] }),
    errorMessage: z.string().optional().meta({ description: 'The reason as a sentence' }),
    operationalCode,
    settlementId: z.string().optional().meta({ description: 'For GET /v1/settlements/{id}' }),
    status: z
      .enum(['confirmed', 'failed', 'pending'])
      .optional()
      .meta({ description: '`pending`: sent, outcome not known yet; ask again, do not pay again' }),
  })
  .meta({ id: 'SettleResult' })

/** What /settle answers. */
export type SettleResult = z.infer<typeof settleResult>

/** A settlement as `GET /v1/settlements/{id}` shows it. */
export const settlementView = z
  .object({
    id: z.string(),
    status: z.enum(['confirmed', 'failed', 'pending']).meta({
      description:
        '`confirmed` and `failed` are proven; `pending` becomes one of them. A `confirmed` payment is `pending` again ' +
        'where the network takes its block back, until it is proven anew',
    }),
    scheme: z.string(),
    network: z.string().meta({ description: 'CAIP-2 identifier' }),
    asset: z.string(),
    payer: z.string(),
    payTo: z.string().meta({ description: 'Recipient' }),
    amount: z.string().meta({ description: 'What moves, in smallest units' }),
    transaction: z.string().meta({ description: 'Empty while nothing was sent' }),
    errorReason: z.string().optional().meta({ description: 'Why it failed' }),
    errorMessage: z.string().optional().meta({ description: 'The reason as a sentence' }),
    createdAt: z.iso.datetime(),
    closedAt: z.iso.datetime().optional().meta({ description: 'When its outcome was proven' }),
  })
  .meta({ id: 'Settlement' })

/** A settlement as it is shown. */
export type SettlementView = z.infer<typeof settlementView>

/** What a transaction settled: payments that wait together travel in one. */
export const settlementsOfTransaction = settlementView
  .extend({
    others: z
      .array(settlementView)
      .optional()
      .meta({ description: 'The other payments of the same transaction, where it carried several' }),
  })
  .meta({ id: 'SettlementsOfTransaction' })

/** What a transaction settled, as it is shown. */
export type SettlementsOfTransaction = z.infer<typeof settlementsOfTransaction>

/** A settlement as those who run the service see it. */
export const operatorSettlementView = settlementView
  .extend({
    caller: z.string().meta({ description: "Whose request it was: an API key's id, or `anonymous`" }),
    ageSeconds: z.int().meta({ description: 'Since it was opened' }),
    isAttended: z
      .boolean()
      .meta({ description: 'Whether an instance works on it; else the reconciler does' }),
    hasToldSuccess: z.boolean().meta({ description: 'Whether somebody was told `success: true`' }),
    transactions: z
      .array(z.string())
      .meta({ description: 'Every transaction that was recorded for it, oldest first' }),
    block: z
      .object({
        number: z.string(),
        hash: z.string(),
        isFinal: z.boolean().meta({ description: 'Whether it is too deep to be taken back' }),
      })
      .optional()
      .meta({ description: 'Where it was paid' }),
  })
  .meta({ id: 'OperatorSettlement' })

/** A settlement as an operator is shown it. */
export type OperatorSettlementView = z.infer<typeof operatorSettlementView>

export const settlementPage = z
  .object({
    settlements: z.array(operatorSettlementView).meta({ description: 'The newest first' }),
    nextCursor: z.string().optional().meta({ description: 'For the next page; absent where there is none' }),
  })
  .meta({ id: 'SettlementPage' })

/** A page of settlements, as it is shown. */
export type SettlementPage = z.infer<typeof settlementPage>

/** The answer of /supported. */
export const supported = z
  .object({
    kinds: z.array(
      z.object({
        payVersion: z.int().meta({ description: 'Protocol version, 1 or 2' }),
        x402Version: z.int().meta({ description: 'The same number, for x402 clients' }),
        t402Version: z.int().meta({ description: 'The same number, for t402 clients' }),
        scheme: z.string(),
        network: z.string().meta({ description: 'CAIP-2 identifier; in version 1 the short name' }),
        extra: z
          .record(z.string(), z.unknown())
          .optional()
          .meta({ description: 'What a client needs to know to sign, such as a fee payer' }),
      }),
    ),
    extensions: z
      .array(z.string())
      .meta({ description: 'Protocol extensions that this instance implements' }),
    signers: z.record(z.string(), z.array(z.string())).meta({
      description: 'The addresses that settlements are sent from, by family (`eip155:*`)',
    }),
  })
  .meta({ id: 'Supported' })

/** What /supported answers. */
export type Supported = z.infer<typeof supported>

/** The answer of /ready. */
export const readiness = z
  .object({
    status: z.enum(['ready', 'unready']),
    checks: z.record(z.string(), z.string()).meta({
      description:
        '`ok`, `none` where nothing is configured, or what is wrong, by the name of the check; `gas:<network>` ' +
        'says `low` or `empty` without making the service unready',
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
    features: z.record(z.string(), z.boolean()).meta({ description: 'What is switched on' }),
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
