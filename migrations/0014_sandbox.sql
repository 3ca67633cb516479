-- A database serves either real payments or the sandbox: a payment that never was on a chain must not meet one that was.
create table database_purpose (
  is_only boolean primary key default true check (is_only),
  is_sandbox boolean not null
);
-- What older versions wrote is real.
insert into database_purpose (is_sandbox)
  select false where exists (select from settlements) or exists (select from accounts);

-- The tables below are written by the sandbox only.
create table sandbox_scenarios (
  id uuid primary key default gen_random_uuid(),
  network text not null,
  payer text not null,
  script json not null,
  clock_ms bigint not null default 0 check (clock_ms >= 0),
  created_at timestamptz not null default now(),
  expires_at timestamptz not null,
  unique (network, payer)
);
create index sandbox_scenarios_expiring on sandbox_scenarios (expires_at);

create table sandbox_inboxes (
  id uuid primary key default gen_random_uuid(),
  -- Deliveries that are still answered with status 500.
  failures_left integer not null check (failures_left >= 0),
  created_at timestamptz not null default now(),
  expires_at timestamptz not null
);
create index sandbox_inboxes_expiring on sandbox_inboxes (expires_at);

create table sandbox_messages (
  inbox_id uuid not null references sandbox_inboxes on delete cascade,
  position bigint generated always as identity,
  headers json not null,
  body text not null,
  status integer not null,
  received_at timestamptz not null default now(),
  primary key (inbox_id, position)
);
