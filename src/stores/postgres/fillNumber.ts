import type { PoolClient } from 'pg'
import { withSignal } from '../../platform/deadline.js'
import type { Lane, SignedTransaction } from '../../ports/settlementJournal.js'
import type { SignNumbered } from '../../ports/signerLanes.js'
import type { Instance } from './instance.js'
import { longestSigningMs } from './laneQueue.js'
import { storeBroadcast } from './storeBroadcast.js'

/** A number without bytes, and who signs for it. */
export interface Gap {
  readonly lane: Lane
  readonly nonce: number
  readonly sign: SignNumbered
}

/** Records a transaction that carries nothing for a number that has none; null when it has one after all. */
export const fillNumber = async (
  client: PoolClient,
  instance: Instance,
  { lane, nonce, sign }: Gap,
): Promise<SignedTransaction | null> => {
  const { rowCount } = await client.query(
    `select set_config('idle_in_transaction_session_timeout', $4, true) from signer_lanes l
     where network = $1 and signer = $2 and next_nonce > $3 and not exists (
       select 1 from broadcasts b where b.network = l.network and b.signer = l.signer and b.nonce = $3)
     for update of l`,
    [lane.network, lane.signer, nonce, `${longestSigningMs}`],
  )
  if (rowCount !== 1) return null
  const signed = await withSignal(sign(nonce), AbortSignal.timeout(longestSigningMs))
  await storeBroadcast(client, instance, { signed, place: { ...lane, nonce }, settlementIds: [] })
  return signed
}
