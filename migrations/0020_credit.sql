-- What credit scores are computed from. Triggers keep it in the transaction that changes the journal, so that a score is
-- never behind a settlement. A payment counts while it is confirmed, if it is of one wallet to another, and worth a cent
-- or more. The rules are in docs/credit.md.

-- Writers wait from here to the end of this file: the triggers continue from what is counted below.
lock table settlements in share row exclusive mode;

-- `eip155:0x…`: a wallet is one address of a family, on all networks of the family.
create function credit_wallet(network text, address text) returns text language sql immutable parallel safe as
  $$ select split_part(network, ':', 1) || ':' || address $$;

-- In millionths of a US dollar.
create function credit_worth(amount numeric, decimals smallint) returns numeric language sql immutable parallel safe as
  $$ select case when decimals > 6 then div(amount, trunc(10::numeric ^ (decimals - 6)))
    else trunc(amount * 10::numeric ^ (6 - decimals)) end $$;

-- Index rows have a largest size.
create function credit_counts(payer text, payee text, worth numeric) returns boolean
  language sql immutable parallel safe as
  $$ select coalesce(payer <> payee and worth >= 10000 and length(payer) <= 200 and length(payee) <= 200, false) $$;

-- Of one payee, at most 10 payments and 1,000 US dollars count.
create function credit_capped_payments(payments bigint) returns bigint language sql immutable parallel safe as
  $$ select least(payments, 10) $$;
create function credit_capped_volume(volume numeric) returns numeric language sql immutable parallel safe as
  $$ select least(volume, 1000000000) $$;

-- Reasons of failures that only the payer can cause: verified funds or grants were gone when the payment was sent. A used
-- nonce is none of them: everyone who has the authorization can use it.
create function credit_is_fault(reason text) returns boolean language sql immutable parallel safe as
  $$ select coalesce(reason in ('insufficient_funds', 'insufficient_balance', 'insufficient_jetton_balance',
    'permit2_allowance_required', 'invalid_exact_svm_payload_transaction_sender_ata_not_found'), false) $$;

-- One row for each payer and payee. Without payments, a row means nothing.
create table credit_edges (
  payer text collate "C" not null,
  payee text collate "C" not null,
  payments bigint not null,
  volume numeric not null,
  first_at timestamptz,
  -- The payee pays the payer, or pays a wallet that does: such payments do not count.
  in_cycle boolean not null default false,
  primary key (payer, payee)
) with (fillfactor = 80, autovacuum_vacuum_scale_factor = 0.02, autovacuum_analyze_scale_factor = 0.02);
create index credit_edges_by_payee on credit_edges (payee, payer);

-- Sums over the edges of a payer that are on no cycle; `cycle_payments` over the others.
create table credit_wallets (
  wallet text collate "C" primary key,
  payments bigint not null default 0,
  volume numeric not null default 0,
  capped_payments bigint not null default 0,
  capped_volume numeric not null default 0,
  payees bigint not null default 0,
  cycle_payments bigint not null default 0,
  failures bigint not null default 0,
  first_at timestamptz
) with (fillfactor = 60, autovacuum_vacuum_scale_factor = 0.02, autovacuum_analyze_scale_factor = 0.02);

-- Authorizations that failed by the payer's fault and are not confirmed: each counts once, however often it is tried.
create table credit_failures (
  authorization_id text collate "C" primary key,
  wallet text collate "C" not null
);
create index credit_failures_by_wallet on credit_failures (wallet);

-- Pairs of which the first payment came or the last one went: cycles may have closed or opened. `is_first_lost`: the
-- earliest payment went.
create table credit_pairs (
  id bigint generated always as identity primary key,
  payer text not null,
  payee text not null,
  is_first_lost boolean not null default false
) with (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 1000, autovacuum_vacuum_cost_delay = 0,
  autovacuum_analyze_scale_factor = 0, autovacuum_analyze_threshold = 10000);

-- Wallets whose stored score is out of date. A wallet may be listed more than once: without a unique key, a change
-- cannot hide behind an entry that is being worked off.
create table credit_changes (
  id bigint generated always as identity primary key,
  wallet text not null
) with (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 1000, autovacuum_vacuum_cost_delay = 0,
  autovacuum_analyze_scale_factor = 0, autovacuum_analyze_threshold = 10000);

-- For the ranking only. Scores grow with age, so each is computed again after a day.
create table credit_scores (
  wallet text collate "C" primary key,
  score smallint not null check (score between 0 and 1000),
  scored_at timestamptz not null
) with (fillfactor = 80, autovacuum_vacuum_scale_factor = 0.02, autovacuum_analyze_scale_factor = 0.02);
create index credit_scores_ranked on credit_scores (score desc, wallet);
create index credit_scores_by_age on credit_scores (scored_at);

-- What a recount of one wallet reads.
create index settlements_of_payer on settlements (payer_wallet)
  where dollar_decimals is not null and state in ('confirmed', 'failed');

-- Adds differences. Concurrent statements lock edges, then wallets, both in order, and so cannot deadlock; and only add,
-- so that their order does not matter. In plpgsql, because plans of SQL functions are not cached.
create function change_credit(payers text[], payees text[], payment_changes bigint[], volume_changes numeric[],
  added_since timestamptz[], lost_since timestamptz[], failed_wallets text[], failure_changes bigint[])
returns void language plpgsql as $$
#variable_conflict use_column
begin
  with changes as (
    select payer collate "C" as payer, payee collate "C" as payee, payments, volume, added_at, lost_at
    from unnest(payers, payees, payment_changes, volume_changes, added_since, lost_since)
      as c (payer, payee, payments, volume, added_at, lost_at)
  ), edges as (
    insert into credit_edges as e (payer, payee, payments, volume, first_at)
    select payer, payee, payments, volume, added_at from changes order by payer, payee
    on conflict (payer, payee) do update set payments = e.payments + excluded.payments,
      volume = e.volume + excluded.volume,
      first_at = case when e.payments > 0 then least(e.first_at, excluded.first_at) else excluded.first_at end
    returning e.payer, e.payee, e.payments, e.volume, e.first_at, e.in_cycle
  ), moves as (
    select e.*, e.payments - c.payments as payments_before, e.volume - c.volume as volume_before, c.added_at,
      coalesce(c.lost_at <= e.first_at or (e.payments = 0 and c.lost_at is not null), false) as is_first_lost
    from edges e join changes c using (payer, payee)
  ), queued as (
    insert into credit_pairs (payer, payee, is_first_lost)
    select payer, payee, is_first_lost from moves
    where is_first_lost or (payments > 0) <> (payments_before > 0)
  ), sums as (
    select payer as wallet, sum(payments - payments_before) filter (where not in_cycle) as payments,
      sum(volume - volume_before) filter (where not in_cycle) as volume,
      sum(credit_capped_payments(payments) - credit_capped_payments(payments_before)) filter (where not in_cycle)
        as capped_payments,
      sum(credit_capped_volume(volume) - credit_capped_volume(volume_before)) filter (where not in_cycle)
        as capped_volume,
      sum((payments > 0)::integer - (payments_before > 0)::integer) filter (where not in_cycle) as payees,
      sum(payments - payments_before) filter (where in_cycle) as cycle_payments,
      0 as failures, min(added_at) filter (where not in_cycle) as first_at
    from moves group by payer
    union all
    select wallet collate "C", 0, 0, 0, 0, 0, 0, failures, null
    from unnest(failed_wallets, failure_changes) as f (wallet, failures)
  ), wallets as (
    insert into credit_wallets as w (wallet, payments, volume, capped_payments, capped_volume, payees, cycle_payments,
      failures, first_at)
    select wallet, coalesce(sum(payments), 0), coalesce(sum(volume), 0), coalesce(sum(capped_payments), 0),
      coalesce(sum(capped_volume), 0), coalesce(sum(payees), 0), coalesce(sum(cycle_payments), 0),
      coalesce(sum(failures), 0), min(first_at)
    from sums group by wallet order by wallet
    on conflict (wallet) do update set payments = w.payments + excluded.payments, volume = w.volume + excluded.volume,
      capped_payments = w.capped_payments + excluded.capped_payments,
      capped_volume = w.capped_volume + excluded.capped_volume, payees = w.payees + excluded.payees,
      cycle_payments = w.cycle_payments + excluded.cycle_payments, failures = w.failures + excluded.failures,
      first_at = least(w.first_at, excluded.first_at)
    returning w.wallet
  )
  insert into credit_changes (wallet) select wallet from wallets;
end $$;

-- The plan is cached while credit_failures is empty; without the setting it would scan the table when it is full. Rows are
-- matched by sorting and grouping: the plan of a join would be that of the first statement, whatever its size.
create function track_credit() returns trigger language plpgsql set enable_seqscan = off as $$
declare
  was_confirmed boolean; is_confirmed boolean; is_failed boolean; is_reopened boolean := false;
  payers text[]; payees text[]; payments bigint[]; volumes numeric[]; added timestamptz[]; lost timestamptz[];
  failed_wallets text[]; failures bigint[];
begin
  select coalesce(bool_or(state = 'confirmed'), false), coalesce(bool_or(credit_is_fault(reason)), false)
  into is_confirmed, is_failed from new_rows where state in ('confirmed', 'failed') and dollar_decimals is not null;
  select coalesce(bool_or(state = 'confirmed'), false)
  into was_confirmed from old_rows where state = 'confirmed' and dollar_decimals is not null;
  if not (is_confirmed or is_failed or was_confirmed) then return null; end if;

  if is_confirmed or was_confirmed then
    select array_agg(g.payer), array_agg(g.payee), array_agg(g.payments), array_agg(g.volume), array_agg(g.added_at),
      array_agg(g.lost_at)
    into payers, payees, payments, volumes, added, lost
    from (
      select credit_wallet(network, payer_wallet) as payer, credit_wallet(network, payee_wallet) as payee,
        sum(change) as payments, sum(change * worth) as volume,
        min(created_at) filter (where change > 0) as added_at, min(created_at) filter (where change < 0) as lost_at
      from (
        -- A row that was and is confirmed makes no difference.
        select network, payer_wallet, payee_wallet, created_at, worth, sum(change) as change
        from (
          select 1 as change, id, network, payer_wallet, payee_wallet, created_at,
            credit_worth(coalesce(settled_amount, amount), dollar_decimals) as worth
          from new_rows where state = 'confirmed' and dollar_decimals is not null
          union all
          select -1, id, network, payer_wallet, payee_wallet, created_at,
            credit_worth(coalesce(settled_amount, amount), dollar_decimals)
          from old_rows where state = 'confirmed' and dollar_decimals is not null) c
        where credit_counts(payer_wallet, payee_wallet, worth)
        group by id, network, payer_wallet, payee_wallet, created_at, worth having sum(change) <> 0) r
      group by 1, 2) g;
  end if;

  if was_confirmed then
    is_reopened := exists (
      select id from old_rows where state = 'confirmed' except select id from new_rows where state = 'confirmed');
  end if;
  if is_failed or is_reopened or is_confirmed and exists (select 1 from credit_failures f
      where f.authorization_id = any(array(select authorization_id from new_rows where state = 'confirmed'))) then
    with failing as (
      insert into credit_failures (authorization_id, wallet)
      select distinct on (authorization_id collate "C") authorization_id, credit_wallet(network, payer_wallet)
      from (
        select authorization_id, network, payer_wallet, payee_wallet, amount, dollar_decimals from new_rows
        where credit_is_fault(reason) and id in (
          select id from new_rows where state = 'failed' except select id from old_rows where state = 'failed')
        union all
        -- An earlier attempt, which the confirmation that is gone had made good.
        select authorization_id, network, payer_wallet, payee_wallet, amount, dollar_decimals from settlements
        where state = 'failed' and credit_is_fault(reason) and authorization_id = any(array(
          select authorization_id from old_rows where state = 'confirmed'
          except select authorization_id from new_rows where state = 'confirmed'))) f
      where credit_counts(payer_wallet, payee_wallet, credit_worth(amount, dollar_decimals))
      order by authorization_id collate "C"
      on conflict (authorization_id) do nothing
      returning wallet
    ), made_good as (
      delete from credit_failures where authorization_id = any(array(
        select authorization_id from new_rows where state = 'confirmed'))
      returning wallet
    )
    select array_agg(wallet), array_agg(change) into failed_wallets, failures from (
      select wallet, sum(change) as change from (
        select wallet, 1 as change from failing union all select wallet, -1 from made_good) c
      group by wallet) g;
  end if;

  if payers is not null or failed_wallets is not null then
    perform change_credit(payers, payees, payments, volumes, added, lost, failed_wallets, failures);
  end if;
  return null;
end $$;

create function track_inserted_credit() returns trigger language plpgsql as $$
declare
  worth numeric := credit_worth(coalesce(new.settled_amount, new.amount), new.dollar_decimals);
begin
  if credit_counts(new.payer_wallet, new.payee_wallet, worth) then
    perform change_credit(array[credit_wallet(new.network, new.payer_wallet)],
      array[credit_wallet(new.network, new.payee_wallet)], array[1::bigint], array[worth], array[new.created_at],
      array[null::timestamptz], null, null);
  end if;
  return null;
end $$;

-- Counts the journal from the start.
create function rebuild_credit() returns void language plpgsql as $$
begin
  truncate credit_edges, credit_wallets, credit_failures, credit_pairs, credit_changes, credit_scores;
  insert into credit_edges (payer, payee, payments, volume, first_at)
    select credit_wallet(network, payer_wallet), credit_wallet(network, payee_wallet), count(*), sum(worth),
      min(created_at)
    from settlements,
      lateral (select credit_worth(coalesce(settled_amount, amount), dollar_decimals) as worth) w
    where state = 'confirmed' and dollar_decimals is not null and credit_counts(payer_wallet, payee_wallet, worth)
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
  insert into credit_wallets as w (wallet, failures) select wallet, count(*) from credit_failures group by wallet
    on conflict (wallet) do update set failures = excluded.failures;
  -- Only what can be on a cycle: its payee pays, and its payer is paid.
  insert into credit_pairs (payer, payee)
    select payer, payee from credit_edges e
    where exists (select 1 from credit_edges o where o.payer = e.payee)
      and exists (select 1 from credit_edges i where i.payee = e.payer);
  insert into credit_changes (wallet) select wallet from credit_wallets;
end $$;

create function track_truncated_credit() returns trigger language plpgsql as $$
begin
  truncate credit_edges, credit_wallets, credit_failures, credit_pairs, credit_changes, credit_scores;
  return null;
end $$;

select rebuild_credit();

create trigger settlements_credit after update on settlements
  referencing old table as old_rows new table as new_rows for each statement execute function track_credit();
-- The journal opens settlements without an outcome; others are inserted by what imports them.
create trigger settlements_credit_inserted after insert on settlements
  for each row when (new.state = 'confirmed' and new.dollar_decimals is not null)
  execute function track_inserted_credit();
create trigger settlements_credit_truncated after truncate on settlements
  for each statement execute function track_truncated_credit();
