import { z } from 'zod'
import type { WebhookDelivery, WebhookEndpoint } from '../../../ports/webhookOutbox.js'
import { isFinal, isReason } from '../../../protocol/reasons.js'
import { refusalFields } from '../../../protocol/results.js'

const endpointRow = z.object({
  account_id: z.string(),
  url: z.string(),
  sealed_secret: z.instanceof(Buffer),
  previous_sealed_secret: z.instanceof(Buffer).nullable(),
  is_gone: z.boolean(),
})

/** Columns of `webhook_endpoints e`; the previous secret only while it is valid. */
export const endpointColumns = `e.account_id, e.url, e.sealed_secret, e.gone_at is not null as is_gone,
  case when e.previous_until > now() then e.previous_sealed_secret end as previous_sealed_secret`

export const readEndpoint = (value: unknown): WebhookEndpoint => {
  const { account_id: accountId, url, ...row } = endpointRow.parse(value)
  const sealedSecrets = [row.sealed_secret, row.previous_sealed_secret].filter((secret) => secret !== null)
  return { accountId, url, sealedSecrets, isGone: row.is_gone }
}

const deliveryRow = z.object({
  id: z.string(),
  account_id: z.string(),
  type: z.string(),
  data: z.looseObject({
    errorReason: z.string().optional(),
    status: z.string().optional(),
    transaction: z.string().optional(),
    retryable: z.boolean().optional(),
  }),
  created_at: z.date(),
  state: z.enum(['waiting', 'delivered', 'failed', 'stored']),
  attempts: z.number(),
  due_at: z.date().nullable(),
  last_status: z.number().nullable(),
  last_error: z.string().nullable(),
  last_attempt_at: z.date().nullable(),
})

export const deliveryColumns = `d.id, d.account_id, d.type, d.data, d.created_at, d.state, d.attempts, d.due_at,
  d.last_status, d.last_error, d.last_attempt_at`

export const readDelivery = (value: unknown): WebhookDelivery => {
  const row = deliveryRow.parse(value)
  return {
    id: row.id,
    accountId: row.account_id,
    type: row.type,
    data: withSentence(row.data, row.created_at),
    createdAt: row.created_at,
    state: row.state,
    attempts: row.attempts,
    dueAt: row.due_at,
    lastStatus: row.last_status,
    lastError: row.last_error,
    lastAttemptAt: row.last_attempt_at,
  }
}

/** Rows store the reason, and `retryable: false` where the settlement alone is final; the rest comes from the code. */
const withSentence = (data: z.infer<typeof deliveryRow>['data'], createdAt: Date) => {
  const { errorReason, status = '', transaction = null, retryable: stored } = data
  if (errorReason === undefined || !isReason(errorReason)) return data
  const settlement = { state: status, transaction, consumedBy: null, expiresAt: null }
  const isEnded = stored === false || isFinal(errorReason, settlement, createdAt)
  const { message: errorMessage, operationalCode, retryable } = refusalFields(errorReason, undefined, isEnded)
  return { ...data, errorMessage, ...(operationalCode === undefined ? {} : { operationalCode }), retryable }
}
