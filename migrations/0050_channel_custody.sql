-- quittance: runs beside 0039
-- Which account each channel belongs to whose claims and refunds this facilitator signs. The first binding wins, for ever: no
-- purge deletes one, because a channel can hold money again after any time.
create table if not exists channel_custody (
  network text collate "C" not null,
  channel_id bytea not null check (length(channel_id) = 32),
  -- The account outlives its keys.
  account text collate "C" not null,
  -- What the id is the hash of; addresses in lower case.
  payer text collate "C" not null,
  payer_authorizer text collate "C" not null,
  receiver text collate "C" not null,
  receiver_authorizer text collate "C" not null,
  token text collate "C" not null,
  withdraw_delay integer not null,
  salt text collate "C" not null,
  bound_at timestamptz not null default now(),
  -- When the chain was first seen to hold money in it; null: never.
  funded_at timestamptz,
  primary key (network, channel_id)
);
create index if not exists channel_custody_of_account on channel_custody (account, bound_at, network, channel_id);
-- Bounds what one payer without deposits can have an account bind.
create index if not exists channel_custody_unfunded on channel_custody (account, payer) where funded_at is null;
