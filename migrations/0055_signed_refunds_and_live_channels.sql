-- quittance: runs beside 0039
-- The refund of each delegated channel that was signed last: its signature is valid until the channel's nonce is above refund_nonce.
alter table channel_custody
  add column if not exists refund_nonce numeric(78, 0),
  -- What such signatures can take at most, in smallest units.
  add column if not exists refund_amount numeric(78, 0);

-- False once nothing of a channel is left to claim and no voucher has come for a day: rounds skip it until the next one comes.
alter table channel_vouchers add column if not exists is_live boolean not null default true;
create index if not exists channel_vouchers_live on channel_vouchers (network, channel_id) where is_live;

-- Versions before this one do not know the column: a channel whose voucher rises is looked at again.
create or replace function revive_channel() returns trigger language plpgsql as $$
begin
  new.is_live := true;
  return new;
end $$;
create or replace trigger channel_vouchers_revive before update on channel_vouchers for each row
  when (not old.is_live and (new.ceiling > old.ceiling or new.charged > old.charged))
  execute function revive_channel();
