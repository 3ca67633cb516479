const isoTime = (column: string): string =>
  `to_char(${column} at time zone 'utc', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')`

/**
 * A settlement of a relation `s` as anyone may see it: what `viewSettlement` shows, but for the reason's sentence, as
 * it stands at this moment. An event tells of the moment that it is of, however late it arrives.
 */
const settlementData = `json_strip_nulls(json_build_object(
  'id', s.id, 'status', case s.state when 'claimed' then 'pending' else s.state end, 'scheme', s.scheme,
  'network', s.network, 'asset', s.asset, 'payer', s.payer, 'payTo', s.pay_to, 'amount', coalesce(s.settled_amount, s.amount)::text,
  'transaction', coalesce(s.transaction, ''), 'errorReason', s.reason,
  'createdAt', ${isoTime('s.created_at')}, 'closedAt', ${isoTime('s.closed_at')}))`

/**
 * SQL that writes an event for each row (account_id, type, settlement_id, data) of a query, where the account has a
 * webhook that takes events. Belongs into the statement that changes the state. Cannot fail that statement.
 */
export const insertEvents = (rows: string): string =>
  `insert into webhook_deliveries (account_id, type, settlement_id, data)
   select v.account_id, v.type, v.settlement_id, v.data from (${rows}) v
     join webhook_endpoints e on e.account_id = v.account_id and e.gone_at is null
   on conflict do nothing`

/** SQL that writes an event for each settlement of a relation whose caller has a webhook. */
export const insertSettlementEvents = (relation: string, type: string): string =>
  insertEvents(
    `select s.caller as account_id, ${type} as type, s.id as settlement_id, ${settlementData} as data
     from ${relation} s`,
  )
