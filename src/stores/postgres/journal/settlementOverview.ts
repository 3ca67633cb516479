import type { Pool } from 'pg'
import { z } from 'zod'
import type { SettlementFilter, SettlementOverview } from '../../../ports/settlementOverview.js'
import { readSettlement, settlementColumns } from './settlementRow.js'

// Literals, so that each query uses its partial index.
const statusConditions: Readonly<Record<SettlementFilter['status'], string>> = {
  pending: "s.state in ('claimed', 'pending')",
  confirmed: "s.state = 'confirmed'",
  failed: "s.state = 'failed'",
}

const openCount = z.object({
  network: z.string(),
  state: z.enum(['claimed', 'pending']),
  count: z.string().transform(Number),
  oldest_seconds: z.number(),
})

export const createSettlementOverview = (pool: Pool): SettlementOverview => ({
  list: async ({ status, network, since, after, limit }) => {
    const { rows } = await pool.query(
      // The cursor is an id: a Date would lose microseconds.
      `select ${settlementColumns} from settlements s
       where ${statusConditions[status]} and ($1::text is null or s.network = $1)
         and ($2::timestamptz is null or s.created_at >= $2)
         and ($3::uuid is null or (s.created_at <= (select created_at from settlements where id = $3)
           and (s.created_at, s.id) < ((select created_at from settlements where id = $3), $3)))
       order by s.created_at desc, s.id desc limit $4`,
      [network ?? null, since ?? null, after ?? null, limit],
    )
    return rows.map(readSettlement)
  },

  countOpen: async () => {
    const { rows } = await pool.query(
      `select network, state, count(*) as count,
         extract(epoch from now() - min(created_at))::float8 as oldest_seconds
       from settlements where state in ('claimed', 'pending') group by network, state`,
    )
    return rows.map((value) => {
      const { oldest_seconds: oldestSeconds, ...rest } = openCount.parse(value)
      return { ...rest, oldestSeconds }
    })
  },
})
