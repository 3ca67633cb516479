const isoTime = (column: string): string =>
  `to_char(${column} at time zone 'utc', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')`

/** The public view of `s`, as `viewSettlement` without the reason's message; events keep this snapshot. `retryable` is in it if the row says so. */
const settlementData = `json_strip_nulls(json_build_object(
  'id', s.id, 'status', case s.state when 'claimed' then 'pending' else s.state end, 'scheme', s.scheme,
  'network', s.network, 'asset', s.asset, 'payer', s.payer, 'payTo', s.pay_to, 'amount', coalesce(s.settled_amount, s.amount)::text,
  'maxAmount', nullif(s.authorized_amount, coalesce(s.settled_amount, s.amount))::text,
  'transaction', coalesce(s.transaction, ''), 'errorReason', s.reason, 'resource', s.resource,
  'retryable', case when s.state = 'failed' and (s.consumed_by is not null or s.expires_at <= now()) then false end,
  'idempotencyKey', case when starts_with(s.consumed_by, 'key:' || s.caller || ':')
    then substr(s.consumed_by, length(s.caller) + 6) end,
  'createdAt', ${isoTime('s.created_at')}, 'closedAt', ${isoTime('s.closed_at')}))`

/**
 * Rows: (account_id, type, settlement_id, data). Cannot fail the statement that changes the state. Without an active
 * webhook the event is stored for the feed.
 */
export const insertEvents = (rows: string): string =>
  `insert into webhook_deliveries (account_id, type, settlement_id, data, state, due_at)
   select v.account_id, v.type, v.settlement_id, v.data,
     case when e.account_id is null then 'stored' else 'waiting' end,
     case when e.account_id is not null then now() end
   from (${rows}) v left join webhook_endpoints e on e.account_id = v.account_id and e.gone_at is null
   where v.account_id <> 'anonymous'
   on conflict do nothing`

export const insertSettlementEvents = (relation: string, type: string): string =>
  insertEvents(
    `select s.caller as account_id, ${type} as type, s.id as settlement_id, ${settlementData} as data
     from ${relation} s`,
  )
