-- Funds that authorizations hold between verify and settle, for schemes whose service is rendered in between.

create table reservations (
  network text not null,
  asset text not null,
  payer text not null,
  authorization_id text not null,
  spender text not null,
  pay_to text not null,
  amount numeric(78, 0) not null check (amount >= 0),
  reserved_at timestamptz not null,
  expires_at timestamptz not null,
  -- All reservations that are decided together are neighbours.
  primary key (network, asset, payer, authorization_id)
) with (autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_threshold = 1000, autovacuum_vacuum_cost_delay = 0);
create index reservations_by_expiry on reservations (expires_at);

-- Whether an authorization failed after it was reserved. Few settlements fail.
create index settlements_failed on settlements (authorization_id, closed_at) where state = 'failed';
