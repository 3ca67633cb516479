import type { Pool } from 'pg'
import { z } from 'zod'
import type { ChannelLedger } from '../../../ports/channelLedger.js'

/* How far announced withdrawals were read, and which channels they concern. */

const watch = z.tuple([z.object({ isLive: z.boolean(), nextBlock: z.string().transform(BigInt).nullable() })])

// Channels that come later are new, or revived by a voucher: then the chain is looked at, and older announcements do not matter.
const find = `
  with live as (
    select exists (select from channel_vouchers v where v.is_live and v.network = $1) as is_live
  ), forgotten as (
    delete from channel_watches w using live l where w.network = $1 and not l.is_live
  )
  select l.is_live as "isLive", (select w.next_block::text from channel_watches w where w.network = $1) as "nextBlock" from live l`

const unnoticed = z.object({ channelId: z.string(), accountId: z.string() })

export const createChannelWatch = (
  pool: Pool,
): Pick<ChannelLedger, 'findWatch' | 'moveWatch' | 'listUnnoticed'> => ({
  findWatch: async (network) => {
    const { rows } = await pool.query(find, [network])
    const [{ isLive, nextBlock }] = watch.parse(rows)
    return isLive ? { nextBlock } : null
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
