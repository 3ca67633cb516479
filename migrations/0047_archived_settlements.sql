-- quittance: runs beside 0039
-- Final settlements that were written to a file, and are deleted here. What is counted from the journal counts them too.
create table if not exists settlement_archives (
  id uuid primary key default gen_random_uuid(),
  -- Without its folder.
  file text not null,
  sha256 text not null,
  -- Midnight, UTC. All of its settlements were opened, closed and consumed before.
  before timestamptz not null,
  listed bigint not null check (listed >= 0),
  deleted bigint not null default 0 check (deleted between 0 and listed),
  created_at timestamptz not null default now(),
  finished_at timestamptz
);
-- One at a time.
create unique index if not exists settlement_archives_unfinished on settlement_archives ((true)) where finished_at is null;

-- What was archived of credit_edges.
create table if not exists archived_credit (
  payer text collate "C" not null,
  payee text collate "C" not null,
  payments bigint not null,
  volume numeric not null,
  first_at timestamptz not null,
  primary key (payer, payee)
);

-- The journal is complete from then on. An archive that was interrupted before it deleted anything does not count.
create or replace function archived_before() returns timestamptz language sql stable as
  $$ select coalesce(max(before), '-infinity') from settlement_archives $$;

-- Counts the journal from the start.
create or replace function rebuild_credit() returns void language plpgsql as $$
begin
  truncate credit_edges, credit_wallets, credit_failures, credit_pairs, credit_changes, credit_scores;
  insert into credit_edges (payer, payee, payments, volume, first_at)
    select payer, payee, sum(payments), sum(volume), min(first_at) from (
      select credit_wallet(network, payer_wallet) as payer, credit_wallet(network, payee_wallet) as payee,
        count(*) as payments, sum(worth) as volume, min(created_at) as first_at
      from settlements,
        lateral (select credit_worth(coalesce(settled_amount, amount), dollar_decimals) as worth) w
      where state = 'confirmed' and dollar_decimals is not null and credit_counts(payer_wallet, payee_wallet, worth)
      group by 1, 2
      union all
      select payer, payee, payments, volume, first_at from archived_credit) c
    group by 1, 2 order by 1, 2;
  insert into credit_failures (authorization_id, wallet)
    select distinct authorization_id, credit_wallet(network, payer_wallet) from settlements s
    where state = 'failed' and dollar_decimals is not null and credit_is_fault(reason)
      and credit_counts(payer_wallet, payee_wallet, credit_worth(amount, dollar_decimals))
      and not exists (select 1 from settlements c
        where c.authorization_id = s.authorization_id and c.state = 'confirmed');
  insert into credit_wallets (wallet, payments, volume, capped_payments, capped_volume, payees, first_at)
    select payer, sum(payments), sum(volume), sum(credit_capped_payments(payments)), sum(credit_capped_volume(volume)),
      count(*), min(first_at)
    from credit_edges group by payer order by payer;
  update credit_wallets set paid_payments = payments, paid_volume = volume, paid_capped_payments = capped_payments,
    paid_capped_volume = capped_volume, paid_payees = payees, paid_first_at = first_at;
  insert into credit_wallets as w (wallet, failures) select wallet, count(*) from credit_failures group by wallet
    on conflict (wallet) do update set failures = excluded.failures;
  insert into credit_changes (wallet) select wallet from credit_wallets;
end $$;
