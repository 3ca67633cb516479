import { z } from 'zod'
import type { BlockReference, Settlement } from '../../../ports/settlementJournal.js'
import { isReason } from '../../../protocol/reasons.js'
import { isOwned } from '../database/instance.js'
import { selectColumns } from '../database/statements.js'
import { newestTransaction } from './settlementStates.js'

const amount = z.string().transform(BigInt)

const row = z.object({
  id: z.string(),
  authorizationId: z.string(),
  caller: z.string(),
  customer: z.string().nullable(),
  fingerprint: z.string(),
  proofFingerprint: z.string().nullable(),
  scheme: z.string(),
  network: z.string(),
  asset: z.string(),
  payer: z.string(),
  payTo: z.string(),
  amount,
  authorizedAmount: amount,
  details: z.record(z.string(), z.json()),
  resource: z.string().nullable(),
  expiresAt: z.date().nullable(),
  state: z.enum(['claimed', 'pending', 'confirmed', 'failed']),
  transaction: z.string().nullable(),
  broadcasts: z.array(z.object({ transaction: z.string(), bytes: z.string() })),
  reason: z.string().refine(isReason).nullable(),
  settledAmount: amount.nullable(),
  gasUsed: amount.nullable(),
  consumedBy: z.string().nullable(),
  isOwned: z.boolean(),
  createdAt: z.date(),
  closedAt: z.date().nullable(),
  blockNumber: amount.nullable(),
  blockHash: z.string().nullable(),
  isFinal: z.boolean(),
})

/** Columns of `settlements s` for `readSettlement`. */
export const settlementColumns = selectColumns('s', row.shape, {
  customer: 's.quota_holder',
  settledAmount: "case s.state when 'confirmed' then coalesce(s.settled_amount, s.amount) end",
  transaction: newestTransaction('s'),
  isOwned: isOwned('s.owner', 's.created_at'),
  broadcasts: `(select coalesce(
      json_agg(json_build_object('transaction', t.transaction, 'bytes', coalesce(b.bytes, '')) order by t.position), '[]')
    from unnest(s.transactions) with ordinality as t (transaction, position)
    left join broadcasts b on b.network = s.network and b.transaction = t.transaction
    where b.transaction is not null
      or s.closed_at < (select d.closed_before from dropped_broadcasts d where d.network = s.network))`,
})

export const readSettlement = (value: unknown): Settlement => {
  const { customer, proofFingerprint, blockNumber, blockHash, ...settlement } = row.parse(value)
  return {
    ...settlement,
    ...(customer === null ? {} : { customer }),
    ...(proofFingerprint === null ? {} : { proofFingerprint }),
    block: readBlock(blockNumber, blockHash),
  }
}

const readBlock = (number: bigint | null, hash: string | null): BlockReference | null =>
  number === null || hash === null ? null : { number, hash }
