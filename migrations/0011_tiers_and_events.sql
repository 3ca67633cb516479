-- Tiers are named by the operator's configuration; events are recorded for every account and read as a feed; a retry of
-- a keyed caller is recognized by the proof that the payer signed.

-- The configuration decides which names exist. A row keeps a name that it no longer has.
alter table accounts drop constraint accounts_tier_check;
alter table accounts add constraint accounts_tier_check check (tier ~ '^[a-z][a-z0-9_-]{0,31}$');

-- SHA-256 of the canonical `payload`, for settlements of accounts. Null in rows of older versions and without a key.
alter table settlements add column proof_fingerprint text;

-- `stored`: written while the account had no active webhook; never due, until it is redelivered.
alter table webhook_deliveries drop constraint webhook_deliveries_state_check;
alter table webhook_deliveries add constraint webhook_deliveries_state_check
  check (state in ('waiting', 'delivered', 'failed', 'stored'));
-- Place in the feed of the account. Assigned when the feed is read, under the lock of its counter: a number is visible
-- only after all lower ones, which no number that is assigned by an insert can promise.
alter table webhook_deliveries add column position bigint;
create unique index webhook_deliveries_feed on webhook_deliveries (account_id, position) where position is not null;
create index webhook_deliveries_unnumbered on webhook_deliveries (account_id, created_at, id) where position is null;
-- Every filter of the listing is a prefix.
create index webhook_deliveries_by_state on webhook_deliveries (account_id, state, created_at desc, id desc);
drop index webhook_deliveries_of_account;

create table event_counters (
  account_id text primary key,
  last bigint not null default 0 check (last >= 0)
) with (fillfactor = 50);
