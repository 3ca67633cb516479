/** CTE `quotas`: locks quota rows before settlements, as claiming does, to avoid deadlocks. */
export const lockQuotas = (ids: string): string => `quotas as (
  select 1 from quota_uses q where (q.account_id, q.month) in (
    select coalesce(s.quota_holder, s.caller), s.quota_month from settlements s where s.id in (${ids}) and s.quota_month is not null)
  order by q.account_id, q.month for update)`

/** Always true; forces the CTE of `lockQuotas` to run first. */
export const quotasAreLocked = '(select count(*) from quotas) >= 0'

/** CTE that refunds the quota of settlements in a CTE `closed` that failed before anything was recorded: a revert costs gas. */
export const refundQuota = `refunded as (
  update quota_uses q set used = greatest(0, q.used - f.count) from (
    select coalesce(quota_holder, caller) as holder, quota_month, count(*) as count from closed
    where state = 'failed' and transaction is null and quota_month is not null group by holder, quota_month) f
  where q.account_id = f.holder and q.month = f.quota_month)`
