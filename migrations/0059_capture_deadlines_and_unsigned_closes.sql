-- quittance: runs beside 0039
-- What is done with a hold shortly before its capture deadline, where its account asks for that. Null: nothing, as in holds that
-- an older version binds.
alter table held_payments
  add column if not exists at_deadline text,
  -- Not before; it is the lease of whoever acts, and the pause after a failure.
  add column if not exists act_at timestamptz,
  -- From before the action is recorded until it has failed: meanwhile at_deadline does not change.
  add column if not exists acting_since timestamptz;
create index if not exists held_payments_to_act on held_payments (network, capture_deadline)
  where at_deadline is not null and status in ('pending', 'held');

-- Copied to the holds that an account binds from then on.
create table if not exists hold_defaults (
  account_id text collate "C" primary key,
  at_deadline text not null check (at_deadline in ('capture', 'void')),
  changed_at timestamptz not null default now()
);

-- A request that moved nothing is forgotten a day after it was asked for last. True: it moved something, and is kept.
alter table hold_moves
  add column if not exists asked_at timestamptz not null default now(),
  add column if not exists is_kept boolean not null default false;
create index if not exists hold_moves_to_judge on hold_moves (asked_at) where not is_kept;

-- What streams over a channel have used and not settled is charged before later ones.
create index if not exists streams_failed_over_channel on streams (authorization_id) where state = 'failed' and channel is not null;
