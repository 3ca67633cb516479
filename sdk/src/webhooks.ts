import { Webhook } from 'standardwebhooks'
import type { webhooks } from './schema.js'

/** By `type`; a later version of the service may send other types. */
export type WebhookEvent = {
  [Type in keyof webhooks]: NonNullable<webhooks[Type]['post']['requestBody']>['content']['application/json']
}[keyof webhooks]

interface WebhookMessage {
  /** It is that of the endpoint: `whsec_…`. */
  readonly secret: string
  readonly headers: Headers | Readonly<Record<string, string | readonly string[] | undefined>>
  /** As it arrived: parsing and writing it again changes the signed bytes. */
  readonly body: string
}

const headerNames = ['webhook-id', 'webhook-timestamp', 'webhook-signature'] as const

/** @throws when the signature is wrong, or older than five minutes */
export const verifyWebhook = ({ secret, headers, body }: WebhookMessage): WebhookEvent => {
  const event = new Webhook(secret).verify(
    body,
    Object.fromEntries(headerNames.map((name) => [name, readHeader(headers, name)])),
  )
  if (!isEvent(event)) throw new Error('The webhook body is not an event')
  return event
}

const readHeader = (headers: WebhookMessage['headers'], name: string): string => {
  const value = headers instanceof Headers ? headers.get(name) : headers[name]
  return typeof value === 'string' ? value : ''
}

/** The signature vouches for the rest. */
const isEvent = (body: unknown): body is WebhookEvent =>
  typeof body === 'object' && body !== null && 'type' in body && 'data' in body
