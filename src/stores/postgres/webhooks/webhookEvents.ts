const isoTime = (column: string): string =>
  `to_char(${column} at time zone 'utc', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')`

/**
 * A settlement of a relation `s` as anyone may see it: what `viewSettlement` shows, but for the reason's sentence, as
 * it stands at this moment. An event tells of the moment that it is of, however late it arrives.
 */
const settlementData = `json_strip_nulls(json_build_object(
  'id', s.id, 'status', case s.state when 'claimed' then 'pending' else s.state end, 'scheme', s.scheme,
  'network', s.network, 'asset', s.asset, 'payer', s.payer, 'payTo', s.pay_to, 'amount', s.amount::text,
  'transaction', coalesce(s.transaction, ''), 'errorReason', s.reason,
  'createdAt', ${isoTime('s.created_at')}, 'closedAt', ${isoTime('s.closed_at')}))`

/**
 * SQL that writes an event for each settlement of a relation whose caller has a webhook. It goes along in the
 * statement that changes them, and nothing in it can fail: an event never stops a payment from closing.
 */
export const insertSettlementEvents = (relation: string, type: string): string =>
  `insert into webhook_deliveries (account_id, type, settlement_id, data)
   select e.account_id, ${type}, s.id, ${settlementData}
   from ${relation} s join webhook_endpoints e on e.account_id = s.caller and e.gone_at is null
   on conflict do nothing`
