-- quittance: runs beside 0039
-- Counters log less of each settlement. `on conflict do nothing` logs a second record for each row that it inserts: here the
-- row of the settlement is new or locked, so that nothing else can insert its entry meanwhile. The search is a subquery of the
-- row, which is never planned as a join: its plan is kept while the tables grow.
create or replace function track_opened_settlements() returns trigger language plpgsql set enable_seqscan = off as $$
declare
  opened_rows bigint; open_rows bigint; confirmed_rows bigint; failed_rows bigint; unfinal_rows bigint;
  account_rows bigint; first_caller text; last_caller text; first_day date; last_day date;
  is_counted boolean;
begin
  select count(*), count(*) filter (where state in ('claimed', 'pending')), count(*) filter (where state = 'confirmed'),
    count(*) filter (where state = 'failed'), count(*) filter (where block_hash is not null and not is_final),
    count(*) filter (where caller <> 'anonymous' and state <> 'failed'),
    min(caller) filter (where caller <> 'anonymous' and state <> 'failed'),
    max(caller) filter (where caller <> 'anonymous' and state <> 'failed'),
    min((created_at at time zone 'utc')::date), max((created_at at time zone 'utc')::date)
  into opened_rows, open_rows, confirmed_rows, failed_rows, unfinal_rows,
    account_rows, first_caller, last_caller, first_day, last_day from new_rows;
  if opened_rows = 0 then return null; end if;
  if open_rows > 0 then
    insert into open_settlements select id from new_rows n where state in ('claimed', 'pending')
      and (select true from open_settlements o where o.settlement_id = n.id limit 1) is null;
  end if;
  if unfinal_rows > 0 then
    insert into unfinal_settlements
      select network, block_number, block_hash, id, scheme from new_rows where block_hash is not null and not is_final
    on conflict do nothing;
  end if;
  is_counted := account_rows = 0;
  -- An update locks the row and writes it at once; `on conflict` logs the lock apart. Several rows are locked in their order.
  if account_rows > 0 and first_caller = last_caller and first_day = last_day then
    update account_days set count = count + account_rows where account_id = first_caller and day = first_day;
    is_counted := found;
  end if;
  if not is_counted then
    insert into account_days as a
      select caller, (created_at at time zone 'utc')::date, count(*) from new_rows
      where caller <> 'anonymous' and state <> 'failed' group by 1, 2 order by 1, 2
    on conflict (account_id, day) do update set count = a.count + excluded.count;
  end if;
  update settlement_totals set opened = opened + opened_rows, confirmed = confirmed + confirmed_rows,
    failed = failed + failed_rows where slot = pg_backend_pid() % 64;
  return null;
end $$;

create or replace function track_changed_settlements() returns trigger language plpgsql set enable_seqscan = off as $$
declare
  was record;
  becomes record;
begin
  select count(*) filter (where state = 'confirmed') as confirmed, count(*) filter (where state = 'failed') as failed,
    count(*) filter (where state in ('claimed', 'pending')) as open, count(*) as rows,
    count(*) filter (where block_hash is not null and not is_final) as unfinal into was from old_rows;
  select count(*) filter (where state = 'confirmed') as confirmed, count(*) filter (where state = 'failed') as failed,
    count(*) filter (where state in ('claimed', 'pending')) as open, count(*) as rows,
    count(*) filter (where block_hash is not null and not is_final) as unfinal into becomes from new_rows;
  if was.open > 0 and becomes.open < becomes.rows then
    delete from open_settlements where settlement_id = any(array(
      select id from new_rows where state in ('confirmed', 'failed')));
  end if;
  if was.open < was.rows and becomes.open > 0 then
    insert into open_settlements select id from new_rows where state in ('claimed', 'pending') on conflict do nothing;
  end if;
  if was.unfinal > 0 then
    delete from unfinal_settlements u using (
      select network, block_number, block_hash, id from old_rows where block_hash is not null and not is_final
      except
      select network, block_number, block_hash, id from new_rows where block_hash is not null and not is_final) o
    where (u.network, u.block_number, u.block_hash, u.settlement_id) = (o.network, o.block_number, o.block_hash, o.id);
  end if;
  if becomes.unfinal > 0 then
    insert into unfinal_settlements
      select network, block_number, block_hash, id, scheme from new_rows n where block_hash is not null and not is_final
        and (select true from unfinal_settlements u
          where (u.network, u.block_number, u.block_hash, u.settlement_id) = (n.network, n.block_number, n.block_hash, n.id)
          limit 1) is null;
  end if;
  if was.failed > 0 or becomes.failed > 0 then
    insert into account_days as a
      select caller, (created_at at time zone 'utc')::date, sum(change) from (
        select caller, created_at, 1 as change from new_rows where caller <> 'anonymous' and state <> 'failed'
        union all
        select caller, created_at, -1 from old_rows where caller <> 'anonymous' and state <> 'failed') c
      group by 1, 2 having sum(change) <> 0 order by 1, 2
    on conflict (account_id, day) do update set count = a.count + excluded.count;
  end if;
  if was.confirmed <> becomes.confirmed or was.failed <> becomes.failed then
    update settlement_totals set confirmed = confirmed + becomes.confirmed - was.confirmed,
      failed = failed + becomes.failed - was.failed where slot = pg_backend_pid() % 64;
  end if;
  return null;
end $$;

-- Without the sums that versions before 0024 read.
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
    returning e.payer, e.payee, e.payments, e.volume, e.first_at
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
      sum(payee_step) as paid_payees, 0 as failures, min(added_at) as paid_first_at
    from steps group by payer
    union all
    select wallet collate "C", 0, 0, 0, 0, 0, failures, null
    from unnest(failed_wallets, failure_changes) as f (wallet, failures)
  ), wallets as (
    insert into credit_wallets as w (wallet, paid_payments, paid_volume, paid_capped_payments, paid_capped_volume,
      paid_payees, paid_first_at, failures)
    select wallet, coalesce(sum(paid_payments), 0), coalesce(sum(paid_volume), 0),
      coalesce(sum(paid_capped_payments), 0), coalesce(sum(paid_capped_volume), 0), coalesce(sum(paid_payees), 0),
      min(paid_first_at), coalesce(sum(failures), 0)
    from sums group by wallet order by wallet
    on conflict (wallet) do update set paid_payments = w.paid_payments + excluded.paid_payments,
      paid_volume = w.paid_volume + excluded.paid_volume,
      paid_capped_payments = w.paid_capped_payments + excluded.paid_capped_payments,
      paid_capped_volume = w.paid_capped_volume + excluded.paid_capped_volume,
      paid_payees = w.paid_payees + excluded.paid_payees,
      paid_first_at = least(w.paid_first_at, excluded.paid_first_at),
      failures = w.failures + excluded.failures
    returning w.wallet
  )
  -- Of what a payee received, less of its own payments counts.
  insert into credit_changes (wallet)
    select wallet from wallets
    union
    select w.wallet from moves m join credit_wallets w on w.wallet = m.payee where w.paid_payments > 0;
end $$;
