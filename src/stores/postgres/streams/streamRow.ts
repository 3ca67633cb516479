import { z } from 'zod'
import type { Stream } from '../../../ports/streamStore.js'
import { isReason } from '../../../protocol/reasons.js'
import { streamStates } from '../../../protocol/streams.js'
import { selectColumns } from '../database/statements.js'

const amount = z.string().transform((digits) => BigInt(digits))
const reason = z.string().refine(isReason).nullable()

const row = z.object({
  id: z.string(),
  authorizationId: z.string(),
  caller: z.string(),
  controlDigest: z.string().nullable(),
  fingerprint: z.string(),
  customer: z.string().nullable(),
  feeRate: z.number().nullable(),
  scheme: z.string(),
  network: z.string(),
  asset: z.string(),
  payer: z.string(),
  payTo: z.string(),
  maxAmount: amount,
  channel: z.object({ id: z.string(), config: z.record(z.string(), z.json()) }).nullable(),
  baseline: amount.nullable(),
  metadata: z.string().nullable(),
  createdAt: z.date(),
  closesAt: z.date(),
  settlesUntil: z.date(),
  state: z.enum(streamStates),
  amount,
  sequence: z.coerce.number(),
  updates: z.coerce.number(),
  voucher: z.string().nullable(),
  ceiling: amount.nullable(),
  claimSignature: z.string().nullable(),
  finalAmount: amount.nullable(),
  settlementId: z.string().nullable(),
  transaction: z.string().nullable(),
  settledAmount: amount.nullable(),
  reason,
  risk: reason,
  updatedAt: z.date(),
  closedAt: z.date().nullable(),
  attendAt: z.date().nullable(),
  attempts: z.number(),
  refusals: z.number(),
  refusedAt: z.date().nullable(),
  reverts: z.number(),
})

/** Columns of `streams s` for `readStream`. */
export const streamColumns = selectColumns('s', row.shape, {
  controlDigest: "encode(s.control_digest, 'hex')",
  customer: 's.quota_holder',
  metadata: 's.metadata::text',
})

export const readStream = (value: unknown): Stream => {
  const { customer, feeRate, channel, baseline, ...stream } = row.parse(value)
  return {
    ...stream,
    quota: customer === null || feeRate === null ? null : { customer, feeRate },
    channel: channel === null || baseline === null ? null : { ...channel, baseline },
  }
}

/** Settled, given up or expired: no command changes it any more. */
export const hasEnded = ({ state }: Pick<Stream, 'state'>): boolean =>
  state === 'closed' || state === 'failed' || state === 'expired'
