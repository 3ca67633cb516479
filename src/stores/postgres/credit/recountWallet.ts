import type { Pool } from 'pg'
import { z } from 'zod'
import type { Recount } from '../../../ports/creditStore.js'
import { isCanceled } from '../database/databaseErrors.js'
import { inTransaction } from '../database/statements.js'
import { hasFailed, isConfirmed } from '../journal/settlementStates.js'

const result = z.tuple([z.object({ repairs: z.coerce.number() })])

// One statement, one snapshot: what it compares was committed together. It adds differences, so that settlements that
// are closed meanwhile keep theirs. Dates may lack what a waiting pair brings. `edges` reads the failures and `wallets`
// reads the edges only for the order of their locks, which is that of the triggers: a part of a statement that nothing
// reads runs last.
const compare = `
  with waiting as (
    select exists (select 1 from credit_pairs where payer = $1) as are_dates_late
  ), actual as (
    select payee, sum(payments)::bigint as payments, sum(volume) as volume, min(first_at) as first_at from (
      select credit_wallet(network, payee_wallet) collate "C" as payee, 1 as payments, worth as volume,
        created_at as first_at
      from settlements s,
        lateral (select credit_worth(coalesce(settled_amount, amount), dollar_decimals) as worth) w
      where payer_wallet = $2 and ${isConfirmed('s')} and dollar_decimals is not null
        and credit_wallet(network, payer_wallet) = $1 and credit_counts(payer_wallet, payee_wallet, worth)
      union all
      select payee, payments, volume, first_at from archived_credit where payer = $1) c
    group by 1
  ), compared as (
    select coalesce(a.payee, e.payee) as payee, coalesce(a.payments, 0) as payments, coalesce(a.volume, 0) as volume,
      a.first_at, coalesce(e.payments, 0) as had_payments, coalesce(e.volume, 0) as had_volume,
      e.first_at as had_first_at
    from actual a full join (select * from credit_edges where payer = $1) e using (payee)
  ), wrong as (
    select c.* from compared c, waiting where payments <> had_payments or volume <> had_volume
      or (payments > 0 and first_at is distinct from had_first_at and not are_dates_late)
  ), failing as (
    select distinct s.authorization_id from settlements s
    where s.payer_wallet = $2 and ${hasFailed('s')} and s.closed_at is not null and s.dollar_decimals is not null
      and credit_wallet(s.network, s.payer_wallet) = $1 and credit_is_fault(s.reason)
      and credit_counts(s.payer_wallet, s.payee_wallet, credit_worth(s.amount, s.dollar_decimals))
      and not exists (select 1 from settlements c
        where c.authorization_id = s.authorization_id and ${isConfirmed('c')})
  ), missing as (
    insert into credit_failures (authorization_id, wallet)
    select authorization_id, $1 from failing
    where authorization_id not in (select authorization_id from credit_failures where wallet = $1)
    on conflict (authorization_id) do nothing returning 1
  ), surplus as (
    delete from credit_failures
    where wallet = $1 and authorization_id not in (select authorization_id from failing) returning 1
  ), failures as (
    select (select count(*) from missing) + (select count(*) from surplus) as repairs
  ), edges as (
    insert into credit_edges as e (payer, payee, payments, volume, first_at)
    select $1, payee, payments - had_payments, volume - had_volume, first_at from wrong
    where (select repairs from failures) >= 0 order by payee
    on conflict (payer, payee) do update set payments = e.payments + excluded.payments,
      volume = e.volume + excluded.volume, first_at = excluded.first_at
    returning e.payee
  ), sums as (
    select coalesce(sum(payments), 0) as payments, coalesce(sum(volume), 0) as volume,
      coalesce(sum(credit_capped_payments(payments)), 0) as capped_payments,
      coalesce(sum(credit_capped_volume(volume)), 0) as capped_volume,
      count(*) filter (where payments > 0) as payees, min(first_at) filter (where payments > 0) as first_at
    from compared
  ), differences as (
    select s.payments - coalesce(w.paid_payments, 0) as payments, s.volume - coalesce(w.paid_volume, 0) as volume,
      s.capped_payments - coalesce(w.paid_capped_payments, 0) as capped_payments,
      s.capped_volume - coalesce(w.paid_capped_volume, 0) as capped_volume,
      s.payees - coalesce(w.paid_payees, 0) as payees,
      (select count(*) from failing) - coalesce(w.failures, 0) as failures,
      s.first_at, s.first_at is distinct from w.paid_first_at and not are_dates_late as is_redated
    from sums s cross join waiting left join credit_wallets w on w.wallet = $1
  ), wallets as (
    insert into credit_wallets as w (wallet, paid_payments, paid_volume, paid_capped_payments, paid_capped_volume,
      paid_payees, failures, paid_first_at)
    select $1, payments, volume, capped_payments, capped_volume, payees, failures, first_at
    from differences
    where (select count(*) from edges) >= 0 and (select repairs from failures) >= 0
      and (is_redated or row(payments, volume, capped_payments, capped_volume, payees, failures)
        <> row(0, 0, 0, 0, 0, 0))
    on conflict (wallet) do update set paid_payments = w.paid_payments + excluded.paid_payments,
      paid_volume = w.paid_volume + excluded.paid_volume,
      paid_capped_payments = w.paid_capped_payments + excluded.paid_capped_payments,
      paid_capped_volume = w.paid_capped_volume + excluded.paid_capped_volume,
      paid_payees = w.paid_payees + excluded.paid_payees, failures = w.failures + excluded.failures,
      paid_first_at = excluded.paid_first_at
    returning w.wallet
  ), changes as (
    insert into credit_changes (wallet) select wallet from wallets
  )
  select (select count(*) from wrong) + (select repairs from failures) + (select count(*) from wallets) as repairs`

/**
 * What came back needs no recount: it follows from the pairs whenever a score is read. A wallet with more settlements than are
 * counted in `timeoutMs` keeps what the triggers counted.
 */
export const recountWallet = async (pool: Pool, wallet: string, timeoutMs: number): Promise<Recount> => {
  try {
    return await inTransaction(pool, async (client) => {
      await client.query(`set local statement_timeout = ${timeoutMs}`)
      const { rows } = await client.query(compare, [wallet, wallet.slice(wallet.indexOf(':') + 1)])
      return { isComplete: true, repairs: result.parse(rows)[0].repairs }
    })
  } catch (error) {
    if (isCanceled(error)) return { isComplete: false, repairs: 0 }
    throw error
  }
}
