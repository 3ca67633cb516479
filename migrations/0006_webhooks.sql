-- Whoever has an account can be told what becomes of its settlements, also while nobody asks.

-- Where an account wants its events. No foreign key: an event must never be able to stop a payment from closing.
create table webhook_endpoints (
  account_id text primary key,
  url text not null,
  -- What signs, encrypted; after a rotation the one before signs beside it for a while.
  sealed_secret bytea not null,
  previous_sealed_secret bytea,
  previous_until timestamptz,
  -- Since when it answers 410: nothing is written for it any more until it is set again.
  gone_at timestamptz,
  check ((previous_sealed_secret is null) = (previous_until is null))
);

-- The outbox and the log of deliveries in one. A row is written by the statement that changes what it tells of.
create table webhook_deliveries (
  -- The event's id as well: the same for every attempt.
  id uuid primary key default gen_random_uuid(),
  account_id text not null,
  type text not null,
  -- The settlement that it tells of, where it tells of one.
  settlement_id uuid,
  data json not null,
  created_at timestamptz not null default now(),
  state text not null default 'waiting' check (state in ('waiting', 'delivered', 'failed')),
  attempts integer not null default 0,
  -- When the next attempt may begin; while one is under way, when it counts as dead.
  due_at timestamptz default now(),
  -- Names the attempt that is under way.
  lease uuid,
  last_status integer,
  last_error text,
  last_attempt_at timestamptz,
  check ((state = 'waiting') = (due_at is not null)),
  check (lease is null or state = 'waiting')
);
create index webhook_deliveries_due on webhook_deliveries (account_id, due_at) where state = 'waiting';
create index webhook_deliveries_of_account on webhook_deliveries (account_id, created_at desc, id desc);
create index webhook_deliveries_of_settlement on webhook_deliveries (settlement_id);
-- An account is told once that a settlement is pending, however many instances find it so.
create unique index webhook_deliveries_pending_once on webhook_deliveries (settlement_id)
  where type = 'settlement.pending';
