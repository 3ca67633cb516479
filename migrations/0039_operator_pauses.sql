-- Operators pause networks, schemes and merchants. Every instance reads the whole table once a second.
create table if not exists operator_pauses (
  kind text not null check (kind in ('network', 'scheme', 'recipient', 'account')),
  -- CAIP-2; empty for accounts.
  network text not null default '',
  scheme text not null default '',
  -- A recipient as its network spells it, or the id of an account.
  subject text not null default '',
  -- Callers are told it.
  reason text not null check (length(reason) between 1 and 200),
  set_by text check (length(set_by) between 1 and 100),
  since timestamptz not null default now(),
  primary key (kind, network, scheme, subject),
  check ((kind = 'account') = (network = '')),
  check ((kind = 'scheme') = (scheme <> '')),
  check ((kind in ('recipient', 'account')) = (subject <> ''))
);

-- What operators did, except to accounts: audit_log has that.
create table if not exists operator_actions (
  id uuid primary key default gen_random_uuid(),
  created_at timestamptz not null default clock_timestamp(),
  action text not null,
  target jsonb not null check (jsonb_typeof(target) = 'object'),
  -- The name that the operator gave; all share one token.
  actor text,
  -- Null: a command on the server.
  address text,
  -- Null: there was nothing before, or is nothing after.
  before jsonb,
  after jsonb
);
create index if not exists operator_actions_by_age on operator_actions (created_at desc, id desc);
create index if not exists audit_log_of_operators on audit_log (created_at desc, id desc) where actor = 'operator';
