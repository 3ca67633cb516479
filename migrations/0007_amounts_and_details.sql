-- What a payer authorized, what a scheme settles and what moved are three amounts; and a scheme keeps what it needs to
-- resolve a settlement in a column of its own, so that no identity is ever parsed. A process of an older version opens
-- no rows from here on: it would write no details.

alter table settlements add column authorized_amount numeric(78, 0);
-- Null unless confirmed.
alter table settlements add column settled_amount numeric(78, 0) check (settled_amount >= 0);
alter table settlements add column gas_used numeric check (gas_used >= 0);
-- Written and read by the scheme alone.
alter table settlements add column details jsonb not null default '{}' check (jsonb_typeof(details) = 'object');

-- Until now every scheme settled exactly what was authorized. EIP-3009 resolves by the nonce, TON by the payer's wallet
-- and the hash of what was signed; Solana and TRON read everything from the recorded bytes.
update settlements set
  authorized_amount = amount,
  settled_amount = case state when 'confirmed' then amount end,
  details = case
    when scheme = 'exact' and authorization_id ~ '^eip155:[0-9]+/0x[0-9a-f]{40}/0x[0-9a-f]{40}/0x[0-9a-f]{64}$'
      then jsonb_build_object('nonce', split_part(authorization_id, '/', 4))
    when scheme = 'exact' and authorization_id ~ '^ton:[^/]+/-?[0-9]+:[0-9a-f]{64}/[0-9a-f]{64}$'
      then jsonb_build_object('wallet', split_part(authorization_id, '/', 2),
        'signedHash', split_part(authorization_id, '/', 3))
    else '{}'
  end;

alter table settlements alter column authorized_amount set not null;
alter table settlements add constraint settlements_amounts
  check (amount <= authorized_amount and settled_amount <= authorized_amount);
alter table settlements add constraint settlements_settled_amount
  check (settled_amount is null or state = 'confirmed');

-- A confirmed payment names its transaction, unless nothing had to move.
alter table settlements drop constraint settlements_check;
alter table settlements add constraint settlements_transaction
  check (state in ('claimed', 'failed') or transaction is not null or settled_amount is not distinct from 0);

-- Fees are owed for what moved. A row that an older version closed during an upgrade has no settled amount.
drop view fee_ledger;
create view fee_ledger as
  select id as settlement_id, caller as account_id, network, asset, coalesce(settled_amount, amount) as amount,
    fee_rate, trim_scale(coalesce(settled_amount, amount) * fee_rate) as fee, closed_at as accrued_at
  from settlements where state = 'confirmed' and fee_rate is not null;
