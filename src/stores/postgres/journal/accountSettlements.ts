import type { Pool } from 'pg'
import { z } from 'zod'
import type { AccountSettlements } from '../../../ports/accountSettlements.js'
import { readSettlement, settlementColumns } from './settlementRow.js'

const owed = z.object({ fee: z.string() })

/** What Postgres shows of the journal to the owners of accounts. */
export const createAccountSettlements = (pool: Pool): AccountSettlements => ({
  list: async ({ accountId, status, network, since, after, limit }) => {
    const { rows } = await pool.query(
      // The index of accounts is without those who have none, and is found only by saying so. Times have
      // microseconds here and milliseconds outside: the place in the order is looked up, not passed on.
      `select ${settlementColumns}, coalesce(
           (select f.fee from fee_ledger f where f.settlement_id = s.id), 0)::text as fee
       from settlements s
       where s.caller = $1 and s.caller <> 'anonymous'
         and ($2::text is null or case s.state when 'claimed' then 'pending' else s.state end = $2)
         and ($3::text is null or s.network = $3)
         and ($4::timestamptz is null or s.created_at >= $4)
         and ($5::uuid is null or (s.created_at, s.id) < (
           (select created_at from settlements where id = $5 and caller = $1), $5))
       order by s.created_at desc, s.id desc limit $6`,
      [accountId, status ?? null, network ?? null, since ?? null, after ?? null, limit],
    )
    return rows.map((value) => ({ settlement: readSettlement(value), fee: owed.parse(value).fee }))
  },
})
