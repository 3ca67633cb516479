-- Intents: payments that may be made on one of several networks.

create table intents (
  id uuid primary key,
  -- Account id, or `anonymous`.
  caller text not null,
  status text not null
    check (status in ('pending', 'routed', 'executing', 'completed', 'failed', 'expired', 'cancelled')),
  -- Type json: jsonb refuses \u0000, which untrusted JSON may contain.
  terms json not null,
  routes json not null,
  unavailable json not null,
  routes_valid_until timestamptz not null,
  -- The route that was selected, and the payment requirements to sign.
  selected json,
  -- A settlement executes at most one intent. Released when nothing was sent.
  settlement_id uuid unique,
  authorization_id text,
  transaction text,
  settled_amount numeric check (settled_amount >= 0),
  reason text,
  created_at timestamptz not null,
  expires_at timestamptz not null,
  -- Later than expires_at while the funds may have been sent by the payer before execute.
  ends_at timestamptz not null check (ends_at >= expires_at),
  closed_at timestamptz,
  check ((settlement_id is null) = (authorization_id is null)),
  check (status not in ('routed', 'executing', 'completed', 'failed') or selected is not null),
  check ((settlement_id is not null) = (status in ('executing', 'completed', 'failed'))),
  check ((closed_at is not null) = (status in ('completed', 'failed', 'expired', 'cancelled')))
) with (autovacuum_vacuum_scale_factor = 0.05);
create index intents_of_account on intents (caller, created_at desc, id desc);
create index intents_by_status on intents (caller, status, created_at desc, id desc);
create index intents_executing on intents (id) where status = 'executing';
create index intents_expiring on intents (ends_at) where status in ('pending', 'routed');
-- For the purge: what was never paid is kept for a shorter time.
create index intents_unpaid on intents (closed_at) where status in ('expired', 'cancelled');
create index intents_paid on intents (closed_at) where status in ('completed', 'failed');
