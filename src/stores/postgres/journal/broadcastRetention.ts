import { setTimeout as sleep } from 'node:timers/promises'
import type { Pool } from 'pg'
import { z } from 'zod'
import type { BroadcastRetention } from '../../../ports/settlementJournal.js'
import { isConfirmed } from './settlementStates.js'

const settlementsAtOnce = 500
const batchesPerRound = 200
// Payments use the same disk.
const pauseMs = 50

const networkRow = z.object({ network: z.string() })
const batchRow = z.tuple([z.object({ settlements: z.coerce.number(), dropped: z.coerce.number() })])

/** One index entry for each network. */
export const listNetworks = `
  with recursive networks (network) as (
    (select s.network from settlements s where ${isConfirmed('s')} order by s.network limit 1)
    union all
    select (select s.network from settlements s where ${isConfirmed('s')} and s.network > n.network
      order by s.network limit 1)
    from networks n where n.network is not null
  ) select network from networks where network is not null`

/** What no reorg can take back, and what the chain can never pay. */
const isDone = (
  settlement: string,
): string => `(${settlement}.closed_at < $2::timestamptz and (${settlement}.state = 'failed'
  or (${settlement}.state = 'confirmed' and (${settlement}.block_hash is null or ${settlement}.is_final))))`

/**
 * CTEs from `page (id, transactions)`, settlements of network $1, to `removed`. A transaction goes together with those that
 * it replaces or that replace it, and only if every settlement that any of them carries is done. Of each lane, the last
 * nonce that settled a payment stays: while it is recorded, no answer of a node can rewind the lane below it.
 */
const dropOf = (page: string): string => `${page}, named as (
    select distinct b.transaction, b.signer, b.nonce from page p cross join unnest(p.transactions) t (transaction)
      join broadcasts b on b.network = $1 and b.transaction = t.transaction
  ), related as (
    select transaction, signer, nonce from named
    union
    select b.transaction, b.signer, b.nonce from named n
      join broadcasts b on b.network = $1 and b.signer = n.signer and b.nonce = n.nonce where n.signer is not null
  ), needed as (
    select r.transaction, r.signer, r.nonce from related r
    where exists (
        select from broadcast_settlements c join settlements s on s.id = c.settlement_id
        where c.network = $1 and c.transaction = r.transaction and not ${isDone('s')})
      or (r.signer is not null and not exists (
        select from broadcasts l join broadcast_settlements c on c.network = l.network and c.transaction = l.transaction
          join settlements s on s.id = c.settlement_id
        where l.network = $1 and l.signer = r.signer and l.nonce > r.nonce
          and s.state = 'confirmed' and s.transaction = l.transaction))
  ), unneeded as (
    select r.transaction from related r
    where r.transaction not in (select transaction from needed)
      and (r.signer is null or (r.signer, r.nonce) not in (select signer, nonce from needed where signer is not null))
  ), uncarried as (
    delete from broadcast_settlements c using unneeded u where c.network = $1 and c.transaction = u.transaction
  ), removed as (
    delete from broadcasts b using unneeded u where b.network = $1 and b.transaction = u.transaction returning 1
  )`

const dropNext = `
  with cursor as (
    select coalesce(max(created_at), '-infinity') as created_at,
      coalesce(max(settlement_id::text), '00000000-0000-0000-0000-000000000000')::uuid as id
    from dropped_broadcasts where network = $1
  ), ${dropOf(`page as (
    select s.id, s.created_at, s.transactions, ${isDone('s')} as is_done from settlements s
    -- A day, so that few are passed before they close.
    where ${isConfirmed('s')} and s.network = $1 and s.created_at < $2::timestamptz - interval '1 day'
      and (s.created_at, s.id) > ((select created_at from cursor), (select id from cursor))
    order by s.created_at, s.id limit $3
  )`)}, advanced as (
    insert into dropped_broadcasts as d (network, created_at, settlement_id, closed_before)
    select $1, created_at, id, $2 from page order by created_at desc, id desc limit 1
    on conflict (network) do update set created_at = excluded.created_at, settlement_id = excluded.settlement_id,
      closed_before = greatest(d.closed_before, excluded.closed_before)
  ), deferred as (
    insert into deferred_broadcasts (network, settlement_id)
    select $1, id from page where not is_done
    union
    select $1, s.id from open_settlements o join settlements s on s.id = o.settlement_id
    where s.network = $1 and s.created_at < $2::timestamptz - interval '1 day'
    on conflict do nothing
  )
  select (select count(*) from page) as settlements, (select count(*) from removed) as dropped`

/** What the cursor passed before it was done. One that is gone, or whose transactions are needed by others, ends here too. */
const dropDeferred = `
  with ${dropOf(`page as (
    select d.settlement_id as id, coalesce(s.transactions, '{}') as transactions
    from deferred_broadcasts d left join settlements s on s.id = d.settlement_id
    where d.network = $1 and (s.id is null or ${isDone('s')}) order by d.settlement_id limit $3
  )`)}, finished as (
    delete from deferred_broadcasts d using page p where d.network = $1 and d.settlement_id = p.id
  )
  select (select count(*) from page) as settlements, (select count(*) from removed) as dropped`

/** A batch is one statement, so that a round can end after each, and the next one continues there. */
export const createBroadcastRetention = (pool: Pool): BroadcastRetention => ({
  dropClosedBefore: async (before, stopped) => {
    const { rows } = await pool.query(listNetworks)
    let batches = 0
    let sum = 0
    for (const { network } of rows.map((row) => networkRow.parse(row))) {
      for (let statement = dropDeferred; ; ) {
        if (stopped.aborted || batches === batchesPerRound) return { dropped: sum, isDone: false }
        const result = await pool.query(statement, [network, before, settlementsAtOnce])
        const [{ settlements, dropped }] = batchRow.parse(result.rows)
        batches += 1
        sum += dropped
        if (settlements < settlementsAtOnce) {
          if (statement === dropNext) break
          statement = dropNext
        }
        await sleep(pauseMs, undefined, { signal: stopped }).catch(() => undefined)
      }
    }
    return { dropped: sum, isDone: true }
  },
})
