import type { PoolClient } from 'pg'
import type { Lane } from '../../../ports/settlementJournal.js'
import type { Instance } from '../database/instance.js'
import { maxSigningMs } from './laneQueue.js'

export interface LockedLane {
  readonly nextNonce: number
  /** Whether this instance holds the lease. */
  readonly isLeased: boolean
}

/** A separate statement: later snapshots include all that was recorded under earlier locks. Null: no lane. */
export const lockLane = async (
  client: PoolClient,
  instance: Instance,
  { network, signer }: Lane,
): Promise<LockedLane | null> => {
  const { rows } = await client.query<{ next_nonce: string; is_leased: boolean }>(
    `select next_nonce, coalesce(holder = $3 and lease_expires_at > now(), false) as is_leased,
       set_config('idle_in_transaction_session_timeout', $4, true)
     from signer_lanes where network = $1 and signer = $2 for update`,
    [network, signer, instance.id, `${maxSigningMs}`],
  )
  const locked = rows[0]
  return locked === undefined ? null : { nextNonce: Number(locked.next_nonce), isLeased: locked.is_leased }
}
