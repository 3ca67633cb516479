import type { PoolClient } from 'pg'
import type { Lane, SignedTransaction } from '../../../ports/settlementJournal.js'
import type { SignNumbered } from '../../../ports/signerLanes.js'
import type { Instance } from '../database/instance.js'
import { storeBroadcast } from '../journal/storeBroadcast.js'
import { signWithDeadline } from './laneQueue.js'
import { lockLane } from './lockLane.js'

export interface NonceGap {
  readonly lane: Lane
  readonly nonce: number
  readonly sign: SignNumbered
}

/** Records an empty transaction; null when the nonce has a transaction, or is not allocated yet. */
export const fillNonceGap = async (
  client: PoolClient,
  instance: Instance,
  { lane, nonce, sign }: NonceGap,
): Promise<SignedTransaction | null> => {
  const locked = await lockLane(client, instance, lane)
  if (locked === null || locked.nextNonce <= nonce) return null
  const { rowCount } = await client.query(
    'select 1 from broadcasts where network = $1 and signer = $2 and nonce = $3 limit 1',
    [lane.network, lane.signer, nonce],
  )
  if (rowCount !== 0) return null
  const signed = await signWithDeadline(sign, nonce)
  await storeBroadcast(client, instance, { signed, position: { ...lane, nonce }, settlementIds: [] })
  return signed
}
