import type { Pool, PoolClient } from 'pg'
import { z } from 'zod'
import type { FoundDifferences, Period } from '../../../ports/reconciliation.js'
import { differenceKinds, type KindCount } from '../../../protocol/reconciliation.js'
import { maxListed } from './countDifferences.js'

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

export type DifferenceRow = z.infer<typeof row>

/**
 * Lists what `differences` selects: SQL with the columns of `DifferenceRow` but the total, and $1 and $2 as the bounds of
 * the period. The first of each kind, with the number of all.
 */
export const readDifferences = async (
  client: Pool | PoolClient,
  differences: string,
  { from, to }: Period,
  describe: (row: DifferenceRow) => string,
): Promise<FoundDifferences> => {
  const { rows } = await client.query(
    `select * from (
       select d.*, row_number() over (partition by kind order by subject) as position,
         count(*) over (partition by kind) as total
       from (${differences}) d) n
     where position <= $3 order by kind, position`,
    [from, to, maxListed],
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
