import type { Pool } from 'pg'
import { z } from 'zod'
import type { AccountSettlements } from '../../../ports/accountSettlements.js'
import { readSettlement, settlementColumns } from './settlementRow.js'

const feeRow = z.object({ fee: z.string() })

export const createAccountSettlements = (pool: Pool): AccountSettlements => ({
  list: async ({ accountId, status, network, since, after, limit }) => {
    const { rows } = await pool.query(
      // `caller <> 'anonymous'` matches the partial index. The cursor is an id: a Date would lose
      // microseconds.
      `select ${settlementColumns}, coalesce(
           (select ceil(f.fee) from fee_ledger f where f.settlement_id = s.id), 0)::text as fee
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
    return rows.map((value) => ({ settlement: readSettlement(value), fee: feeRow.parse(value).fee }))
  },
})
