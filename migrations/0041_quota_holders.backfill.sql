-- 0010 gave each mailbox a counter with what its free projects had used in that month, beside the counters of the projects.
-- No settlement stands behind it: those from before count for the project, their caller. So each settlement that gets its
-- holder here leaves the counter of the mailbox, too.
with batch as (
  select id, caller, quota_holder, quota_month, state, transaction, created_at, closed_at from settlements
  where id > coalesce($1::text, '00000000-0000-0000-0000-000000000000')::uuid order by id limit $2
), copied as (
  select applied_at, date_trunc('month', applied_at at time zone 'utc')::date as month
  from schema_migration where number = 10
), twice as (
  select a.mailbox_id::text as account_id, b.quota_month as month, count(*) as count
  from batch b join copied c on c.month = b.quota_month and b.created_at < c.applied_at
    join accounts a on a.id::text = b.caller
  where b.quota_holder is null
    -- What had failed before anything was sent no longer counted then.
    and (b.state <> 'failed' or b.transaction is not null or b.closed_at >= c.applied_at)
    -- Its tier then.
    and coalesce((select l.details ->> 'from' from audit_log l
        where l.account_id = a.id and l.action = 'tier.changed' and l.created_at >= c.applied_at
        order by l.created_at limit 1), a.tier) = 'free'
  group by 1, 2
), quotas as (
  -- Before settlements, and in the order of claims.
  select q.account_id, q.month, t.count from quota_uses q join twice t using (account_id, month)
  order by q.account_id, q.month for update of q
), counted as (
  update quota_uses q set used = greatest(0, q.used - l.count) from quotas l
  where (q.account_id, q.month) = (l.account_id, l.month)
), named as (
  update settlements s set quota_holder = s.caller from batch b
  where s.id = b.id and s.quota_holder is null and s.quota_month is not null
    and (select count(*) from quotas) >= 0
)
select (select id::text from batch order by id desc limit 1) as cursor
