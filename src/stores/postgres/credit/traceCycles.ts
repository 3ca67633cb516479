import type { Pool } from 'pg'
import { z } from 'zod'
import { inTransaction } from '../database/transaction.js'

/** Runs a statement of a transaction. */
export type RunStatement = (
  sql: string,
  values?: readonly unknown[],
) => Promise<{ readonly rows: readonly unknown[]; readonly rowCount: number | null }>

export interface Pair {
  readonly payer: string
  readonly payee: string
}

/** Arbitrary, but unique among the advisory locks of this database. */
const lockKey = 7_140_420

const pairsAtOnce = 200
// From one side of a pair: the work for a pair is bounded, however many wallets pay and are paid.
const maxNeighbours = 1_000

const taken = z.object({ payer: z.string(), payee: z.string(), is_first_lost: z.boolean() })
const traced = z.object({
  payer: z.string(),
  payee: z.string(),
  is_live: z.boolean(),
  in_cycle: z.boolean(),
  pays_back: z.boolean(),
  vias: z.array(z.string()),
  is_complete: z.boolean(),
})
type Traced = z.infer<typeof traced>
const changed = z.object({ wallet: z.string(), has_lost_first: z.boolean() })

// A cycle of three goes on from the payee to a wallet that pays the payer. The side with fewer neighbours is searched;
// where both have more than the limit, wallets may be left out.
const trace = `
  with pairs as (
    select distinct payer collate "C" as payer, payee collate "C" as payee
    from unnest($1::text[], $2::text[]) as p (payer, payee)
  )
  select p.payer, p.payee, coalesce(e.payments > 0, false) as is_live, coalesce(e.in_cycle, false) as in_cycle,
    exists (select 1 from credit_edges b where b.payer = p.payee and b.payee = p.payer and b.payments > 0) as pays_back,
    case
      when paid.count = 0 or paying.count = 0 then '{}'
      when paid.count <= paying.count then array(
        select o.payee from (select payee from credit_edges where payer = p.payee and payments > 0
          order by payee limit $3) o
        where exists (select 1 from credit_edges c
          where c.payer = o.payee and c.payee = p.payer and c.payments > 0))
      else array(
        select i.payer from (select payer from credit_edges where payee = p.payer and payments > 0
          order by payer limit $3) i
        where exists (select 1 from credit_edges c
          where c.payer = p.payee and c.payee = i.payer and c.payments > 0))
    end as vias,
    least(paid.count, paying.count) < $3 as is_complete
  from pairs p left join credit_edges e using (payer, payee)
    cross join lateral (select count(*) as count from (
      select 1 from credit_edges where payer = p.payee and payments > 0 limit $3) n) paid
    cross join lateral (select count(*) as count from (
      select 1 from credit_edges where payee = p.payer and payments > 0 and paid.count > 0 limit $3) n) paying`

// Edges, then wallets, both in order: as the triggers of the journal lock them.
const setFlags = `
  with wanted as (
    select payer collate "C" as payer, payee collate "C" as payee, in_cycle
    from unnest($1::text[], $2::text[], $3::boolean[]) as w (payer, payee, in_cycle)
  ), locked as (
    select e.payer, e.payee, w.in_cycle from credit_edges e join wanted w using (payer, payee)
    where e.in_cycle <> w.in_cycle order by e.payer, e.payee for update of e
  ), flagged as (
    update credit_edges e set in_cycle = l.in_cycle from locked l
    where e.payer = l.payer and e.payee = l.payee and e.in_cycle <> l.in_cycle
    returning e.*, case when e.in_cycle then -1 else 1 end as change
  ), sums as (
    select payer as wallet, count(*) as edges, sum(change * payments) as payments, sum(change * volume) as volume,
      sum(change * credit_capped_payments(payments)) as capped_payments,
      sum(change * credit_capped_volume(volume)) as capped_volume,
      sum(change * (payments > 0)::integer) as payees,
      min(first_at) filter (where not in_cycle and payments > 0) as first_at,
      min(first_at) filter (where in_cycle and payments > 0) as lost_at
    from flagged group by payer
  ), locked_wallets as (
    select w.wallet, w.first_at from credit_wallets w
    where w.wallet = any(array(select wallet from sums)) order by w.wallet for update
  ), wallets as (
    update credit_wallets w set payments = w.payments + s.payments, volume = w.volume + s.volume,
      capped_payments = w.capped_payments + s.capped_payments, capped_volume = w.capped_volume + s.capped_volume,
      payees = w.payees + s.payees, cycle_payments = w.cycle_payments - s.payments,
      first_at = least(w.first_at, s.first_at)
    from sums s join locked_wallets l using (wallet) where w.wallet = s.wallet
  ), queued as (
    insert into credit_changes (wallet) select wallet from sums
  )
  select s.wallet, coalesce(s.lost_at <= l.first_at, false) as has_lost_first
  from sums s join locked_wallets l using (wallet)`

// $1 and $2 are pairs that vanished, $4 and $5 what is on a cycle with them otherwise. Of a cycle of three, two pairs can
// vanish in one statement: the third one leads into the payer or out of the payee of either, and is found by its flag.
const queueDoubtful = `
  insert into credit_pairs (payer, payee)
  select payer, payee from unnest($4::text[], $5::text[]) as partners (payer, payee)
  union
  select n.payer, n.payee
  from unnest($1::text[], $2::text[]) as v (payer, payee)
    cross join lateral (
      (select payer, payee from credit_edges where payee = v.payer collate "C" and in_cycle and payments > 0
        order by payer limit $3)
      union all
      (select payer, payee from credit_edges where payer = v.payee collate "C" and in_cycle and payments > 0
        order by payee limit $3)) n`

const lockEdges = `
  select 1 from credit_edges e join unnest($1::text[], $2::text[]) as p (payer, payee)
    on e.payer = p.payer collate "C" and e.payee = p.payee collate "C"
  order by e.payer, e.payee for update of e`

const findFirstOfEdges = `
  update credit_edges e set first_at = (
    select min(s.created_at) from settlements s
    where s.payer_wallet = substr(e.payer, strpos(e.payer, ':') + 1) and s.state = 'confirmed'
      and s.dollar_decimals is not null and credit_wallet(s.network, s.payer_wallet) = e.payer
      and credit_wallet(s.network, s.payee_wallet) = e.payee
      and credit_counts(s.payer_wallet, s.payee_wallet,
        credit_worth(coalesce(s.settled_amount, s.amount), s.dollar_decimals)))
  from unnest($1::text[], $2::text[]) as p (payer, payee)
  where e.payer = p.payer collate "C" and e.payee = p.payee collate "C"`

const lockWallets = `select 1 from credit_wallets where wallet = any($1) order by wallet for update`

const findFirstOfWallets = `
  update credit_wallets w set first_at = (
    select min(e.first_at) from credit_edges e where e.payer = w.wallet and e.payments > 0 and not e.in_cycle)
  where w.wallet = any($1)`

/**
 * One transaction traces at a time: of two pairs that close a cycle together, the later one sees both. With `timeoutMs`,
 * it waits that long for the others, and then holds them up no longer than that: a statement is cancelled (57014).
 */
export const whileTracing = <T>(
  pool: Pool,
  work: (run: RunStatement) => Promise<T>,
  timeoutMs?: number,
): Promise<T> =>
  inTransaction(pool, async (client) => {
    const run: RunStatement = (sql, values = []) => client.query(sql, [...values])
    const limit = (leftMs: number) => run(`set local statement_timeout = ${Math.max(1, Math.floor(leftMs))}`)
    if (timeoutMs !== undefined) await limit(timeoutMs)
    await run(`select pg_advisory_xact_lock(${lockKey})`)
    if (timeoutMs === undefined) return await work(run)
    const endsAt = performance.now() + timeoutMs
    return await work(async (sql, values) => {
      await limit(endsAt - performance.now())
      return await run(sql, values)
    })
  })

/** Traces some of the waiting pairs; returns whether others may be left. */
export const traceNextPairs = (pool: Pool): Promise<boolean> =>
  whileTracing(pool, async (run) => {
    const { rows } = await run(
      `delete from credit_pairs where id = any(array(select id from credit_pairs order by id limit ${pairsAtOnce}))
       returning payer, payee, is_first_lost`,
    )
    const pairs = rows.map((row) => taken.parse(row))
    if (pairs.length === 0) return false
    await traceCycles(
      run,
      pairs,
      pairs.filter(({ is_first_lost }) => is_first_lost),
    )
    return true
  })

/**
 * Marks the edges of every cycle that the pairs are on, and those that are on none any more; finds the earliest payment
 * of the pairs that lost it. Needs `whileTracing`. Returns how many wallets changed.
 */
export const traceCycles = async (
  run: RunStatement,
  pairs: readonly Pair[],
  lost: readonly Pair[] = [],
): Promise<number> => {
  const { rows } = await run(trace, [...columnsOf(pairs), maxNeighbours])
  const { flags, vanished } = planFlags(rows.map((row) => traced.parse(row)))
  // What was on a cycle with a pair that is gone may be on another one.
  if (vanished.length > 0) {
    const partners = vanished.flatMap(listPartners)
    await run(queueDoubtful, [...columnsOf(vanished), maxNeighbours, ...columnsOf(partners)])
  }
  const wanted = flags.map(({ pair }) => pair)
  if (lost.length + wanted.length === 0) return 0
  // Everything is locked first, so that the order is that of the triggers.
  await run(lockEdges, columnsOf([...lost, ...wanted]))
  await run(lockWallets, [payersOf([...lost, ...wanted])])
  // The snapshots of the following statements include all that was committed before the locks were granted.
  if (lost.length > 0) await run(findFirstOfEdges, columnsOf(lost))
  const result = await run(setFlags, [...columnsOf(wanted), flags.map(({ inCycle }) => inCycle)])
  const flagged = result.rows.map((row) => changed.parse(row))
  const dated = flagged.filter(({ has_lost_first }) => has_lost_first).map(({ wallet }) => wallet)
  await run(findFirstOfWallets, [[...dated, ...payersOf(lost)]])
  return flagged.length
}

interface Flag {
  readonly pair: Pair
  readonly inCycle: boolean
}

const planFlags = (
  found: readonly Traced[],
): { readonly flags: readonly Flag[]; readonly vanished: readonly Traced[] } => {
  const flags = new Map<string, Flag>()
  const setFlag = (pair: Pair, inCycle: boolean) =>
    flags.set(`${pair.payer} ${pair.payee}`, { pair, inCycle })
  const isOnCycle = (each: Traced) => each.is_live && listPartners(each).length > 0
  // A search that was cut off proves no absence: it never takes a flag back.
  for (const each of found) {
    if (each.in_cycle && !isOnCycle(each) && (each.is_complete || !each.is_live)) setFlag(each, false)
  }
  for (const each of found.filter(isOnCycle)) {
    for (const pair of [each, ...listPartners(each)]) setFlag(pair, true)
  }
  return { flags: [...flags.values()], vanished: found.filter(({ is_live }) => !is_live) }
}

/** The other edges of the cycles that the pair is on, or was on. */
const listPartners = ({ payer, payee, pays_back, vias }: Traced): readonly Pair[] => [
  ...(pays_back ? [{ payer: payee, payee: payer }] : []),
  ...vias.flatMap((via) => [
    { payer: payee, payee: via },
    { payer: via, payee: payer },
  ]),
]

const payersOf = (pairs: readonly Pair[]): readonly string[] => [...new Set(pairs.map(({ payer }) => payer))]

const columnsOf = (pairs: readonly Pair[]): (readonly string[])[] => [
  pairs.map(({ payer }) => payer),
  pairs.map(({ payee }) => payee),
]
