-- What accounts use of a month's transactions and what fees they owe; how many requests were answered, and how fast.

create table quota_uses (
  account_id text not null,
  -- The first day of the month, UTC.
  month date not null check (extract(day from month) = 1),
  used bigint not null default 0 check (used >= 0),
  primary key (account_id, month)
);

-- The account is the caller of the settlement. Null for those who have none. One that fails gives its place in the
-- month back; it can fail only once.
alter table settlements add column quota_month date;
alter table settlements add column fee_rate numeric check (fee_rate >= 0);
alter table settlements add check ((quota_month is null) = (fee_rate is null));

-- What an account pages through, and what its days are counted from.
create index settlements_by_account on settlements (caller, created_at desc, id desc) where caller <> 'anonymous';

-- Derived, so that it cannot disagree with the journal: what fails, or is open again, has earned nothing. Exact, in
-- parts of the smallest unit: rounding each settlement down would give all small ones away.
create view fee_ledger as
  select id as settlement_id, caller as account_id, network, asset, amount, fee_rate,
    trim_scale(amount * fee_rate) as fee, closed_at as accrued_at
  from settlements where state = 'confirmed' and fee_rate is not null;

create table request_statistics (
  -- UTC
  day date primary key,
  requests bigint not null,
  failures bigint not null,
  duration_ms double precision not null
);
