import { z } from 'zod'

/*
 * What the endpoints of webhooks take and answer. Messages to receivers are of the form of Standard Webhooks.
 */

/** The longest URL that a webhook may have. */
export const maxWebhookUrlLength = 2_048

const secret = z
  .string()
  .meta({ description: 'What messages are signed with: `whsec_` and base64. Shown here and never again' })

/** The answer of POST /dashboard/webhook. */
export const webhookSet = z
  .object({
    webhookUrl: z.string().meta({ description: 'Empty when it was removed' }),
    secret: secret.optional(),
  })
  .meta({ id: 'WebhookSet' })
/** The answer of POST /dashboard/webhook. */
export type WebhookSet = z.infer<typeof webhookSet>

/** The answer of POST /dashboard/webhook/test. */
export const webhookTested = z
  .object({
    success: z.boolean().meta({ description: 'Whether the receiver answered 2xx' }),
    statusCode: z.int().meta({ description: "The receiver's status; 0 where there was no answer" }),
    message: z.string(),
  })
  .meta({ id: 'WebhookTested' })
/** The answer of POST /dashboard/webhook/test. */
export type WebhookTested = z.infer<typeof webhookTested>

/** The answer of POST /dashboard/webhook/rotate. */
export const webhookRotated = z
  .object({
    webhookUrl: z.string(),
    secret,
    previousSecretUntil: z.iso
      .datetime()
      .meta({ description: 'Until then messages carry a signature of the secret before as well' }),
  })
  .meta({ id: 'WebhookRotated' })
/** The answer of POST /dashboard/webhook/rotate. */
export type WebhookRotated = z.infer<typeof webhookRotated>

/** A delivery as the log shows it. */
export const deliveryView = z
  .object({
    id: z.string().meta({ description: "The event's id: the header `webhook-id` of every attempt" }),
    type: z.string().meta({ examples: ['settlement.confirmed'] }),
    status: z.enum(['waiting', 'delivered', 'failed']),
    attempts: z.int().meta({ description: 'Since it happened, or was last sent again' }),
    createdAt: z.iso.datetime(),
    nextAttemptAt: z.iso.datetime().optional(),
    lastAttemptAt: z.iso.datetime().optional(),
    lastStatusCode: z.int().optional().meta({ description: "The receiver's last status, where it answered" }),
    lastError: z.string().optional().meta({ description: 'Why there was no good answer' }),
    data: z.unknown().meta({ description: 'What the message tells; of a settlement as it stood then' }),
  })
  .meta({ id: 'WebhookDelivery' })
/** A delivery as the log shows it. */
export type DeliveryView = z.infer<typeof deliveryView>

export const deliveryPage = z
  .object({
    deliveries: z.array(deliveryView).meta({ description: 'The newest first' }),
    nextCursor: z.string().optional().meta({ description: 'For the next page; absent where there is none' }),
  })
  .meta({ id: 'WebhookDeliveryPage' })
export type DeliveryPage = z.infer<typeof deliveryPage>
