import type { PoolClient } from 'pg'
import type { Lane } from '../../../ports/settlementJournal.js'
import type { Instance } from '../database/instance.js'
import { lockLane } from './lockLane.js'

export interface NonceRewind {
  readonly lane: Lane
  readonly chainNonce: number
  /** Null: nothing may be recorded from there on. */
  readonly reach: number | null
}

/**
 * Lowers the next nonce where nothing is recorded within reach, and nothing from there on has settled a payment. What is
 * recorded further away leaves the lane, which frees its nonces. True when changed.
 */
export const rewindNonce = async (
  client: PoolClient,
  instance: Instance,
  { lane, chainNonce, reach }: NonceRewind,
): Promise<boolean> => {
  const locked = await lockLane(client, instance, lane)
  if (locked === null || locked.nextNonce <= chainNonce) return false
  const { rowCount } = await client.query(
    `with later as (
       select transaction, nonce from broadcasts where network = $1 and signer = $2 and nonce >= $3
     ), rewound as (
       update signer_lanes set next_nonce = $3 where network = $1 and signer = $2
         and not exists (select 1 from later where $4::bigint is null or nonce < $3 + $4)
         and not exists (
           select 1 from later l
           join broadcast_settlements c on c.network = $1 and c.transaction = l.transaction
           join settlements s on s.id = c.settlement_id
           where s.state = 'confirmed' and s.transaction = l.transaction)
       returning signer
     ), freed as (
       update broadcasts b set signer = null, nonce = null, replaces = null from later l, rewound
       where b.network = $1 and b.transaction = l.transaction
     )
     select 1 from rewound`,
    [lane.network, lane.signer, chainNonce, reach],
  )
  return rowCount === 1
}
