import { createHmac, randomBytes } from 'node:crypto'

const prefix = 'whsec_'
const secretBytes = 32

export interface SignedContent {
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
