-- quittance: runs beside 0039
-- How often in a row what an account asked for at the deadline of a hold has failed. An older version leaves it as it is.
alter table held_payments add column if not exists action_failures integer not null default 0;

-- What each account was credited of what a receiver is owed, since it was paid out last: any of them may have it paid out. An older
-- version writes none; then channel_sweeps decides alone.
create table if not exists channel_sweep_shares (
  network text not null,
  receiver text not null,
  token text not null,
  account_id text not null,
  amount numeric not null,
  since timestamptz not null,
  -- channel_sweeps.credits, as it was when the account was credited last.
  last_credit bigint not null,
  -- When it could not pay for the transaction.
  passed_at timestamptz,
  primary key (network, receiver, token, account_id)
) with (fillfactor = 70);
