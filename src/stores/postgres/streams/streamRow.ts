import { z } from 'zod'
import type { Stream } from '../../../ports/streamStore.js'
import { isReason } from '../../../protocol/reasons.js'
import { streamStates } from '../../../protocol/streams.js'

const amount = z.string().transform((digits) => BigInt(digits))
const reason = z.string().refine(isReason).nullable()

const row = z.object({
  id: z.string(),
  authorization_id: z.string(),
  caller: z.string(),
  control_digest: z.string().nullable(),
  fingerprint: z.string(),
  quota_holder: z.string().nullable(),
  fee_rate: z.number().nullable(),
  scheme: z.string(),
  network: z.string(),
  asset: z.string(),
  payer: z.string(),
  pay_to: z.string(),
  max_amount: amount,
  metadata: z.string().nullable(),
  created_at: z.date(),
  closes_at: z.date(),
  settles_until: z.date(),
  state: z.enum(streamStates),
  amount,
  sequence: z.coerce.number(),
  updates: z.coerce.number(),
  voucher: z.string().nullable(),
  final_amount: amount.nullable(),
  settlement_id: z.string().nullable(),
  transaction: z.string().nullable(),
  settled_amount: amount.nullable(),
  reason,
  risk: reason,
  updated_at: z.date(),
  closed_at: z.date().nullable(),
  attend_at: z.date().nullable(),
  attempts: z.number(),
  refusals: z.number(),
  refused_at: z.date().nullable(),
  reverts: z.number(),
})

/** Columns of `streams s` for `readStream`. */
export const streamColumns = `
  s.id, s.authorization_id, s.caller, encode(s.control_digest, 'hex') as control_digest, s.fingerprint, s.quota_holder,
  s.fee_rate, s.scheme, s.network, s.asset, s.payer, s.pay_to, s.max_amount::text as max_amount,
  s.metadata::text as metadata, s.created_at, s.closes_at, s.settles_until, s.state, s.amount::text as amount, s.sequence,
  s.updates, s.voucher, s.final_amount::text as final_amount, s.settlement_id, s.transaction,
  s.settled_amount::text as settled_amount, s.reason, s.risk, s.updated_at, s.closed_at, s.attend_at, s.attempts,
  s.refusals, s.refused_at, s.reverts`

export const readStream = (value: unknown): Stream => {
  const parsed = row.parse(value)
  const { quota_holder: customer, fee_rate: feeRate } = parsed
  return {
    id: parsed.id,
    authorizationId: parsed.authorization_id,
    caller: parsed.caller,
    controlDigest: parsed.control_digest,
    fingerprint: parsed.fingerprint,
    quota: customer === null || feeRate === null ? null : { customer, feeRate },
    scheme: parsed.scheme,
    network: parsed.network,
    asset: parsed.asset,
    payer: parsed.payer,
    payTo: parsed.pay_to,
    maxAmount: parsed.max_amount,
    metadata: parsed.metadata,
    createdAt: parsed.created_at,
    closesAt: parsed.closes_at,
    settlesUntil: parsed.settles_until,
    state: parsed.state,
    amount: parsed.amount,
    sequence: parsed.sequence,
    updates: parsed.updates,
    voucher: parsed.voucher,
    finalAmount: parsed.final_amount,
    settlementId: parsed.settlement_id,
    transaction: parsed.transaction,
    settledAmount: parsed.settled_amount,
    reason: parsed.reason,
    risk: parsed.risk,
    updatedAt: parsed.updated_at,
    closedAt: parsed.closed_at,
    attendAt: parsed.attend_at,
    attempts: parsed.attempts,
    refusals: parsed.refusals,
    refusedAt: parsed.refused_at,
    reverts: parsed.reverts,
  }
}

/** Settled, given up or expired: no command changes it any more. */
export const hasEnded = ({ state }: Pick<Stream, 'state'>): boolean =>
  state === 'closed' || state === 'failed' || state === 'expired'
