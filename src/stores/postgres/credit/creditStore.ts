import type { Pool, PoolClient } from 'pg'
import { z } from 'zod'
import type { CreditStore, WalletFacts } from '../../../ports/creditStore.js'
import { inTransaction } from '../database/statements.js'
import { isConfirmed } from '../journal/settlementStates.js'
import { recountWallet } from './recountWallet.js'
import { keepFacts, readPaid, selectPaid } from './returnedFlow.js'

// A round has 200 pairs: together more than a reorg takes back in a second.
const roundsPerRead = 10
const scoredAtOnce = 1_000
const waysPerChange = 1_000

const behind = z.object({ is_behind: z.boolean() })
const changedRow = z.object({ wallet: z.string() })
const earliest = z.tuple([z.object({ first_at: z.date().nullable() })])

// It returns at least one row, which says whether dates are still missing in the facts.
const findPaid = `
  select b.is_behind, p.* from (select exists (select 1 from credit_pairs) as is_behind) b
    left join (${selectPaid('credit_wallets w')} where w.wallet = any($1)) p on true`

// The wallets that a change between two others concerns: they paid the one that paid, and were paid by the other one. A reorg
// may have taken that payment back. Of each changed wallet a bounded number of ways is looked at; wallets that these leave out
// are scored again when their score is old.
const findPayersAround = `
  select distinct o.payer as wallet from unnest($1::text[]) as c (wallet)
  cross join lateral (
    select i.payee from (
      select payee from credit_edges where payer = c.wallet order by payee limit ${waysPerChange}) m
    join credit_edges i on i.payer = m.payee and i.payments > 0 and i.payee <> c.wallet
    limit ${waysPerChange}) w
  join credit_edges o on o.payer = w.payee and o.payee = c.wallet and o.payments > 0
  limit ${scoredAtOnce}`

// A request waits for a recount.
const defaultRecountTimeoutMs = 1_500

/** `reads` must not be behind `pool`, as a replica is. */
export const createCreditStore = (
  pool: Pool,
  reads: Pool = pool,
  { recountTimeoutMs = defaultRecountTimeoutMs }: { readonly recountTimeoutMs?: number } = {},
): CreditStore => {
  let dating: Promise<boolean> | null = null
  /** All that wait for it share one connection: readers must not use up those of settlements. */
  const findNextDates = (): Promise<boolean> => {
    dating ??= findLostDates(pool).finally(() => {
      dating = null
    })
    return dating
  }

  return {
    read: async (wallets) => {
      for (let round = 0; ; round += 1) {
        const { rows } = await reads.query(findPaid, [wallets])
        const isBehind = rows.some((row) => behind.parse(row).is_behind)
        if (!isBehind || round === roundsPerRead) {
          return await listKept(
            reads,
            rows.filter(({ wallet }) => wallet !== null),
          )
        }
        await findNextDates()
      }
    },

    recount: (wallet) => recountWallet(pool, wallet, recountTimeoutMs),

    findLostDates: async (stopped) => {
      while (!stopped.aborted) if (!(await findNextDates())) return false
      return true
    },

    rescore: (score, before) =>
      inTransaction(pool, async (client) => {
        const changed = await client.query(
          `delete from credit_changes where id = any(array(
           select id from credit_changes order by id limit $1)) returning wallet`,
          [scoredAtOnce],
        )
        // Statements after the deletion: their snapshots include what committed the changes.
        const around = await client.query(findPayersAround, [
          [...new Set(changed.rows.map((row) => changedRow.parse(row).wallet))],
        ])
        const agedAtOnce = scoredAtOnce - around.rows.length
        const aged = await client.query(
          'select wallet from credit_scores where scored_at < $2 order by scored_at limit $1',
          [agedAtOnce, before],
        )
        const listed = [...changed.rows, ...around.rows, ...aged.rows].map(
          (row) => changedRow.parse(row).wallet,
        )
        if (listed.length === 0) return false
        const { rows } = await client.query(`${selectPaid('credit_wallets w')} where w.wallet = any($1)`, [
          [...new Set(listed)],
        ])
        const found = await listKept(client, rows)
        await client.query(
          `insert into credit_scores as s (wallet, score, scored_at)
         select wallet, score, now() from unnest($1::text[], $2::smallint[]) as n (wallet, score) order by wallet collate "C"
         on conflict (wallet) do update set score = excluded.score, scored_at = excluded.scored_at`,
          [found.map(({ wallet }) => wallet), found.map(({ facts }) => score(facts))],
        )
        return changed.rows.length === scoredAtOnce || aged.rows.length === agedAtOnce
      }),

    listTop: async (limit) => {
      const { rows } = await reads.query(
        `${selectPaid(`(
           select wallet, score from credit_scores where score > 0 order by score desc, wallet limit $1) s
         join credit_wallets w using (wallet)`)}
         order by s.score desc, w.wallet`,
        [limit],
      )
      return await listKept(reads, rows)
    },
  }
}

const listKept = async (
  database: Pool | PoolClient,
  rows: readonly unknown[],
): Promise<readonly WalletFacts[]> => {
  const kept: WalletFacts[] = []
  for (const row of rows) {
    const { wallet, paid, paths } = readPaid(row)
    const { facts, undated } = keepFacts(paid, paths)
    const firstAt = undated.length === 0 ? facts.firstAt : await findFirst(database, wallet, undated)
    kept.push({ wallet, facts: { ...facts, firstAt } })
  }
  return kept
}

/** Finds the first payment to payees that count. */
const findFirst = async (
  database: Pool | PoolClient,
  wallet: string,
  without: readonly string[],
): Promise<Date | null> => {
  const { rows } = await database.query(
    `select min(first_at) as first_at from credit_edges where payer = $1 and payments > 0 and payee <> all($2)`,
    [wallet, without],
  )
  return earliest.parse(rows)[0].first_at
}

interface Pair {
  readonly payer: string
  readonly payee: string
}

/** Arbitrary, but unique among the advisory locks of this database. */
const lockKey = 7_140_420

const pairsAtOnce = 200

const taken = z.object({ payer: z.string(), payee: z.string(), is_first_lost: z.boolean() })

const lockEdges = `
  select 1 from credit_edges e join unnest($1::text[], $2::text[]) as p (payer, payee)
    on e.payer = p.payer collate "C" and e.payee = p.payee collate "C"
  order by e.payer, e.payee for update of e`

const findFirstOfEdges = `
  update credit_edges e set first_at = least((
    select a.first_at from archived_credit a where a.payer = e.payer and a.payee = e.payee), (
    select min(s.created_at) from settlements s
    where s.payer_wallet = substr(e.payer, strpos(e.payer, ':') + 1) and ${isConfirmed('s')}
      and s.dollar_decimals is not null and credit_wallet(s.network, s.payer_wallet) = e.payer
      and credit_wallet(s.network, s.payee_wallet) = e.payee
      and credit_counts(s.payer_wallet, s.payee_wallet,
        credit_worth(coalesce(s.settled_amount, s.amount), s.dollar_decimals))))
  from unnest($1::text[], $2::text[]) as p (payer, payee)
  where e.payer = p.payer collate "C" and e.payee = p.payee collate "C"`

const lockWallets = `select 1 from credit_wallets where wallet = any($1) order by wallet for update`

const findFirstOfWallets = `
  update credit_wallets w set paid_first_at = (
    select min(e.first_at) from credit_edges e where e.payer = w.wallet and e.payments > 0)
  where w.wallet = any($1)`

/**
 * Finds the earliest payment again of pairs that lost it to a reorg; returns whether others may wait. One transaction at a
 * time, so that a reader that waits for it finds every date.
 */
const findLostDates = (pool: Pool): Promise<boolean> =>
  inTransaction(pool, async (client) => {
    await client.query(`/* credit */ select pg_advisory_xact_lock(${lockKey})`)
    const { rows } = await client.query(
      `delete from credit_pairs where id = any(array(select id from credit_pairs order by id limit ${pairsAtOnce}))
       returning payer, payee, is_first_lost`,
    )
    const pairs = rows.map((row) => taken.parse(row))
    // Versions before returned flow queue pairs for another reason too.
    const lost = pairs.filter(({ is_first_lost }) => is_first_lost)
    const payers = [[...new Set(lost.map(({ payer }) => payer))]]
    // Everything is locked first, in the order of the triggers; the statements after see what was committed before.
    await client.query(lockEdges, columnsOf(lost))
    await client.query(lockWallets, payers)
    await client.query(findFirstOfEdges, columnsOf(lost))
    await client.query(findFirstOfWallets, payers)
    return pairs.length > 0
  })

const columnsOf = (pairs: readonly Pair[]): (readonly string[])[] => [
  pairs.map(({ payer }) => payer),
  pairs.map(({ payee }) => payee),
]
