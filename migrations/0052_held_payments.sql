-- quittance: runs beside 0039
-- Payments that a contract holds and that a key of ours moves: which account each belongs to. The first binding wins, for ever,
-- because the account that captures must be the one that delivered.
create table if not exists held_payments (
  id uuid primary key default gen_random_uuid(),
  network text collate "C" not null,
  hash text collate "C" not null check (hash = lower(hash)),
  account_id text collate "C" not null check (account_id <> 'anonymous'),
  -- Of the settlement that holds it.
  authorization_id text not null,
  payer text not null,
  pay_to text not null,
  asset text not null,
  amount numeric(78, 0) not null check (amount > 0),
  capture_deadline timestamptz not null,
  refund_deadline timestamptz not null,
  -- What is signed for; numbers as text.
  terms json not null,
  -- As of the last look at the chain.
  status text not null default 'pending'
    check (status in ('pending', 'held', 'captured', 'voided', 'expired', 'reclaimed', 'failed')),
  capturable numeric(78, 0) not null default 0,
  refundable numeric(78, 0) not null default 0,
  captured numeric(78, 0) not null default 0,
  refunded numeric(78, 0) not null default 0,
  created_at timestamptz not null default now(),
  -- When the job looks at it next; null: it is over.
  look_at timestamptz,
  warned_at timestamptz,
  unique (network, hash)
);
create index if not exists held_payments_of_account on held_payments (account_id, created_at desc, id desc);
create index if not exists held_payments_due on held_payments (look_at) where look_at is not null;

-- What was asked for under each Idempotency-Key, written before it is sent: the balances that a request starts from never
-- recur, so that a repeated one can move nothing twice, however late it comes.
create table if not exists hold_moves (
  account_id text collate "C" not null,
  idempotency_key text collate "C" not null,
  -- The void that follows a capture is a part of its request.
  part text not null check (part in ('request', 'remainder')),
  held_payment_id uuid not null references held_payments (id),
  authorization_id text not null,
  fingerprint text not null,
  move json not null,
  created_at timestamptz not null default now(),
  primary key (account_id, idempotency_key, part)
);
create index if not exists hold_moves_of_payment on hold_moves (held_payment_id, created_at);
