import type { Pool } from 'pg'
import type { Settlement, SettlementState } from '../../../ports/settlementJournal.js'
import { readSettlement, settlementColumns } from './settlementRow.js'

export interface SettlementSearch {
  readonly state: SettlementState | null
  readonly network: string | null
  /** In the journal's form; EVM addresses in any case. */
  readonly payer: string | null
  readonly limit: number
}

/** Newest first. For operators: with filters it may read the whole journal. */
export const searchSettlements = async (
  pool: Pick<Pool, 'query'>,
  { state, network, payer, limit }: SettlementSearch,
): Promise<readonly Settlement[]> => {
  const { rows } = await pool.query(
    `select ${settlementColumns} from settlements s
     where ($1::text is null or s.state = $1) and ($2::text is null or s.network = $2)
       and ($3::text is null or s.payer = $3 or (s.network like 'eip155:%' and lower(s.payer) = lower($3)))
     order by s.created_at desc, s.id desc limit $4`,
    [state, network, payer, limit],
  )
  return rows.map(readSettlement)
}
