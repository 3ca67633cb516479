import type { Pool } from 'pg'
import { z } from 'zod'
import type { ChannelLedger } from '../../../ports/channelLedger.js'

/* How far announced withdrawals were read, and which channels they concern. */

const watch = z.object({ next_block: z.string().transform(BigInt) })
const unnoticed = z.object({ channelId: z.string(), accountId: z.string() })

export const createChannelWatch = (
  pool: Pool,
): Pick<ChannelLedger, 'findWatch' | 'moveWatch' | 'listUnnoticed'> => ({
  findWatch: async (network) => {
    const { rows } = await pool.query('select next_block from channel_watches where network = $1', [network])
    return rows[0] === undefined ? null : watch.parse(rows[0]).next_block
  },

  moveWatch: async (network, nextBlock) => {
    await pool.query(
      `insert into channel_watches (network, next_block) values ($1, $2)
       on conflict (network) do update set next_block = excluded.next_block, changed_at = now()`,
      [network, nextBlock.toString()],
    )
  },

  listUnnoticed: async (network, channelIds) => {
    const { rows } = await pool.query(
      `select v.channel_id as "channelId", v.account_id as "accountId" from channel_vouchers v
       where v.is_live and v.network = $1 and v.channel_id = any($2::text[]) and v.withdraw_requested_at = 0
       order by v.channel_id`,
      [network, channelIds],
    )
    return rows.map((row) => unnoticed.parse(row))
  },
})
