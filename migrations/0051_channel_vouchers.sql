-- quittance: runs beside 0039
-- The highest voucher of each channel whose receiverAuthorizer is ours, and what was last seen of the channel on chain.
create table if not exists channel_vouchers (
  network text not null,
  channel_id text not null,
  account_id text not null,
  config jsonb not null,
  receiver text not null,
  token text not null,
  bound_at timestamptz not null,
  -- Of the highest voucher; its price is that of the request that it was verified for.
  ceiling numeric not null,
  signature text not null,
  price numeric not null,
  verified_at timestamptz not null,
  -- The highest ceiling less price of all vouchers: that much was charged before.
  charged numeric not null,
  claimed numeric not null default 0,
  balance numeric,
  withdrawal numeric not null default 0,
  withdraw_requested_at bigint not null default 0,
  seen_at timestamptz,
  unclaimed_since timestamptz,
  -- What the account was last notified of.
  notified_withdrawal bigint,
  notified_balance numeric,
  -- The claim that is under way, or was last.
  settlement_id uuid,
  refusals integer not null default 0,
  -- The ceiling of a voucher that cannot be claimed; a higher voucher is claimed again.
  unclaimable numeric,
  primary key (network, channel_id)
) with (fillfactor = 70);
-- An update changes no column of it (HOT).
create index if not exists channel_vouchers_of_account on channel_vouchers (account_id, bound_at, channel_id);
-- Receivers that were credited for these channels; unswept_since is null once they were paid, unless credited anew meanwhile.
create table if not exists channel_sweeps (
  network text not null,
  receiver text not null,
  token text not null,
  account_id text not null,
  unswept_since timestamptz,
  credits bigint not null,
  primary key (network, receiver, token)
) with (fillfactor = 70);
