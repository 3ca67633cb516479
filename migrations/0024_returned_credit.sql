-- Credit scores by what was kept, instead of by cycles: a payment loses what came back of it, and no more. What came back
-- follows from credit_edges when a score is read (docs/credit.md), so the sums of a wallet are over all of its edges.

-- Writers wait from here to the end of this file: the triggers continue from what is summed below.
lock table settlements in share row exclusive mode;

-- `payments` … `cycle_payments` and `credit_edges.in_cycle` are those of older versions, which may still run.
alter table credit_wallets
  add column paid_payments bigint not null default 0,
  add column paid_volume numeric not null default 0,
  add column paid_capped_payments bigint not null default 0,
  add column paid_capped_volume numeric not null default 0,
  add column paid_payees bigint not null default 0,
  add column paid_first_at timestamptz;

update credit_wallets w set paid_payments = s.payments, paid_volume = s.volume,
  paid_capped_payments = s.capped_payments, paid_capped_volume = s.capped_volume, paid_payees = s.payees,
  paid_first_at = s.first_at
from (
  select payer, sum(payments) as payments, sum(volume) as volume,
    sum(credit_capped_payments(payments)) as capped_payments, sum(credit_capped_volume(volume)) as capped_volume,
    count(*) filter (where payments > 0) as payees, min(first_at) filter (where payments > 0) as first_at
  from credit_edges group by payer) s
where w.wallet = s.payer;

-- Pairs without a cycle need no search any more: only those are queued whose earliest payment went.
delete from credit_pairs where not is_first_lost;

create or replace function change_credit(payers text[], payees text[], payment_changes bigint[], volume_changes numeric[],
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
    select payer, payee, true from moves where is_first_lost
  ), steps as (
    select *, payments - payments_before as payment_step, volume - volume_before as volume_step,
      credit_capped_payments(payments) - credit_capped_payments(payments_before) as capped_payment_step,
      credit_capped_volume(volume) - credit_capped_volume(volume_before) as capped_volume_step,
      (payments > 0)::integer - (payments_before > 0)::integer as payee_step
    from moves
  ), sums as (
    select payer as wallet, sum(payment_step) as paid_payments, sum(volume_step) as paid_volume,
      sum(capped_payment_step) as paid_capped_payments, sum(capped_volume_step) as paid_capped_volume,
      sum(payee_step) as paid_payees, min(added_at) as paid_first_at,
      sum(payment_step) filter (where not in_cycle) as payments, sum(volume_step) filter (where not in_cycle) as volume,
      sum(capped_payment_step) filter (where not in_cycle) as capped_payments,
      sum(capped_volume_step) filter (where not in_cycle) as capped_volume,
      sum(payee_step) filter (where not in_cycle) as payees,
      sum(payment_step) filter (where in_cycle) as cycle_payments, 0 as failures,
      min(added_at) filter (where not in_cycle) as first_at
    from steps group by payer
    union all
    select wallet collate "C", 0, 0, 0, 0, 0, null, 0, 0, 0, 0, 0, 0, failures, null
    from unnest(failed_wallets, failure_changes) as f (wallet, failures)
  ), wallets as (
    insert into credit_wallets as w (wallet, paid_payments, paid_volume, paid_capped_payments, paid_capped_volume,
      paid_payees, paid_first_at, payments, volume, capped_payments, capped_volume, payees, cycle_payments, failures,
      first_at)
    select wallet, coalesce(sum(paid_payments), 0), coalesce(sum(paid_volume), 0),
      coalesce(sum(paid_capped_payments), 0), coalesce(sum(paid_capped_volume), 0), coalesce(sum(paid_payees), 0),
      min(paid_first_at), coalesce(sum(payments), 0), coalesce(sum(volume), 0), coalesce(sum(capped_payments), 0),
      coalesce(sum(capped_volume), 0), coalesce(sum(payees), 0), coalesce(sum(cycle_payments), 0),
      coalesce(sum(failures), 0), min(first_at)
    from sums group by wallet order by wallet
    on conflict (wallet) do update set paid_payments = w.paid_payments + excluded.paid_payments,
      paid_volume = w.paid_volume + excluded.paid_volume,
      paid_capped_payments = w.paid_capped_payments + excluded.paid_capped_payments,
      paid_capped_volume = w.paid_capped_volume + excluded.paid_capped_volume,
      paid_payees = w.paid_payees + excluded.paid_payees,
      paid_first_at = least(w.paid_first_at, excluded.paid_first_at),
      payments = w.payments + excluded.payments, volume = w.volume + excluded.volume,
      capped_payments = w.capped_payments + excluded.capped_payments,
      capped_volume = w.capped_volume + excluded.capped_volume, payees = w.payees + excluded.payees,
      cycle_payments = w.cycle_payments + excluded.cycle_payments, failures = w.failures + excluded.failures,
      first_at = least(w.first_at, excluded.first_at)
    returning w.wallet
  )
  -- Of what a payee received, less of its own payments counts.
  insert into credit_changes (wallet)
    select wallet from wallets
    union
    select w.wallet from moves m join credit_wallets w on w.wallet = m.payee where w.paid_payments > 0;
end $$;

-- Counts the journal from the start.
create or replace function rebuild_credit() returns void language plpgsql as $$
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
  update credit_wallets set paid_payments = payments, paid_volume = volume, paid_capped_payments = capped_payments,
    paid_capped_volume = capped_volume, paid_payees = payees, paid_first_at = first_at;
  insert into credit_wallets as w (wallet, failures) select wallet, count(*) from credit_failures group by wallet
    on conflict (wallet) do update set failures = excluded.failures;
  insert into credit_changes (wallet) select wallet from credit_wallets;
end $$;
