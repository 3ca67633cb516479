/**
 * SQL of a CTE `quotas` that locks the months in which settlements count, before the settlements themselves: a
 * claim takes both in this order too. `ids` are those that may fail.
 */
export const lockQuotas = (ids: string): string => `quotas as (
  select 1 from quota_uses q where (q.account_id, q.month) in (
    select s.caller, s.quota_month from settlements s where s.id in (${ids}) and s.quota_month is not null)
  order by q.account_id, q.month for update)`

/** SQL that is true, once the CTE of `lockQuotas` holds its locks. */
export const quotasAreLocked = '(select count(*) from quotas) >= 0'

/** SQL of a CTE that gives the months back what the settlements of a CTE `closed` had counted and that failed. */
export const refundQuota = `given_back as (
  update quota_uses q set used = greatest(0, q.used - f.count) from (
    select caller, quota_month, count(*) as count from closed
    where state = 'failed' and quota_month is not null group by caller, quota_month) f
  where q.account_id = f.caller and q.month = f.quota_month)`
