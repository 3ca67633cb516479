import { z } from 'zod'
import { reasons } from './reasons.js'
import { sandboxPayment } from './sandbox.js'

/* Scripted payments of the sandbox. */

const reason = z.enum(Object.keys(reasons)).meta({
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
