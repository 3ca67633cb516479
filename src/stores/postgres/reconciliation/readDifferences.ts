import { DatabaseError, type Pool, type PoolClient } from 'pg'
import { z } from 'zod'
import type { FoundDifferences, ReadLimit } from '../../../ports/reconciliation.js'
import { differenceKinds, type KindCount } from '../../../protocol/reconciliation.js'
import { inTransaction } from '../database/transaction.js'

const row = z.object({
  kind: z.enum(differenceKinds),
  /** What is named in the message. */
  subject: z.string(),
  account_id: z.string().nullable(),
  network: z.string().nullable(),
  settlement_id: z.string().nullable(),
  expected: z.string(),
  actual: z.string(),
  total: z.coerce.number(),
})

/** It bounds each kind: what is wrong in every row needs no list of every row. */
const maxListed = 1_000

export type DifferenceRow = z.infer<typeof row>

interface DifferenceQuery {
  /** Selects the columns of `DifferenceRow`, without the total. */
  readonly sql: string
  /** The values are those of $1, $2 and so on. */
  readonly values: readonly unknown[]
  readonly describe: (row: DifferenceRow) => string
}

/** The first of each kind, with the number of all. One statement is one snapshot. */
export const readDifferences = async (
  client: Pool | PoolClient,
  { sql, values, describe }: DifferenceQuery,
): Promise<FoundDifferences> => {
  const { rows } = await client.query(
    `select * from (
       select d.*, row_number() over (partition by kind order by subject) as position,
         count(*) over (partition by kind) as total
       from (${sql}) d) n
     where position <= ${maxListed} order by kind, position`,
    [...values],
  )
  const found = rows.map((value) => row.parse(value))
  const counts = new Map(found.map(({ kind, total }): [string, KindCount] => [kind, { kind, count: total }]))
  return {
    counts: [...counts.values()],
    differences: found.map((each) => ({
      kind: each.kind,
      message: describe(each),
      ...(each.account_id === null ? {} : { accountId: each.account_id }),
      ...(each.network === null ? {} : { network: each.network }),
      ...(each.settlement_id === null ? {} : { settlementId: each.settlement_id }),
      expected: each.expected,
      actual: each.actual,
    })),
  }
}

// By the timeout or a request; and by a replica that must apply what the statement still reads.
const canceledStates = ['57014', '40001']

const backend = z.tuple([z.object({ pid: z.number() })])

/**
 * Bounds each statement of `work`; null if one was cancelled. A statement that is only abandoned would run on in the
 * server: when stopped, it is cancelled by another connection of the pool.
 */
export const readWithin = async <T>(
  pool: Pool,
  { timeoutMs, stopped }: ReadLimit,
  work: (client: PoolClient) => Promise<T>,
): Promise<T | null> => {
  try {
    return await inTransaction(pool, async (client) => {
      await client.query(`set local statement_timeout = ${Math.max(1, Math.floor(timeoutMs))}`)
      const { rows } = await client.query('select pg_backend_pid() as pid')
      const [{ pid }] = backend.parse(rows)
      const cancel = () => {
        pool.query('select pg_cancel_backend($1)', [pid]).catch(() => undefined)
      }
      if (stopped.aborted) return null
      stopped.addEventListener('abort', cancel, { once: true })
      try {
        return await work(client)
      } finally {
        stopped.removeEventListener('abort', cancel)
      }
    })
  } catch (error) {
    if (error instanceof DatabaseError && canceledStates.includes(error.code ?? '')) return null
    throw error
  }
}
