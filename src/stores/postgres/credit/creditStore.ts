import type { Pool } from 'pg'
import { z } from 'zod'
import type { CreditStore } from '../../../ports/creditStore.js'
import { inTransaction } from '../database/transaction.js'
import { factColumns, readFacts } from './creditRow.js'
import { recountWallet } from './recountWallet.js'
import { traceNextPairs } from './traceCycles.js'

// Of 200 pairs: more new pairs than a second brings.
const roundsPerRead = 10
const scoredAtOnce = 1_000

const behind = z.object({ is_behind: z.boolean() })
const changedRow = z.object({ wallet: z.string() })

// At least one row, so that it says whether pairs wait that the facts do not include.
const findFacts = `
  select exists (select 1 from credit_pairs) as is_behind, ${factColumns}
  from (select) one left join credit_wallets w on w.wallet = any($1)`

/** `reads` must not be behind `pool`, as a replica is. */
export const createCreditStore = (pool: Pool, reads: Pool = pool): CreditStore => {
  let tracing: Promise<boolean> | null = null
  /** All that wait for it share one connection: readers must not use up those of settlements. */
  const traceNext = (): Promise<boolean> => {
    tracing ??= traceNextPairs(pool).finally(() => {
      tracing = null
    })
    return tracing
  }

  return {
    read: async (wallets) => {
      for (let round = 0; ; round += 1) {
        const { rows } = await reads.query(findFacts, [wallets])
        const isBehind = rows.some((row) => behind.parse(row).is_behind)
        if (!isBehind || round === roundsPerRead) {
          return rows.filter(({ wallet }) => wallet !== null).map(readFacts)
        }
        await traceNext()
      }
    },

    recount: (wallet) => recountWallet(pool, wallet),

    traceCycles: async (stopped) => {
      while (!stopped.aborted) if (!(await traceNext())) return false
      return true
    },

    rescore: (score, before) =>
      inTransaction(pool, async (client) => {
        const changed = await client.query(
          `delete from credit_changes where id = any(array(
           select id from credit_changes order by id limit $1)) returning wallet`,
          [scoredAtOnce],
        )
        const aged = await client.query(
          'select wallet from credit_scores where scored_at < $2 order by scored_at limit $1',
          [scoredAtOnce, before],
        )
        const listed = [...changed.rows, ...aged.rows].map((row) => changedRow.parse(row).wallet)
        if (listed.length === 0) return false
        // A new snapshot: includes what committed the changes.
        const { rows } = await client.query(
          `select ${factColumns} from credit_wallets w where w.wallet = any($1)`,
          [[...new Set(listed)]],
        )
        const found = rows.map(readFacts)
        await client.query(
          `insert into credit_scores as s (wallet, score, scored_at)
         select wallet, score, now() from unnest($1::text[], $2::smallint[]) as n (wallet, score) order by wallet collate "C"
         on conflict (wallet) do update set score = excluded.score, scored_at = excluded.scored_at`,
          [found.map(({ wallet }) => wallet), found.map(({ facts }) => score(facts))],
        )
        return changed.rows.length === scoredAtOnce || aged.rows.length === scoredAtOnce
      }),

    listTop: async (limit) => {
      const { rows } = await reads.query(
        `select ${factColumns} from (
         select wallet, score from credit_scores where score > 0 order by score desc, wallet limit $1) s
       join credit_wallets w using (wallet) order by s.score desc, w.wallet`,
        [limit],
      )
      return rows.map(readFacts)
    },
  }
}
