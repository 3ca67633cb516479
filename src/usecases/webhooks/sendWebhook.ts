import { createHmac, randomBytes } from 'node:crypto'
import type { Sealer } from '../../ports/accountStore.js'
import type { Clock } from '../../ports/clock.js'
import type {
  WebhookDelivery,
  WebhookEndpoint,
  WebhookResponse,
  WebhookTransport,
} from '../../ports/webhookOutbox.js'

interface SendWebhookDependencies {
  readonly transport: WebhookTransport
  readonly sealer: Pick<Sealer, 'open'>
  readonly clock: Clock
}

type WebhookEvent = Pick<WebhookDelivery, 'id' | 'type' | 'data' | 'createdAt'>

export type SendWebhook = (
  event: WebhookEvent,
  endpoint: WebhookEndpoint,
  stopped: AbortSignal,
) => Promise<WebhookResponse>

/** Signs according to Standard Webhooks. Secrets are decrypted only for the attempt. */
export const createSendWebhook =
  ({ transport, sealer, clock }: SendWebhookDependencies): SendWebhook =>
  async ({ id, type, data, createdAt }, { accountId, url, sealedSecrets }, stopped) => {
    const body = JSON.stringify({ id, type, timestamp: createdAt.toISOString(), data })
    const timestampSeconds = Math.floor(clock.now().getTime() / 1_000)
    const secrets = sealedSecrets.map((sealed) => sealer.open(sealed, accountId))
    const headers = {
      'content-type': 'application/json',
      'user-agent': 'quittance-webhooks',
      'webhook-id': id,
      'webhook-timestamp': String(timestampSeconds),
      'webhook-signature': signWebhook(secrets, { id, timestampSeconds, body }),
    }
    return await transport.post({ url, headers, body }, stopped)
  }

const prefix = 'whsec_'
const secretBytes = 32

interface SignedContent {
  readonly id: string
  readonly timestampSeconds: number
  readonly body: string
}

/** Standard Webhooks format: `whsec_` and base64. */
export const createWebhookSecret = (): string => `${prefix}${randomBytes(secretBytes).toString('base64')}`

/** `webhook-signature` of Standard Webhooks: one signature per secret, newest first. */
export const signWebhook = (
  secrets: readonly string[],
  { id, timestampSeconds, body }: SignedContent,
): string =>
  secrets
    .map((secret) => {
      const key = Buffer.from(secret.slice(prefix.length), 'base64')
      return `v1,${createHmac('sha256', key).update(`${id}.${timestampSeconds}.${body}`).digest('base64')}`
    })
    .join(' ')
