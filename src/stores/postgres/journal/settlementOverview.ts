import type { Pool } from 'pg'
import { z } from 'zod'
import type { SettlementOverview } from '../../../ports/settlementOverview.js'
import { newestSettlements } from './newestSettlements.js'
import { readSettlement, settlementColumns } from './settlementRow.js'

// The cursor is an id: a Date would lose microseconds.
const bounds = `($1::text is null or s.network = $1) and ($2::timestamptz is null or s.created_at >= $2)
  and ($3::uuid is null or (s.created_at, s.id) < ((select created_at from settlements where id = $3), $3))`

// An array, because a join may be planned as a scan of the journal while the size of the small table is unknown.
const isListedOpen = 's.id = any(array(select settlement_id from open_settlements))'

const openPage = `page as (
  select s.id, s.created_at from settlements s
  where ${isListedOpen} and s.state in ('claimed', 'pending') and ${bounds} order by s.created_at desc, s.id desc limit $4)`

/** A literal status matches the partial index. */
const closedPage = (status: 'confirmed' | 'failed', isOfOneNetwork: boolean): string =>
  newestSettlements({
    scope: `s.state = '${status}'`,
    states: [status],
    network: isOfOneNetwork ? '$1' : null,
    bounds,
    limit: '$4',
  })

const openCount = z.object({
  network: z.string(),
  state: z.enum(['claimed', 'pending']),
  count: z.string().transform(Number),
  oldest_seconds: z.number(),
})

export const createSettlementOverview = (pool: Pool): SettlementOverview => ({
  list: async ({ status, network, since, after, limit }) => {
    const page = status === 'pending' ? openPage : closedPage(status, network !== undefined)
    const { rows } = await pool.query(
      `with recursive ${page}
       select ${settlementColumns} from page join settlements s on s.id = page.id
       order by page.created_at desc, page.id desc`,
      [network ?? null, since ?? null, after ?? null, limit],
    )
    return rows.map(readSettlement)
  },

  countOpen: async () => {
    const { rows } = await pool.query(
      `select s.network, s.state, count(*) as count,
         extract(epoch from now() - min(s.created_at))::float8 as oldest_seconds
       from settlements s where ${isListedOpen} and s.state in ('claimed', 'pending') group by s.network, s.state`,
    )
    return rows.map((value) => {
      const { oldest_seconds: oldestSeconds, ...rest } = openCount.parse(value)
      return { ...rest, oldestSeconds }
    })
  },
})
