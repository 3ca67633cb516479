import type { Pool, PoolClient } from 'pg'
import type { FoundDifferences, Period } from '../../../ports/reconciliation.js'
import { isRenewable } from '../journal/claimSettlements.js'
import { isConfirmed } from '../journal/settlementStates.js'
import { type DifferenceRow, readDifferences } from './differences.js'

// Transactions that are signed at once are not recorded in the order of their nonces, and a nonce that a dead process left
// is filled later.
const fillTime = "interval '10 minutes'"

/** Of the settlement that consumed `c`, by the terms that it had then. */
const isConsumer = (
  row: string,
) => `(c.digest = digest_authorization(${row}.authorization_id) and c.terms = digest_terms(
  ${row}.authorization_id, ${row}.caller, ${row}.scheme, ${row}.network, ${row}.asset, ${row}.payer, ${row}.pay_to, ${row}.amount,
  ${row}.authorized_amount, ${row}.details))`
/** A claim whose success was answered and lost: the same can be made by another settlement. */
const isLostClaim = (row: string) => `(${row}.state = 'failed' and ${isRenewable(row)})`
const isConsumed = 'is_consumed_for_good(s.state, s.consumed_by, s.block_hash, s.is_final)'

const differences = `
  (select 'settlement_missing' as kind, d.settlement_id::text as subject, d.account_id, d.data ->> 'network' as network,
    d.settlement_id::text, 'none' as expected, d.type as actual
  from webhook_deliveries d
  where d.created_at >= $1 and d.created_at < $2 and d.created_at >= archived_before() and d.settlement_id is not null
    and not exists (select 1 from settlements s where s.id = d.settlement_id))
  union all
  -- What was consumed in the period, and has no settlement. What has an event is listed above.
  (select 'settlement_missing', c.settlement_id::text, null, null, c.settlement_id::text, 'none', 'consumed authorization'
  from consumed_authorizations c
  where c.consumed_at >= $1 and c.consumed_at < $2 and c.consumed_at >= archived_before()
    and not exists (select 1 from settlements s where s.id = c.settlement_id)
    and not exists (select 1 from webhook_deliveries d
      where d.settlement_id = c.settlement_id and d.created_at >= $1 and d.created_at < $2))
  union all
  -- What was consumed in the period, by a settlement that has not earned a success now, or that had other terms then.
  (select 'authorization_differs', s.id::text, s.caller, s.network, s.id::text,
    case when not ${isConsumed} then s.state else 'other terms' end, 'consumed'
  from consumed_authorizations c join settlements s on s.id = c.settlement_id
  where c.consumed_at >= $1 and c.consumed_at < $2
    and not ((${isConsumed} or ${isLostClaim('s')}) and ${isConsumer('s')}))
  union all
  -- A success of the period for an authorization that is not recorded as consumed, or that another settlement consumed.
  (select 'authorization_differs', s.id::text, s.caller, s.network, s.id::text, s.state,
    coalesce('consumed by ' || c.settlement_id, 'not consumed')
  from settlements s left join consumed_authorizations c on c.digest = digest_authorization(s.authorization_id)
  where s.created_at >= $1 and s.created_at < $2 and ${isConsumed} and c.settlement_id is distinct from s.id
    and not exists (select 1 from consumed_authorizations o
      where o.settlement_id = s.id and o.consumed_at >= $1 and o.consumed_at < $2)
    and not exists (select 1 from settlements l where l.id = c.settlement_id and ${isLostClaim('l')} and ${isConsumer('l')}))
  union all
  -- Two settlements by one payment: by one transaction, and by what tells the payments of one transaction apart.
  (select 'payment_duplicated', s.id::text, s.caller, s.network, s.id::text, s.transaction, o.ids
  from settlements s, lateral (
    select string_agg(o.id::text, ' ' order by o.id) as ids from settlements o
    where o.network = s.network and o.transaction = s.transaction and o.id <> s.id and o.state = 'confirmed'
      and (o.scheme, o.asset, o.payer) = (s.scheme, s.asset, s.payer)
      and coalesce(o.payee_wallet, o.pay_to) = coalesce(s.payee_wallet, s.pay_to)
      and (s.scheme = 'exact-direct' or o.details = s.details)) o
  where s.created_at >= $1 and s.created_at < $2 and ${isConfirmed('s')} and s.transaction is not null
    and o.ids is not null)
  union all
  -- Nonces without a record, from the last recorded one to one that was recorded in the period.
  (select 'transaction_unrecorded', b.signer, null, b.network, null, 'none',
    case b.nonce - p.nonce when 2 then (b.nonce - 1)::text else concat_ws(' to ', p.nonce + 1, b.nonce - 1) end
  from (
    select distinct network, signer, nonce from broadcasts
    where signer is not null and recorded_at >= $1 and recorded_at < $2 and recorded_at < now() - ${fillTime}) b,
    lateral (
      select o.nonce, o.recorded_at from broadcasts o
      where o.network = b.network and o.signer = b.signer and o.nonce < b.nonce order by o.nonce desc limit 1) p
  where p.nonce < b.nonce - 1
    -- What final settlements had recorded by then is dropped. A day, because a replacement has the time of its own.
    and p.recorded_at > coalesce((select d.closed_before + interval '1 day' from dropped_broadcasts d
      where d.network = b.network), '-infinity'))`

/**
 * What the journal should have by other records: settlements by their events and by the authorizations that they consumed,
 * transactions by the nonces around them; and settlements that it should not have, because another has their payment.
 */
export const findMissingRows = (client: Pool | PoolClient, { from, to }: Period): Promise<FoundDifferences> =>
  readDifferences(client, { sql: differences, values: [from, to], describe })

const describe = ({ kind, subject, expected, actual, network }: DifferenceRow): string => {
  if (kind === 'settlement_missing')
    return `The journal has no settlement ${subject}; there is its ${nameOf(actual)}`
  if (kind === 'payment_duplicated') return `The payment of settlement ${subject} also confirms ${actual}`
  if (kind === 'authorization_differs') {
    return `Settlement ${subject} (${expected}) does not fit the record of its authorization: ${actual}`
  }
  return `The journal has no transaction of ${subject} on ${network} with nonce ${actual}`
}

const nameOf = (record: string): string => (record.startsWith('consumed') ? record : `event ${record}`)

// Not the transaction: after a reorg, another one can carry the same payment.
const settled = `coalesce(nullif(concat_ws(' ', s.state, coalesce(s.settled_amount, s.amount)), ''), 'none')`
// A reorg reopened it: it is compared once it is closed again.
const isOpen = `coalesce(s.state in ('claimed', 'pending'), false)`

const meteredDifferences = `
  -- A closed stream: exactly its final amount, by its own settlement.
  (select 'stream_differs' as kind, t.id::text as subject, t.caller as account_id, t.network, t.settlement_id::text,
    ${settled} as expected, concat_ws(' ', 'confirmed', t.final_amount) as actual
  from streams t left join settlements s on s.id = t.settlement_id and s.fingerprint = 'stream:' || t.id
  where t.state = 'closed' and t.channel is null and t.closed_at >= $1 and t.closed_at < $2
    and not ${isOpen} and ${settled} <> concat_ws(' ', 'confirmed', t.final_amount))
  union all
  -- One over a channel: the claim, of whichever caller, that reaches its total. Without one, the channel had reached it.
  (select 'stream_differs', t.id::text, t.caller, t.network, t.settlement_id::text,
    concat_ws(' ', s.state, s.details #>> '{rows,0,total}') as expected,
    concat_ws(' ', 'confirmed', t.baseline + t.final_amount) as actual
  from streams t join settlements s on s.id = t.settlement_id
  where t.state = 'closed' and t.channel is not null and t.closed_at >= $1 and t.closed_at < $2 and not ${isOpen}
    and concat_ws(' ', s.state, s.details #>> '{rows,0,total}')
      <> concat_ws(' ', 'confirmed', t.baseline + t.final_amount))
  union all
  -- A stream that ended without a payment, or is still open, has none.
  (select 'stream_differs', t.id::text, t.caller, t.network, s.id::text, ${settled}, t.state
  from settlements s join streams t on s.fingerprint = 'stream:' || t.id
  where ${isConfirmed('s')} and s.created_at >= $1 and s.created_at < $2 and t.state not in ('closing', 'closed'))
  union all
  -- A payment that its intent does not name: the intent can still be paid, or ended otherwise.
  (select 'intent_differs', i.id::text, i.caller, s.network, s.id::text, ${settled}, i.status
  from settlements s join intents i on s.fingerprint = 'intent:' || i.id
  where ${isConfirmed('s')} and s.created_at >= $1 and s.created_at < $2
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
): Promise<FoundDifferences> =>
  readDifferences(client, { sql: meteredDifferences, values: [from, to], describe: describeMetered })

const describeMetered = ({ kind, subject, expected, actual }: DifferenceRow): string =>
  `${kind === 'stream_differs' ? 'Stream' : 'Intent'} ${subject} says ${actual}; its settlement is ${expected}`
