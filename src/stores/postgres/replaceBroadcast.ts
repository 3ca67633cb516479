import type { PoolClient } from 'pg'
import { withSignal } from '../../platform/deadline.js'
import type { Lane, SignedTransaction } from '../../ports/settlementJournal.js'
import type { LaneTransaction, SignNumbered } from '../../ports/signerLanes.js'
import type { Instance } from './instance.js'
import { longestSigningMs } from './laneQueue.js'

/** What is replaced, where, and who signs in its place. */
export interface Replacement {
  readonly lane: Lane
  readonly replaced: LaneTransaction
  readonly sign: SignNumbered
}

/**
 * Stores other bytes for a number that is drawn already; whatever the old ones carry, the new ones carry too. The
 * lane's row is locked meanwhile, and only its holder may do it: two replacements of one price help nobody.
 */
export const replaceBroadcast = async (
  client: PoolClient,
  instance: Instance,
  { lane: { network, signer }, replaced, sign }: Replacement,
): Promise<SignedTransaction | null> => {
  const { rows } = await client.query<{ newest: string }>(
    `select (
       select b.transaction from broadcasts b
       where b.network = l.network and b.signer = l.signer and b.nonce = $4
       order by b.recorded_at desc limit 1
     ) as newest, set_config('idle_in_transaction_session_timeout', $5, true)
     from signer_lanes l
     where l.network = $1 and l.signer = $2 and l.holder = $3 and l.lease_expires_at > now() for update`,
    [network, signer, instance.id, replaced.nonce, `${longestSigningMs}`],
  )
  if (rows[0]?.newest !== replaced.transaction) return null

  const signed = await withSignal(sign(replaced.nonce), AbortSignal.timeout(longestSigningMs))
  await client.query(
    `with stored as (
       insert into broadcasts (network, transaction, bytes, signer, nonce, replaces, recorded_at)
       values ($1, $2, $3, $4, $5, $6, clock_timestamp())
     ), carried as (
       insert into broadcast_settlements (network, transaction, settlement_id)
       select network, $2, settlement_id from broadcast_settlements where network = $1 and transaction = $6
       returning settlement_id
     ), open as (
       select id from settlements
       where id in (select settlement_id from carried) and state = 'pending' order by id for update
     )
     update settlements s set transaction = $2, transactions = array_append(transactions, $2)
     from open where s.id = open.id`,
    [network, signed.transaction, signed.bytes, signer, replaced.nonce, replaced.transaction],
  )
  return signed
}
