import type { Pool } from 'pg'
import { z } from 'zod'
import type { ConfirmedBlock, ConfirmedBlocks } from '../../../ports/settlementJournal.js'
import { planStatement } from '../database/plannedStatement.js'
import { queryPlanned } from '../database/statements.js'
import { insertSettlementEvents } from '../webhooks/webhookEvents.js'
import { readSettlement, settlementColumns } from './settlementRow.js'

const row = z.object({ network: z.string(), scheme: z.string(), number: z.string(), hash: z.string() })

// An array, because a join may be planned as a scan of the journal while the size of the small table is unknown.
const inBlock = `s.id = any(array(select u.settlement_id from unfinal_settlements u
  where u.network = $1 and u.block_number = $2 and u.block_hash = $3))`
// Postgres checks this again after waiting for a row lock.
const isStillInBlock = 's.network = $1 and s.block_number = $2 and s.block_hash = $3 and not s.is_final'

/** The first block of network `n` that `condition` admits, from one index entry. */
const firstBlock = (condition: string): string =>
  `select u.network, u.block_number, u.block_hash, u.scheme from unfinal_settlements u
   where u.network = n.network and ${condition} order by u.network, u.block_number, u.block_hash limit 1`

/** Blocks of network `n` that `condition` admits, in order: one index entry for each block. */
const listOf = (condition: string): string => `
  with recursive block as (
    (${firstBlock(condition)})
    union all
    select next.* from block b cross join lateral (
      ${firstBlock(`(u.block_number, u.block_hash) > (b.block_number, b.block_hash) and ${condition}`)}) next
  ) select * from block`

// Each network gets its share, from a random block on and then from its first: the cost is that of the limit,
// however many payments or blocks are not final.
const listBlocks = `
  with recursive network as (
    (select u.network from unfinal_settlements u order by u.network limit 1)
    union all
    select (select u.network from unfinal_settlements u where u.network > n.network order by u.network limit 1)
    from network n where n.network is not null
  ), start as (
    select n.network, least(e.first, e.last) + floor(random() * (e.last - e.first + 1))::bigint as block_number
    from network n cross join lateral (
      select min(u.block_number) as first, max(u.block_number) as last
      from unfinal_settlements u where u.network = n.network) e
    where n.network is not null
  ), share as (
    select ceil($1::numeric / greatest(1, count(*)))::integer as size from start
  )
  select listed.network, listed.scheme, listed.block_number::text as number, listed.block_hash as hash
  from start n cross join share cross join lateral (
    select * from (
      select * from (${listOf('u.block_number >= n.block_number')}) later
      union all
      select * from (${listOf('u.block_number < n.block_number')}) earlier
    ) around limit share.size) listed
  order by random() limit $1`

/**
 * One payment of each page of the table. A page has room for one more version of a row, and the next statement that reads it
 * removes what the one before replaced: so each is updated in place, logs its change alone, and writes no index. All at once
 * would write most to other pages, and each to every index.
 */
const markOnEachPage = planStatement(`/* settlement */
  with unmarked as (
    select s.id, row_number() over (partition by (s.ctid::text::point)[0] order by s.ctid) as place
    from settlements s where ${inBlock} and ${isStillInBlock}
  ), marked as (
    update settlements s set is_final = true from unmarked u where s.id = u.id and u.place = 1 and ${isStillInBlock}
  )
  select count(*)::integer as left from unmarked where place > 1`)

const leftRow = z.tuple([z.object({ left: z.number() })])

const valuesOf = ({ network, block }: ConfirmedBlock) => [network, block.number.toString(), block.hash]

/** A block is reopened by one statement. Where `markFinal` ends early, the block is listed again with the payments that are left. */
export const createConfirmedBlocks = (pool: Pool): ConfirmedBlocks => ({
  list: async (limit) => {
    const { rows } = await pool.query(listBlocks, [limit])
    return rows.map((value) => {
      const { network, scheme, number, hash } = row.parse(value)
      return { network, scheme, block: { number: BigInt(number), hash } }
    })
  },

  markFinal: async (block) => {
    for (let left = 1; left > 0; ) {
      const rows = await queryPlanned(pool, markOnEachPage, valuesOf(block))
      left = leftRow.parse(rows)[0].left
    }
  },

  reopen: async (block) => {
    const { rows } = await pool.query(
      // Row locks in id order prevent deadlocks. `transactions` misses replacements recorded since the
      // confirmation.
      `with orphaned as (
         select s.id from settlements s where ${inBlock} and ${isStillInBlock} order by s.id for update),
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
