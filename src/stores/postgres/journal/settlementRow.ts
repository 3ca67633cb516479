import { z } from 'zod'
import type { BlockReference, Settlement } from '../../../ports/settlementJournal.js'
import { isReason } from '../../../protocol/reasons.js'
import { isOwned } from '../database/instance.js'

const row = z.object({
  id: z.string(),
  authorization_id: z.string(),
  caller: z.string(),
  quota_holder: z.string().nullable(),
  fingerprint: z.string(),
  proof_fingerprint: z.string().nullable(),
  scheme: z.string(),
  network: z.string(),
  asset: z.string(),
  payer: z.string(),
  pay_to: z.string(),
  amount: z.string(),
  authorized_amount: z.string(),
  details: z.record(z.string(), z.json()),
  resource: z.string().nullable(),
  expires_at: z.date().nullable(),
  state: z.enum(['claimed', 'pending', 'confirmed', 'failed']),
  transaction: z.string().nullable(),
  broadcasts: z.array(z.object({ transaction: z.string(), bytes: z.string() })),
  reason: z.string().refine(isReason).nullable(),
  settled_amount: z.string().nullable(),
  gas_used: z.string().nullable(),
  consumed_by: z.string().nullable(),
  is_owned: z.boolean(),
  created_at: z.date(),
  closed_at: z.date().nullable(),
  block_number: z.string().nullable(),
  block_hash: z.string().nullable(),
  is_final: z.boolean(),
})

/** Columns of `settlements s` for `readSettlement`. */
export const settlementColumns = `
  s.id, s.authorization_id, s.caller, s.quota_holder, s.fingerprint, s.proof_fingerprint, s.scheme, s.network, s.asset, s.payer, s.pay_to,
  s.amount::text as amount, s.authorized_amount::text as authorized_amount, s.details, s.resource, s.expires_at, s.state, s.transaction, s.reason, s.consumed_by,
  case s.state when 'confirmed' then coalesce(s.settled_amount, s.amount) end::text as settled_amount,
  s.gas_used::text as gas_used,
  s.created_at, s.closed_at, s.block_number::text as block_number, s.block_hash, s.is_final,
  ${isOwned('s.owner', 's.created_at')} as is_owned,
  (select coalesce(
      json_agg(json_build_object('transaction', b.transaction, 'bytes', b.bytes) order by t.position), '[]')
    from unnest(s.transactions) with ordinality as t (transaction, position)
    join broadcasts b on b.network = s.network and b.transaction = t.transaction) as broadcasts`

export const readSettlement = (value: unknown): Settlement => {
  const parsed = row.parse(value)
  return {
    id: parsed.id,
    authorizationId: parsed.authorization_id,
    caller: parsed.caller,
    ...(parsed.quota_holder === null ? {} : { customer: parsed.quota_holder }),
    fingerprint: parsed.fingerprint,
    ...(parsed.proof_fingerprint === null ? {} : { proofFingerprint: parsed.proof_fingerprint }),
    scheme: parsed.scheme,
    network: parsed.network,
    asset: parsed.asset,
    payer: parsed.payer,
    payTo: parsed.pay_to,
    amount: BigInt(parsed.amount),
    authorizedAmount: BigInt(parsed.authorized_amount),
    details: parsed.details,
    resource: parsed.resource,
    expiresAt: parsed.expires_at,
    state: parsed.state,
    transaction: parsed.transaction,
    broadcasts: parsed.broadcasts,
    reason: parsed.reason,
    settledAmount: readAmount(parsed.settled_amount),
    gasUsed: readAmount(parsed.gas_used),
    consumedBy: parsed.consumed_by,
    isOwned: parsed.is_owned,
    createdAt: parsed.created_at,
    closedAt: parsed.closed_at,
    block: readBlock(parsed.block_number, parsed.block_hash),
    isFinal: parsed.is_final,
  }
}

const readAmount = (digits: string | null): bigint | null => (digits === null ? null : BigInt(digits))

const readBlock = (number: string | null, hash: string | null): BlockReference | null =>
  number === null || hash === null ? null : { number: BigInt(number), hash }
