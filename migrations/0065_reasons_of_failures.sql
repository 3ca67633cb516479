-- quittance: runs beside 0039
-- A settlement has a reason if it failed, and otherwise none: every version wrote it so. As `closed_at` says whether a settlement
-- is closed, indexes need not name `state`, which a recorded transaction changes. Rows from before are checked in 0066.
alter table settlements drop constraint if exists settlements_reason;
alter table settlements add constraint settlements_reason check ((state = 'failed') = (reason is not null)) not valid;

-- As in 0020, but it finds failures also by an index of those that have a reason.
create or replace function track_credit() returns trigger language plpgsql set enable_seqscan = off as $$
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
        where state = 'failed' and reason is not null and credit_is_fault(reason) and authorization_id = any(array(
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
