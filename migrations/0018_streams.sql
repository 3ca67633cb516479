-- Metered payments: what was used so far of an authorization, until one settlement moves exactly that.

-- Updated thousands of times a second: no index has a column that an update changes, and pages keep room for new versions,
-- so that an update writes no index (HOT).
create table streams (
  id uuid primary key,
  authorization_id text not null,
  -- Account id, or `anonymous`: then `control_digest` is the SHA-256 of the token that controls it.
  caller text not null,
  control_digest bytea,
  -- SHA-256 of the canonical request that opened it.
  fingerprint text not null,
  -- What its settlement is charged to; null: not counted.
  quota_holder text,
  fee_rate double precision,
  scheme text not null,
  network text not null,
  asset text not null,
  payer text not null,
  pay_to text not null,
  max_amount numeric(78, 0) not null,
  metadata json,
  created_at timestamptz not null,
  -- When it closes by itself.
  closes_at timestamptz not null,
  -- When a close that did not succeed is given up.
  settles_until timestamptz not null,

  state text not null check (state in ('active', 'paused', 'closing', 'closed', 'failed', 'expired')),
  amount numeric(78, 0) not null,
  sequence bigint not null,
  updates bigint not null,
  -- The payer's newest signature, over `amount` and `sequence`; once set, every update has one.
  voucher text,
  final_amount numeric(78, 0),
  settlement_id uuid,
  transaction text,
  settled_amount numeric(78, 0),
  reason text,
  -- Why the amount could not be settled at the last look at the chain.
  risk text,
  updated_at timestamptz not null,
  closed_at timestamptz,
  -- When the job tries next to settle a stream that is closing, and how often it was tried.
  attend_at timestamptz,
  attempts integer not null default 0,
  -- How often in a row `reason` refused the close, and when it last counted.
  refusals integer not null default 0,
  refused_at timestamptz,
  -- Settlements of it that were sent and failed.
  reverts integer not null default 0,
  -- When the payer's funds were looked at.
  checked_at timestamptz not null,
  check ((caller = 'anonymous') = (control_digest is not null)),
  check ((quota_holder is null) = (fee_rate is null)),
  check (amount <= max_amount and final_amount <= max_amount and final_amount >= amount),
  check ((state in ('closing', 'closed', 'failed')) = (final_amount is not null)),
  check ((state = 'closing') = (attend_at is not null)),
  check ((state in ('closed', 'failed', 'expired')) = (closed_at is not null))
) with (fillfactor = 50, autovacuum_vacuum_scale_factor = 0.05, autovacuum_vacuum_cost_delay = 0);

-- One open stream per authorization.
create unique index streams_of_authorization on streams (authorization_id) where state in ('active', 'paused', 'closing');
create index streams_due on streams (closes_at) where state in ('active', 'paused');
create index streams_closing on streams (network, attend_at) where state = 'closing';
create index streams_to_check on streams (checked_at) where state in ('active', 'paused');
create index streams_of_caller on streams (caller, created_at desc, id desc);
create index streams_of_caller_by_state on streams (caller, state, created_at desc, id desc);
create index streams_of_quota_holder on streams (quota_holder)
  where state in ('active', 'paused', 'closing') and quota_holder is not null;

-- The signed payment that the close settles; deleted when the stream ends. Apart from the row that updates copy.
-- Type json: jsonb refuses \u0000, which untrusted JSON may contain.
create table stream_payments (
  stream_id uuid primary key references streams (id) on delete cascade,
  payment json not null
);
