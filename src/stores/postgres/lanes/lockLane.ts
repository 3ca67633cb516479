import type { PoolClient } from 'pg'
import type { Lane } from '../../../ports/settlementJournal.js'
import type { Instance } from '../database/instance.js'
import { maxSigningMs } from './laneQueue.js'

/** A lane whose row is ours until the transaction ends. */
export interface LockedLane {
  readonly next: number
  /** Whether this instance looks after it. */
  readonly isOurs: boolean
}

/**
 * Locks a lane's row until the transaction ends; null when there is none. A statement of its own: whatever the next
 * one reads then holds all that others recorded before.
 */
export const lockLane = async (
  client: PoolClient,
  instance: Instance,
  { network, signer }: Lane,
): Promise<LockedLane | null> => {
  const { rows } = await client.query<{ next_nonce: string; is_ours: boolean }>(
    `select next_nonce, coalesce(holder = $3 and lease_expires_at > now(), false) as is_ours,
       set_config('idle_in_transaction_session_timeout', $4, true)
     from signer_lanes where network = $1 and signer = $2 for update`,
    [network, signer, instance.id, `${maxSigningMs}`],
  )
  const locked = rows[0]
  return locked === undefined ? null : { next: Number(locked.next_nonce), isOurs: locked.is_ours }
}
