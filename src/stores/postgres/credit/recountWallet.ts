import { DatabaseError, type Pool } from 'pg'
import { z } from 'zod'
import type { Recount } from '../../../ports/creditStore.js'
import { inTransaction } from '../database/transaction.js'
import { type RunStatement, traceCycles, whileTracing } from './traceCycles.js'

// For the count, and again for the cycles. Wallets with more settlements than are counted in this time keep what the
// triggers counted.
const recountTimeoutMs = 1_500
const maxTracedPairs = 1_000
const queryCanceled = '57014'

const result = z.tuple([z.object({ repairs: z.coerce.number() })])

// One statement, one snapshot: what it compares was committed together. It adds differences, so that settlements that
// are closed meanwhile keep theirs. Dates may lack what a waiting pair brings. `edges` reads the failures and `wallets`
// reads the edges only for the order of their locks, which is that of the triggers: a part of a statement that nothing
// reads runs last.
const compare = `
  with waiting as (
    select exists (select 1 from credit_pairs where payer = $1) as are_dates_late
  ), actual as (
    select credit_wallet(network, payee_wallet) collate "C" as payee, count(*) as payments, sum(worth) as volume,
      min(created_at) as first_at
    from settlements,
      lateral (select credit_worth(coalesce(settled_amount, amount), dollar_decimals) as worth) w
    where payer_wallet = $2 and state = 'confirmed' and dollar_decimals is not null
      and credit_wallet(network, payer_wallet) = $1 and credit_counts(payer_wallet, payee_wallet, worth)
    group by 1
  ), compared as (
    select coalesce(a.payee, e.payee) as payee, coalesce(a.payments, 0) as payments, coalesce(a.volume, 0) as volume,
      a.first_at, coalesce(e.payments, 0) as had_payments, coalesce(e.volume, 0) as had_volume,
      e.first_at as had_first_at, coalesce(e.in_cycle, false) as in_cycle
    from actual a full join (select * from credit_edges where payer = $1) e using (payee)
  ), wrong as (
    select c.* from compared c, waiting where payments <> had_payments or volume <> had_volume
      or (payments > 0 and first_at is distinct from had_first_at and not are_dates_late)
  ), queued as (
    insert into credit_pairs (payer, payee)
    select $1, payee from wrong where (payments > 0) <> (had_payments > 0)
  ), failing as (
    select distinct s.authorization_id from settlements s
    where s.payer_wallet = $2 and s.state = 'failed' and s.dollar_decimals is not null
      and credit_wallet(s.network, s.payer_wallet) = $1 and credit_is_fault(s.reason)
      and credit_counts(s.payer_wallet, s.payee_wallet, credit_worth(s.amount, s.dollar_decimals))
      and not exists (select 1 from settlements c
        where c.authorization_id = s.authorization_id and c.state = 'confirmed')
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
    select coalesce(sum(payments) filter (where not in_cycle), 0) as payments,
      coalesce(sum(volume) filter (where not in_cycle), 0) as volume,
      coalesce(sum(credit_capped_payments(payments)) filter (where not in_cycle), 0) as capped_payments,
      coalesce(sum(credit_capped_volume(volume)) filter (where not in_cycle), 0) as capped_volume,
      count(*) filter (where not in_cycle and payments > 0) as payees,
      coalesce(sum(payments) filter (where in_cycle), 0) as cycle_payments,
      min(first_at) filter (where not in_cycle and payments > 0) as first_at
    from compared
  ), differences as (
    select s.payments - coalesce(w.payments, 0) as payments, s.volume - coalesce(w.volume, 0) as volume,
      s.capped_payments - coalesce(w.capped_payments, 0) as capped_payments,
      s.capped_volume - coalesce(w.capped_volume, 0) as capped_volume,
      s.payees - coalesce(w.payees, 0) as payees,
      s.cycle_payments - coalesce(w.cycle_payments, 0) as cycle_payments,
      (select count(*) from failing) - coalesce(w.failures, 0) as failures,
      s.first_at, s.first_at is distinct from w.first_at and not are_dates_late as is_redated
    from sums s cross join waiting left join credit_wallets w on w.wallet = $1
  ), wallets as (
    insert into credit_wallets as w (wallet, payments, volume, capped_payments, capped_volume, payees, cycle_payments,
      failures, first_at)
    select $1, payments, volume, capped_payments, capped_volume, payees, cycle_payments, failures, first_at
    from differences
    where (select count(*) from edges) >= 0 and (select repairs from failures) >= 0
      and (is_redated or row(payments, volume, capped_payments, capped_volume, payees, cycle_payments, failures)
        <> row(0, 0, 0, 0, 0, 0, 0))
    on conflict (wallet) do update set payments = w.payments + excluded.payments, volume = w.volume + excluded.volume,
      capped_payments = w.capped_payments + excluded.capped_payments,
      capped_volume = w.capped_volume + excluded.capped_volume, payees = w.payees + excluded.payees,
      cycle_payments = w.cycle_payments + excluded.cycle_payments, failures = w.failures + excluded.failures,
      first_at = excluded.first_at
    returning w.wallet
  ), changes as (
    insert into credit_changes (wallet) select wallet from wallets
  )
  select (select count(*) from wrong) + (select repairs from failures) + (select count(*) from wallets) as repairs`

const pairRow = z.object({ payer: z.string(), payee: z.string() })

export const recountWallet = async (pool: Pool, wallet: string): Promise<Recount> => {
  const counted = await unlessCanceled(() =>
    inTransaction(pool, async (client) => {
      await client.query(`set local statement_timeout = ${recountTimeoutMs}`)
      const { rows } = await client.query(compare, [wallet, wallet.slice(wallet.indexOf(':') + 1)])
      return result.parse(rows)[0].repairs
    }),
  )
  if (counted === null) return { isComplete: false, repairs: 0 }
  const traced = await unlessCanceled(() =>
    whileTracing(pool, (run) => traceWallet(run, wallet), recountTimeoutMs),
  )
  // What the first transaction corrected is committed.
  return { isComplete: traced !== null, repairs: counted + (traced ?? 0) }
}

const unlessCanceled = async <T>(work: () => Promise<T>): Promise<T | null> => {
  try {
    return await work()
  } catch (error) {
    if (error instanceof DatabaseError && error.code === queryCanceled) return null
    throw error
  }
}

/** Returns how many wallets had wrong cycles; 0 while pairs wait that explain the difference. */
const traceWallet = async (run: RunStatement, wallet: string): Promise<number> => {
  const { rows } = await run(
    `select payer, payee from credit_edges where payer = $1 and (payments > 0 or in_cycle)
     order by payee limit ${maxTracedPairs}`,
    [wallet],
  )
  if (rows.length === 0) return 0
  const changes = await traceCycles(
    run,
    rows.map((row) => pairRow.parse(row)),
  )
  // Read last: what the trace saw was committed with its entry in this table.
  const { rowCount } = await run('select 1 from credit_pairs limit 1')
  return rowCount === 0 ? changes : 0
}
