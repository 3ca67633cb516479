import type { Pool, PoolClient } from 'pg'
import type { FoundDifferences, Period } from '../../../ports/reconciliation.js'
import { type DifferenceRow, readDifferences } from './readDifferences.js'

// Not the transaction: after a reorg, another one can carry the same payment.
const settled = `coalesce(nullif(concat_ws(' ', s.state, coalesce(s.settled_amount, s.amount)), ''), 'none')`
// A reorg reopened it: it is compared once it is closed again.
const isOpen = `coalesce(s.state in ('claimed', 'pending'), false)`

const differences = `
  -- A closed stream: exactly its final amount, by its own settlement.
  (select 'stream_differs' as kind, t.id::text as subject, t.caller as account_id, t.network, t.settlement_id::text,
    ${settled} as expected, concat_ws(' ', 'confirmed', t.final_amount) as actual
  from streams t left join settlements s on s.id = t.settlement_id and s.fingerprint = 'stream:' || t.id
  where t.state = 'closed' and t.closed_at >= $1 and t.closed_at < $2
    and not ${isOpen} and ${settled} <> concat_ws(' ', 'confirmed', t.final_amount))
  union all
  -- A stream that ended without a payment, or is still open, has none.
  (select 'stream_differs', t.id::text, t.caller, t.network, s.id::text, ${settled}, t.state
  from settlements s join streams t on s.fingerprint = 'stream:' || t.id
  where s.state = 'confirmed' and s.created_at >= $1 and s.created_at < $2 and t.state not in ('closing', 'closed'))
  union all
  -- A payment that its intent does not name: the intent can still be paid, or ended otherwise.
  (select 'intent_differs', i.id::text, i.caller, s.network, s.id::text, ${settled}, i.status
  from settlements s join intents i on s.fingerprint = 'intent:' || i.id
  where s.state = 'confirmed' and s.created_at >= $1 and s.created_at < $2
    and i.settlement_id is distinct from s.id)
  union all
  (select 'intent_differs', i.id::text, i.caller, s.network, i.settlement_id::text, ${settled},
    concat_ws(' ', case i.status when 'completed' then 'confirmed' else i.status end, i.settled_amount)
  from intents i left join settlements s on s.id = i.settlement_id
  where i.status in ('completed', 'failed') and i.closed_at >= $1 and i.closed_at < $2
    and not ${isOpen} and (s.id is null or s.state <> case i.status when 'completed' then 'confirmed' else 'failed' end
      or (i.status = 'completed' and coalesce(s.settled_amount, s.amount) <> i.settled_amount)))`

/** Streams and intents that ended in the period, and the settlements that they name. */
export const findMeteredDifferences = (
  client: Pool | PoolClient,
  { from, to }: Period,
): Promise<FoundDifferences> => readDifferences(client, { sql: differences, values: [from, to], describe })

const describe = ({ kind, subject, expected, actual }: DifferenceRow): string =>
  `${kind === 'stream_differs' ? 'Stream' : 'Intent'} ${subject} says ${actual}; its settlement is ${expected}`
