import type { Pool } from 'pg'
import { z } from 'zod'
import { inTransaction } from '../database/transaction.js'

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
  update credit_wallets w set paid_first_at = (
    select min(e.first_at) from credit_edges e where e.payer = w.wallet and e.payments > 0)
  where w.wallet = any($1)`

/**
 * Finds the earliest payment again of pairs that lost it to a reorg; returns whether others may wait. One transaction at a
 * time, so that a reader that waits for it finds every date.
 */
export const findLostDates = (pool: Pool): Promise<boolean> =>
  inTransaction(pool, async (client) => {
    await client.query(`select pg_advisory_xact_lock(${lockKey})`)
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
