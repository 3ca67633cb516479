import { hasEnded, takenBy } from '../reservations/holdRules.js'
import { settlementColumns } from './settlementRow.js'

const claims = `claims as (
  select * from unnest($1::uuid[], $2::text[], $3::text[], $4::text[], $5::text[], $6::text[], $7::text[],
    $8::text[], $9::text[], $10::numeric[], $11::text[], $12::timestamptz[], $13::date[], $14::numeric[],
    $15::bigint[], $16::integer[], $17::numeric[], $18::jsonb[], $20::text[], $21::text[],
    $22::text[], $23::text[], $24::smallint[], $25::text[]) as c (id, authorization_id, caller, fingerprint, scheme, network, asset, payer,
      pay_to, amount, resource, expires_at, quota_month, fee_rate, quota_limit, arrival, authorized_amount, details, quota_holder, proof_fingerprint,
      payer_wallet, payee_wallet, dollar_decimals, holder)
), holds as (
  select * from find_holds($2::text[], $26::text[])
), held as (
  select c.id from claims c join holds h using (authorization_id)
  where not ${hasEnded('h')}
    and ${takenBy('h', { account: 'c.caller', holder: 'c.holder', asset: 'c.asset', payTo: 'c.pay_to' })} is not null
), consumed as (
  select c.id from claims c
  where exists (select from consumed_authorizations d where d.digest = digest_authorization(c.authorization_id))
)`

// The digest refuses also what has no row any more: one that was changed, deleted, or lost with a restored backup.
const isFree = 'a.id not in (select id from held) and a.id not in (select id from consumed)'

// Inserted in one global order, so that concurrent statements cannot deadlock.
const opened = (source: string): string => `opened as (
  insert into settlements as s (id, authorization_id, caller, fingerprint, scheme, network, asset, payer,
    pay_to, amount, resource, expires_at, quota_month, fee_rate, authorized_amount, details, quota_holder, proof_fingerprint,
    payer_wallet, payee_wallet, dollar_decimals, state, owner)
  select a.id, a.authorization_id, a.caller, a.fingerprint, a.scheme, a.network, a.asset, a.payer, a.pay_to,
    a.amount, a.resource, a.expires_at, a.quota_month, a.fee_rate,
    a.authorized_amount, a.details, a.quota_holder, a.proof_fingerprint, a.payer_wallet, a.payee_wallet,
    a.dollar_decimals, 'claimed', $19
  from ${source} order by a.authorization_id collate "C"
  on conflict (authorization_id) where state <> 'failed' or consumed_by is not null do nothing
  returning ${settlementColumns}, s.quota_month
)`

/** Returns a result per claim. */
export const claimWithoutQuota = `
  with ${claims}, ${opened(`claims a where ${isFree}`)}
  select a.id as claim_id, o.id is not null as is_opened, false as is_uncounted, a.id in (select id from held) as is_held,
    null as is_granted, null as has_quota_left, o.*
  from claims a left join opened o on o.id = a.id`

/** Returns a result per claim. Locks authorizations, then quota rows, then settlements, as closing does (no deadlocks). */
export const claimWithQuota = `
  with ${claims}, quotas as (
    select q.account_id, q.month, q.used from quota_uses q
    where (q.account_id, q.month) in (select quota_holder, quota_month from claims where quota_month is not null)
      and (select count(*) from holds) >= 0
    order by q.account_id, q.month for update
  ), slots as (
    select a.id, a.quota_limit < 0
      or q.used + row_number() over (partition by a.quota_holder, a.quota_month order by a.arrival) <= a.quota_limit
      as is_granted
    from claims a join quotas q on q.account_id = a.quota_holder and q.month = a.quota_month
    where not exists (select 1 from settlements s
      where s.authorization_id = a.authorization_id and (s.state <> 'failed' or s.consumed_by is not null))
      and ${isFree}
  ), ${opened(`claims a left join slots p using (id) where (a.quota_month is null or p.is_granted) and ${isFree}`)}, counts as (
    select quota_holder, quota_month, count(*) as count from opened where quota_month is not null
    group by quota_holder, quota_month
  ), counted as (
    update quota_uses q set used = q.used + c.count from counts c
    where q.account_id = c.quota_holder and q.month = c.quota_month
  )
  select a.id as claim_id, o.id is not null as is_opened, a.quota_month is not null and q.month is null as is_uncounted,
    a.id in (select id from held) as is_held, p.is_granted, q.used + coalesce(c.count, 0) < a.quota_limit as has_quota_left, o.*
  from claims a left join quotas q on q.account_id = a.quota_holder and q.month = a.quota_month
    left join counts c on c.quota_holder = a.quota_holder and c.quota_month = a.quota_month
    left join slots p on p.id = a.id left join opened o on o.id = a.id`
