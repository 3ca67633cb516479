import { createHmac, randomBytes } from 'node:crypto'

const prefix = 'whsec_'
const secretBytes = 32

/** What a signature covers. */
export interface SignedContent {
  readonly id: string
  readonly timestampSeconds: number
  readonly body: string
}

/** A new secret, in the form of Standard Webhooks. */
export const createWebhookSecret = (): string => `${prefix}${randomBytes(secretBytes).toString('base64')}`

/** The header `webhook-signature` of Standard Webhooks: one signature for each secret, the newest first. */
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
