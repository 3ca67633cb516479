import type { PoolClient } from 'pg'
import type { Lane } from '../../../ports/settlementJournal.js'
import type { Instance } from '../database/instance.js'
import { lockLane } from './lockLane.js'

/** Where a lane stands, and where it should. */
export interface NonceRewind {
  readonly lane: Lane
  readonly chainNonce: number
}

/** Moves a lane back where nothing is recorded from a number on; answers whether it did. */
export const rewindNonce = async (
  client: PoolClient,
  instance: Instance,
  { lane, chainNonce }: NonceRewind,
): Promise<boolean> => {
  const locked = await lockLane(client, instance, lane)
  if (locked === null || locked.next <= chainNonce) return false
  const { rowCount } = await client.query(
    `update signer_lanes l set next_nonce = $3 where network = $1 and signer = $2 and not exists (
       select 1 from broadcasts b where b.network = l.network and b.signer = l.signer and b.nonce >= $3)`,
    [lane.network, lane.signer, chainNonce],
  )
  return rowCount === 1
}
