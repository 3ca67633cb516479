-- A confirmed payment stands in a block, and a block can be taken back: then the payment is open again.

alter table settlements add column block_number bigint check (block_number >= 0);
alter table settlements add column block_hash text;
-- Too deep to be taken back: never looked at again. Rows from before this file name no block and are left alone.
alter table settlements add column is_final boolean not null default false;
alter table settlements add check ((block_number is null) = (block_hash is null));
alter table settlements add check (block_hash is null or state = 'confirmed');
alter table settlements add check (not is_final or block_hash is not null);
create index settlements_unfinal on settlements (network, block_number)
  where block_hash is not null and not is_final;

-- Who was told success stays known when the payment is open again, and when it turns out to be lost.
alter table settlements drop constraint settlements_check2;
alter table settlements add check (consumed_by is null or state <> 'claimed');

-- One authorization earns one success: what somebody was told success for is never begun anew, even if it is lost.
create unique index settlements_one_per_authorization on settlements (authorization_id)
  where state <> 'failed' or consumed_by is not null;
drop index settlements_one_open_per_authorization;

-- What an operator pages through; open ones have an index of their own.
create index settlements_closed on settlements (state, created_at desc, id desc)
  where state in ('confirmed', 'failed');
