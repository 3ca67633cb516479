import { z } from 'zod'
import type { Intent } from '../../../ports/intentStore.js'
import { intentRequirements, intentRoute, intentStatus, unavailableRoute } from '../../../protocol/intents.js'
import { readReason } from '../../../protocol/reasons.js'

const wallets = z.union([z.string(), z.record(z.string(), z.string())])

// Without the limits of requests: they may change.
const terms = z.object({
  payer: wallets,
  payee: wallets,
  amount: z.string(),
  asset: z.string(),
  decimals: z.int().optional(),
  sourceNetworks: z.array(z.string()).optional(),
  targetNetwork: z.string().optional(),
  metadata: z.record(z.string(), z.unknown()).optional(),
})

const row = z.object({
  id: z.string(),
  caller: z.string(),
  status: intentStatus,
  terms,
  routes: z.array(intentRoute),
  unavailable: z.array(unavailableRoute),
  routes_valid_until: z.date(),
  selected: z.object({ route: intentRoute, requirements: intentRequirements }).nullable(),
  settlement_id: z.string().nullable(),
  authorization_id: z.string().nullable(),
  transaction: z.string().nullable(),
  settled_amount: z.string().nullable(),
  reason: z.string().nullable(),
  created_at: z.date(),
  expires_at: z.date(),
  ends_at: z.date(),
  closed_at: z.date().nullable(),
  cancelled_at: z.date().nullable(),
  control_digest: z.string().nullable(),
})

/** Columns of `intents i` for `readIntent`. */
export const intentColumns = Object.keys(row.shape)
  .map((column) => (column === 'settled_amount' ? 'i.settled_amount::text as settled_amount' : `i.${column}`))
  .join(', ')

export const readIntent = (value: unknown): Intent => {
  const parsed = keepCancelled(row.parse(value))
  const { settlement_id: settlementId, authorization_id: authorizationId } = parsed
  return {
    id: parsed.id,
    caller: parsed.caller,
    status: parsed.status,
    terms: parsed.terms,
    plan: {
      routes: parsed.routes,
      unavailable: parsed.unavailable,
      validUntil: parsed.routes_valid_until,
    },
    selected: parsed.selected,
    payment: settlementId === null || authorizationId === null ? null : { settlementId, authorizationId },
    transaction: parsed.transaction,
    settledAmount: parsed.settled_amount === null ? null : BigInt(parsed.settled_amount),
    reason: readReason(parsed.reason),
    createdAt: parsed.created_at,
    expiresAt: parsed.expires_at,
    endsAt: parsed.ends_at,
    closedAt: parsed.closed_at,
    cancelledAt: parsed.cancelled_at,
    controlDigest: parsed.control_digest,
  }
}

/**
 * Versions before the migration that added `cancelled_at` may run beside this one. They end a payment without reading it: what
 * was cancelled is routed again, and expires.
 */
const keepCancelled = (parsed: z.infer<typeof row>): z.infer<typeof row> =>
  parsed.cancelled_at !== null && (parsed.status === 'routed' || parsed.status === 'expired')
    ? { ...parsed, status: 'cancelled', closed_at: parsed.cancelled_at }
    : parsed

/** The status of `intents i` as `readIntent` reads it. */
export const shownStatus =
  "case when i.cancelled_at is not null and i.status in ('routed', 'expired') then 'cancelled' else i.status end"

/** Columns that change, in the order of `changingValues`. */
export const changingColumns = [
  'status',
  'routes',
  'unavailable',
  'routes_valid_until',
  'selected',
  'settlement_id',
  'authorization_id',
  'transaction',
  'settled_amount',
  'reason',
  'ends_at',
  'closed_at',
  'cancelled_at',
] as const

export const changingValues = ({ status, plan, selected, payment, ...intent }: Intent): unknown[] => [
  status,
  JSON.stringify(plan.routes),
  JSON.stringify(plan.unavailable),
  plan.validUntil,
  selected === null ? null : JSON.stringify(selected),
  payment?.settlementId ?? null,
  payment?.authorizationId ?? null,
  intent.transaction,
  intent.settledAmount?.toString() ?? null,
  intent.reason,
  intent.endsAt,
  intent.closedAt,
  intent.cancelledAt,
]
