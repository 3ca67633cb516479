import { createHmac, randomBytes } from 'node:crypto'
import { AppError } from '../../errors.js'
import type { Account, Actor, AuditLog, Sealer } from '../../ports/accountStore.js'
import type { Clock } from '../../ports/clock.js'
import type { Logger } from '../../ports/logger.js'
import type {
  WebhookDelivery,
  WebhookEndpoint,
  WebhookOutbox,
  WebhookResponse,
  WebhookTransport,
} from '../../ports/webhookOutbox.js'
import type { AuditAction } from '../../protocol/accounts.js'
import type { JsonObject } from '../../protocol/fields.js'
import { maxWebhookUrlLength } from '../../protocol/webhooks.js'
import { type MailChange, unknownActor } from '../dashboard/mails.js'
import type { WebhookUseCases } from '../useCases.js'

// URL parsers disagree on whether to strip these.
const unreadable = /[\s\p{C}]/u

export const createSetWebhook =
  ({
    outbox,
    transport,
    sealer,
    recordChange,
  }: Pick<
    WebhookDependencies,
    'outbox' | 'transport' | 'sealer' | 'recordChange'
  >): WebhookUseCases['setWebhook'] =>
  async (account, url, by = unknownActor) => {
    if (url === '') {
      await outbox.setEndpoint(account.id, null)
      await recordChange(account, { action: 'webhook.removed', details: {} }, by)
      return { webhookUrl: '' }
    }
    const problem = findUrlProblem(url) ?? transport.findUrlProblem(url)
    if (problem !== null) {
      const advice = pointsNearby(url) ? `. ${nearbyAdvice}` : ''
      throw new AppError('INVALID_REQUEST', `webhookUrl: ${problem}${advice}`)
    }
    const known = await outbox.findEndpoint(account.id)
    const kept = known?.url === url ? known.sealedSecrets[0] : undefined
    // Retries and redeployments must not invalidate the receiver's secret: only a rotation replaces it.
    const secret = kept === undefined ? createWebhookSecret() : sealer.open(kept, account.id)
    if (kept !== undefined && known?.isGone === false) return { webhookUrl: url, secret }
    await outbox.setEndpoint(account.id, { url, sealedSecret: kept ?? sealer.seal(secret, account.id) })
    await recordChange(account, { action: 'webhook.changed', details: { host: new URL(url).host } }, by)
    return { webhookUrl: url, secret }
  }

const nearbyAdvice =
  'For a receiver on your machine or network: `npm run listen -- --key <API key> --forward <URL>`; in a sandbox also ' +
  'POST /sandbox/inbox; or WEBHOOK_ALLOW of the instance'

/** Whether the host is an address, or a name that only a machine or its network knows. */
const pointsNearby = (url: string): boolean => {
  if (!URL.canParse(url)) return false
  const { protocol, hostname } = new URL(url)
  return (
    /^https?:$/.test(protocol) &&
    /^\[|^[\d.]+$|^[^.]+\.?$|\.(?:localhost|local|internal|lan)\.?$/.test(hostname)
  )
}

const findUrlProblem = (url: string): string | null => {
  if (url.length > maxWebhookUrlLength) return `must have at most ${maxWebhookUrlLength} characters`
  return unreadable.test(url) ? 'must not hold spaces or control characters' : null
}

const overlapMs = 24 * 3_600_000

/** For 24 h messages are signed with both secrets, so that receivers can switch without downtime. */
export const createRotateSecret =
  ({
    outbox,
    sealer,
    clock,
    recordChange,
  }: Pick<
    WebhookDependencies,
    'outbox' | 'sealer' | 'clock' | 'recordChange'
  >): WebhookUseCases['rotateSecret'] =>
  async (account, by = unknownActor) => {
    const { url } = await getEndpoint(outbox, account)
    const secret = createWebhookSecret()
    if (!(await outbox.rotateSecret(account.id, sealer.seal(secret, account.id), overlapMs)))
      throw noWebhook()
    await recordChange(account, { action: 'webhook.secret_rotated', details: {} }, by)
    const previousSecretUntil = new Date(clock.now().getTime() + overlapMs).toISOString()
    return { webhookUrl: url, secret, previousSecretUntil }
  }

export interface WebhookDependencies {
  readonly outbox: WebhookOutbox
  readonly transport: WebhookTransport
  readonly sealer: Pick<Sealer, 'seal' | 'open'>
  readonly sendWebhook: SendWebhook
  readonly clock: Clock
  readonly recordChange: RecordChange
}

type WebhookAction = Extract<AuditAction, `webhook.${string}`>

/** Awaited after the change; never rejects. */
type RecordChange = (
  account: Account,
  change: { readonly action: WebhookAction; readonly details: JsonObject },
  by: Actor,
) => Promise<void>

const noWebhook = (): AppError =>
  new AppError('INVALID_REQUEST', 'No webhook is set: POST /dashboard/webhook sets one')

/** Throws INVALID_REQUEST if the account has no webhook. */
export const getEndpoint = async (outbox: WebhookOutbox, account: Account): Promise<WebhookEndpoint> => {
  const endpoint = await outbox.findEndpoint(account.id)
  if (endpoint === null) throw noWebhook()
  return endpoint
}

export interface RecordChangeDependencies {
  readonly audit: Pick<AuditLog, 'record'>
  readonly mailChange: MailChange
  readonly logger: Logger
}

/** The webhook has already changed: a failed write is logged with what it should have recorded. */
export const createRecordChange =
  ({ audit, mailChange, logger }: RecordChangeDependencies): RecordChange =>
  async (account, { action, details }, by) => {
    const entry = { accountId: account.id, action, details, ...by }
    await audit
      .record(entry)
      .catch((error: unknown) => logger.error({ ...entry, error }, 'audit.write_failed'))
    mailChange(account, action, by)
  }

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
