import { z } from 'zod'
import { nextCursor } from './results.js'

/* Requests and responses of the webhook endpoints. Messages follow Standard Webhooks. */

export const maxWebhookUrlLength = 2_048

const secret = z.string().meta({ description: 'Signing secret: `whsec_` and base64. Shown only once' })

export const webhookSet = z
  .object({
    webhookUrl: z.string().meta({ description: 'Empty when it was removed' }),
    secret: secret.optional(),
  })
  .meta({ id: 'WebhookSet' })
export type WebhookSet = z.infer<typeof webhookSet>

export const webhookTested = z
  .object({
    success: z.boolean().meta({ description: 'Whether the receiver answered 2xx' }),
    statusCode: z.int().meta({ description: "The receiver's status; 0 without a response" }),
    message: z.string(),
  })
  .meta({ id: 'WebhookTested' })
export type WebhookTested = z.infer<typeof webhookTested>

export const webhookRotated = z
  .object({
    webhookUrl: z.string(),
    secret,
    previousSecretUntil: z.iso
      .datetime()
      .meta({ description: 'Until then messages are also signed with the previous secret' }),
  })
  .meta({ id: 'WebhookRotated' })
export type WebhookRotated = z.infer<typeof webhookRotated>

export const deliveryStatus = z.enum(['waiting', 'delivered', 'failed', 'stored']).meta({
  description: '`stored`: written while there was no active webhook, never sent; it can be redelivered',
})

export const deliveryView = z
  .object({
    id: z.string().meta({ description: "The event's id: the header `webhook-id` of every attempt" }),
    type: z.string().meta({ examples: ['settlement.confirmed'] }),
    status: deliveryStatus,
    attempts: z.int().meta({ description: 'Since the event, or since the last redelivery' }),
    createdAt: z.iso.datetime(),
    nextAttemptAt: z.iso.datetime().optional(),
    lastAttemptAt: z.iso.datetime().optional(),
    lastStatusCode: z
      .int()
      .optional()
      .meta({ description: "Status of the receiver's last response, if there was one" }),
    lastError: z.string().optional().meta({ description: 'Why there was no response' }),
    data: z.unknown().meta({
      description: 'Payload of the message: the settlement, stream or intent at the time of the event',
    }),
  })
  .meta({ id: 'WebhookDelivery' })
export type DeliveryView = z.infer<typeof deliveryView>

export const deliveryPage = z
  .object({
    deliveries: z.array(deliveryView).meta({ description: 'Newest first' }),
    nextCursor,
  })
  .meta({ id: 'WebhookDeliveryPage' })
export type DeliveryPage = z.infer<typeof deliveryPage>

export const eventPage = z
  .object({
    events: z
      .array(
        z.object({
          id: z.string().meta({ description: 'The header `webhook-id` of its deliveries' }),
          type: z.string().meta({ examples: ['settlement.confirmed'] }),
          timestamp: z.iso.datetime(),
          data: z
            .unknown()
            .meta({ description: 'The settlement, stream or intent at the time of the event' }),
        }),
      )
      .meta({ description: 'Oldest first; each is the body of a webhook message' }),
    cursor: z.string().meta({ description: 'For the next request, also if there were no events' }),
    hasMore: z.boolean().meta({ description: 'Whether more events are available now' }),
  })
  .meta({ id: 'EventPage' })
export type EventPage = z.infer<typeof eventPage>
