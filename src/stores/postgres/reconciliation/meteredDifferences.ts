import type { Pool } from 'pg'
import { z } from 'zod'
import type { Period } from '../../../ports/reconciliation.js'
import type { Difference } from '../../../protocol/reconciliation.js'

const row = z.object({
  kind: z.enum(['stream_differs', 'intent_differs']),
  subject: z.string(),
  account_id: z.string(),
  network: z.string().nullable(),
  settlement_id: z.string().nullable(),
  expected: z.string(),
  actual: z.string(),
})

const settled = `coalesce(concat_ws(' ', s.state, coalesce(s.settled_amount, s.amount), s.transaction), 'none')`

const differences = `
  -- A closed stream: exactly its final amount, by its own settlement.
  (select 'stream_differs' as kind, t.id::text as subject, t.caller as account_id, t.network, t.settlement_id::text,
    ${settled} as expected, concat_ws(' ', 'confirmed', t.final_amount, t.transaction) as actual
  from streams t left join settlements s on s.id = t.settlement_id and s.fingerprint = 'stream:' || t.id
  where t.state = 'closed' and t.closed_at >= $1 and t.closed_at < $2
    and ${settled} <> concat_ws(' ', 'confirmed', t.final_amount, nullif(t.transaction, ''))
  limit $3)
  union all
  -- A stream that ended without a payment, or is still open, has none.
  (select 'stream_differs', t.id::text, t.caller, t.network, s.id::text, ${settled}, t.state
  from settlements s join streams t on s.fingerprint = 'stream:' || t.id
  where s.state = 'confirmed' and s.created_at >= $1 and s.created_at < $2 and t.state not in ('closing', 'closed')
  limit $3)
  union all
  -- A payment that its intent does not name: the intent can still be paid, or ended otherwise.
  (select 'intent_differs', i.id::text, i.caller, s.network, s.id::text, ${settled}, i.status
  from settlements s join intents i on s.fingerprint = 'intent:' || i.id
  where s.state = 'confirmed' and s.created_at >= $1 and s.created_at < $2
    and i.settlement_id is distinct from s.id
  limit $3)
  union all
  (select 'intent_differs', i.id::text, i.caller, s.network, i.settlement_id::text, ${settled},
    concat_ws(' ', case i.status when 'completed' then 'confirmed' else i.status end, i.settled_amount, i.transaction)
  from intents i left join settlements s on s.id = i.settlement_id
  where i.status in ('completed', 'failed') and i.closed_at >= $1 and i.closed_at < $2
    and (s.id is null or s.state <> case i.status when 'completed' then 'confirmed' else 'failed' end
      or (i.status = 'completed' and (coalesce(s.settled_amount, s.amount) <> i.settled_amount
        or coalesce(s.transaction, '') <> i.transaction)))
  limit $3)`

/** Of each kind. */
const maxPerKind = 1_000

/** Streams and intents that ended in the period, and the settlements that they name. One statement is one snapshot. */
export const findMeteredDifferences = async (
  pool: Pool,
  { from, to }: Period,
): Promise<readonly Difference[]> => {
  const { rows } = await pool.query(differences, [from, to, maxPerKind])
  return rows.map((value) => {
    const { kind, subject, account_id, network, settlement_id, expected, actual } = row.parse(value)
    return {
      kind,
      message: `${names[kind]} ${subject} says ${actual}; its settlement is ${expected}`,
      accountId: account_id,
      ...(network === null ? {} : { network }),
      ...(settlement_id === null ? {} : { settlementId: settlement_id }),
      expected,
      actual,
    }
  })
}

const names = { stream_differs: 'Stream', intent_differs: 'Intent' } as const
