import type { Pool } from 'pg'
import { z } from 'zod'
import type { ConfirmedBlock, ConfirmedBlocks } from '../../../ports/confirmedBlocks.js'
import { insertSettlementEvents } from '../webhooks/webhookEvents.js'
import { readSettlement, settlementColumns } from './settlementRow.js'

const row = z.object({ network: z.string(), scheme: z.string(), number: z.string(), hash: z.string() })

const isInBlock = 'network = $1 and block_number = $2 and block_hash = $3 and not is_final'

const valuesOf = ({ network, block }: ConfirmedBlock) => [network, block.number.toString(), block.hash]

/** Each transition is one statement over all payments of a block. */
export const createConfirmedBlocks = (pool: Pool): ConfirmedBlocks => ({
  list: async (limit) => {
    const { rows } = await pool.query(
      `select network, min(scheme) as scheme, block_number::text as number, block_hash as hash
       from settlements where block_hash is not null and not is_final
       group by network, block_number, block_hash order by random() limit $1`,
      [limit],
    )
    return rows.map((value) => {
      const { network, scheme, number, hash } = row.parse(value)
      return { network, scheme, block: { number: BigInt(number), hash } }
    })
  },

  markFinal: async (block) => {
    await pool.query(`update settlements set is_final = true where ${isInBlock}`, valuesOf(block))
  },

  reopen: async (block) => {
    const { rows } = await pool.query(
      // Row locks in id order prevent deadlocks. `transactions` misses replacements recorded since the
      // confirmation.
      `with orphaned as (select id from settlements where ${isInBlock} order by id for update),
       reopened as (update settlements s set state = 'pending', closed_at = null, owner = null, block_number = null,
         block_hash = null, settled_amount = null, gas_used = null,
         transactions = array(
           select b.transaction from broadcast_settlements c
             join broadcasts b on b.network = c.network and b.transaction = c.transaction
           where c.settlement_id = s.id
           order by array_position(s.transactions, b.transaction), b.recorded_at)
       from orphaned where s.id = orphaned.id
       returning s.*),
       events as (${insertSettlementEvents('reopened', "'settlement.reorged'")})
       select ${settlementColumns} from reopened s`,
      valuesOf(block),
    )
    return rows.map(readSettlement)
  },
})
