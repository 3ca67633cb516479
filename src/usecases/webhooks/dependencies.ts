import { AppError } from '../../errors.js'
import type { Account, Actor, AuditLog, Sealer } from '../../ports/accountStore.js'
import type { Clock } from '../../ports/clock.js'
import type { Logger } from '../../ports/logger.js'
import type { WebhookEndpoint, WebhookOutbox, WebhookTransport } from '../../ports/webhookOutbox.js'
import type { AuditAction } from '../../protocol/accounts.js'
import type { JsonObject } from '../../protocol/fields.js'
import type { MailChange } from '../dashboard/mailChange.js'
import type { SendWebhook } from './sendWebhook.js'

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

export const noWebhook = (): AppError =>
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
