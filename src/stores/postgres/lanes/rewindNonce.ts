import type { PoolClient } from 'pg'
import type { Lane } from '../../../ports/settlementJournal.js'
import type { Instance } from '../database/instance.js'
import { lockLane } from './lockLane.js'

export interface NonceRewind {
  readonly lane: Lane
  readonly chainNonce: number
}

/** Sets the next nonce to `chainNonce` unless a transaction is recorded at or above it; true when changed. */
export const rewindNonce = async (
  client: PoolClient,
  instance: Instance,
  { lane, chainNonce }: NonceRewind,
): Promise<boolean> => {
  const locked = await lockLane(client, instance, lane)
  if (locked === null || locked.nextNonce <= chainNonce) return false
  const { rowCount } = await client.query(
    `update signer_lanes l set next_nonce = $3 where network = $1 and signer = $2 and not exists (
       select 1 from broadcasts b where b.network = l.network and b.signer = l.signer and b.nonce >= $3)`,
    [lane.network, lane.signer, chainNonce],
  )
  return rowCount === 1
}
