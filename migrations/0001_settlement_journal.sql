-- The settlement journal: what is owed the truth about every payment, before, while and after it is sent.

-- Processes that are alive. A row that names a dead one is nobody's and may be taken over.
create table instances (
  id uuid primary key,
  seen_at timestamptz not null default now()
);

create table settlements (
  id uuid primary key,
  -- Network, asset, payer and the authorization's own nonce, normalised; never signature bytes.
  authorization_id text not null,
  caller text not null,
  fingerprint text not null,
  scheme text not null,
  network text not null,
  asset text not null,
  payer text not null,
  pay_to text not null,
  amount numeric(78, 0) not null check (amount >= 0),
  resource text,
  expires_at timestamptz,
  state text not null check (state in ('claimed', 'pending', 'confirmed', 'failed')),
  owner uuid,
  -- The transaction that settled it or the newest recorded one, and all that were recorded, oldest first.
  transaction text,
  transactions text[] not null default '{}',
  reason text,
  consumed_by text,
  created_at timestamptz not null default now(),
  recorded_at timestamptz,
  closed_at timestamptz,
  -- After a send there is a transaction to ask the chain about, and a confirmed payment names its own.
  check (state in ('claimed', 'failed') or transaction is not null),
  check ((state in ('confirmed', 'failed')) = (closed_at is not null)),
  check (consumed_by is null or state = 'confirmed')
);

-- One authorization earns one success: this index decides every race.
create unique index settlements_one_open_per_authorization on settlements (authorization_id)
  where state <> 'failed';
create index settlements_by_transaction on settlements (network, transaction) where transaction is not null;
create index settlements_open on settlements (created_at) where state in ('claimed', 'pending');

-- Our own accounts and the number that their next transaction takes.
create table signer_lanes (
  network text not null,
  signer text not null,
  next_nonce bigint not null check (next_nonce >= 0),
  primary key (network, signer)
);

-- Every byte string that may have been sent. Nothing that is not here ever leaves.
create table broadcasts (
  network text not null,
  transaction text not null,
  bytes text not null,
  signer text,
  nonce bigint,
  settlement_id uuid not null references settlements (id),
  recorded_at timestamptz not null default now(),
  primary key (network, transaction),
  check ((signer is null) = (nonce is null))
);
create unique index broadcasts_one_per_nonce on broadcasts (network, signer, nonce) where signer is not null;

create table idempotent_requests (
  caller text not null,
  key text not null,
  fingerprint text not null,
  state text not null check (state in ('running', 'answered', 'failed')),
  owner uuid,
  response jsonb,
  created_at timestamptz not null default now(),
  started_at timestamptz not null default now(),
  primary key (caller, key),
  check ((state = 'answered') = (response is not null))
);
create index idempotent_requests_by_age on idempotent_requests (created_at);
