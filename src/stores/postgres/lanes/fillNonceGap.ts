import type { PoolClient } from 'pg'
import type { Lane, SignedTransaction } from '../../../ports/settlementJournal.js'
import type { SignNumbered } from '../../../ports/signerLanes.js'
import type { Instance } from '../database/instance.js'
import { storeBroadcast } from '../journal/storeBroadcast.js'
import { signInTime } from './laneQueue.js'
import { lockLane } from './lockLane.js'

/** A number without bytes, and who signs for it. */
export interface Gap {
  readonly lane: Lane
  readonly nonce: number
  readonly sign: SignNumbered
}

/** Records a transaction that carries nothing for a number that has none; null when it has one after all. */
export const fillNonceGap = async (
  client: PoolClient,
  instance: Instance,
  { lane, nonce, sign }: Gap,
): Promise<SignedTransaction | null> => {
  const locked = await lockLane(client, instance, lane)
  if (locked === null || locked.next <= nonce) return null
  const { rowCount } = await client.query(
    'select 1 from broadcasts where network = $1 and signer = $2 and nonce = $3 limit 1',
    [lane.network, lane.signer, nonce],
  )
  if (rowCount !== 0) return null
  const signed = await signInTime(sign, nonce)
  await storeBroadcast(client, instance, { signed, place: { ...lane, nonce }, settlementIds: [] })
  return signed
}
