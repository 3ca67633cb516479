-- quittance: runs beside 0039
-- What a settlement contract knows of the scheme `batch-settlement`, for the sandbox, which alone writes it. Amounts are uint128.
create table if not exists sandbox_channels (
  network text not null,
  channel_id text not null,
  receiver text not null,
  token text not null,
  balance numeric(39) not null default 0,
  total_claimed numeric(39) not null default 0,
  refund_nonce bigint not null default 0,
  -- Who opened it, for shares of what is free.
  holders text[] not null default '{}',
  expires_at timestamptz not null,
  primary key (network, channel_id),
  check (total_claimed between 0 and balance)
);
create index if not exists sandbox_channels_expiring on sandbox_channels (expires_at);

create table if not exists sandbox_receivers (
  network text not null,
  receiver text not null,
  token text not null,
  total_claimed numeric(39) not null,
  total_settled numeric(39) not null default 0,
  expires_at timestamptz not null,
  primary key (network, receiver, token),
  check (total_settled between 0 and total_claimed)
);
create index if not exists sandbox_receivers_expiring on sandbox_receivers (expires_at);

-- One row for each transaction that was executed: none is executed twice.
create table if not exists sandbox_executions (
  network text not null,
  transaction text not null,
  result json,
  expires_at timestamptz not null,
  primary key (network, transaction)
);
create index if not exists sandbox_executions_expiring on sandbox_executions (expires_at);
