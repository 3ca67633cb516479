import { z } from 'zod'
import { reasons } from './reasons.js'
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

const sandboxAddress = z
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

/* Scripted payments of the sandbox. */

const reason = z.enum(Object.keys(reasons)).meta({
  sameAs: 'Reason',
  description: 'Reason of the refusal or failure, as in docs/errors.md',
  examples: ['insufficient_funds'],
})

const maxSeconds = 2_592_000

export const scenarioRequest = z
  .strictObject({
    network: z
      .string()
      .max(128)
      .meta({ description: 'CAIP-2 identifier of a network of the sandbox', examples: ['eip155:84532'] }),
    verify: z
      .strictObject({ refusedFor: reason.optional() })
      .optional()
      .meta({ description: 'What /verify answers; absent: valid' }),
    settle: z
      .strictObject({
        failsFor: reason.optional(),
        pendingSeconds: z.int().min(0).max(maxSeconds).optional().meta({
          description: 'How long the settlement is pending on the clock of the scenario; absent: 0',
        }),
      })
      .optional()
      .meta({ description: 'What becomes of the settlement; absent: confirmed at once' }),
    reorg: z
      .strictObject({
        afterBlocks: z
          .int()
          .min(1)
          .max(100)
          .meta({ description: 'Blocks of 2 s on top of the payment when its block is orphaned' }),
        failsFor: reason.optional().meta({ description: 'Absent: another block confirms it' }),
      })
      .optional(),
    webhook: z
      .strictObject({
        failures: z
          .int()
          .min(0)
          .max(8)
          .meta({ description: 'Deliveries that the inbox answers with status 500 before it answers 200' }),
      })
      .optional()
      .meta({ description: 'Makes an inbox for the webhooks of your key as well' }),
  })
  .meta({ id: 'ScenarioRequest', description: 'How the payments of a new payer behave' })

export type ScenarioRequest = z.infer<typeof scenarioRequest>

export const inboxRequest = z
  .strictObject({
    failures: scenarioRequest.shape.webhook.unwrap().shape.failures.optional(),
  })
  .nullish()

export type InboxRequest = z.infer<typeof inboxRequest>

const inbox = {
  id: z.uuid(),
  url: z
    .string()
    .meta({ description: 'For `webhookUrl` of POST /dashboard/webhook; reached by this service only' }),
  failuresLeft: z.int().meta({ description: 'Deliveries that are still answered with status 500' }),
  expiresAt: z.iso.datetime(),
}

export const createdInbox = z.object(inbox).meta({ id: 'SandboxInbox' })

export type CreatedInbox = z.infer<typeof createdInbox>

export const inboxView = z
  .object({
    ...inbox,
    messages: z
      .array(
        z.object({
          headers: z.record(z.string(), z.string()),
          body: z.string().meta({ description: 'As signed: verify the signature over this text' }),
          status: z.int().meta({ description: 'What the inbox answered' }),
          receivedAt: z.iso.datetime(),
        }),
      )
      .meta({ description: 'Newest first, up to 100' }),
  })
  .meta({ id: 'SandboxInboxMessages' })

export type InboxView = z.infer<typeof inboxView>

export const scenarioView = z
  .object({
    id: z.uuid(),
    network: z.string(),
    payer: z.string().meta({ description: 'Its payments follow the script; it needs no signature' }),
    clockSeconds: z.number().meta({ description: 'Clock of the scenario: moves by requests only' }),
    expiresAt: z.iso.datetime().meta({ description: 'Then pending payments take the end of the script' }),
    request: sandboxPayment.optional(),
    inbox: createdInbox.optional(),
  })
  .meta({ id: 'Scenario' })

export type ScenarioView = z.infer<typeof scenarioView>

export const advanceRequest = z
  .strictObject({
    scenarioId: z.uuid(),
    seconds: z.number().positive().max(maxSeconds),
  })
  .meta({ id: 'ClockAdvance' })

export type AdvanceRequest = z.infer<typeof advanceRequest>
