import type { Pool } from 'pg'
import { z } from 'zod'
import type { AccountSettlementFilter, AccountSettlements } from '../../../ports/settlementOverview.js'
import { newestSettlements } from './newestSettlements.js'
import { readSettlement, settlementColumns } from './settlementRow.js'

const feeRow = z.object({ fee: z.string() })

const statesOf = (status: AccountSettlementFilter['status']): readonly string[] => {
  switch (status) {
    case undefined:
      return ['claimed', 'pending', 'confirmed', 'failed']
    case 'pending':
      return ['claimed', 'pending']
    case 'confirmed':
    case 'failed':
      return [status]
  }
}

export const createAccountSettlements = (pool: Pool): AccountSettlements => ({
  list: async ({ accountId, status, network, since, after, limit }) => {
    const page = newestSettlements({
      // `caller <> 'anonymous'` matches the partial index.
      scope: "s.caller = $1 and s.caller <> 'anonymous'",
      states: statesOf(status),
      network: network === undefined ? null : '$2',
      // The cursor is an id: a Date would lose microseconds.
      bounds: `($2::text is null or s.network = $2) and ($3::timestamptz is null or s.created_at >= $3)
        and ($4::uuid is null or (s.created_at, s.id) < (
          (select created_at from settlements where id = $4 and caller = $1), $4))`,
      limit: '$5',
    })
    const { rows } = await pool.query(
      `with recursive ${page}
       select ${settlementColumns}, coalesce(
           (select ceil(f.fee) from fee_ledger f where f.settlement_id = s.id), 0)::text as fee
       from page join settlements s on s.id = page.id order by page.created_at desc, page.id desc`,
      [accountId, network ?? null, since ?? null, after ?? null, limit],
    )
    return rows.map((value) => ({ settlement: readSettlement(value), fee: feeRow.parse(value).fee }))
  },
})
