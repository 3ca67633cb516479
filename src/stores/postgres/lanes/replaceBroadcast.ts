import type { PoolClient } from 'pg'
import type { Lane, SignedTransaction } from '../../../ports/settlementJournal.js'
import type { LaneTransaction, SignNumbered } from '../../../ports/signerLanes.js'
import type { Instance } from '../database/instance.js'
import { signWithDeadline } from './laneQueue.js'
import { lockLane } from './lockLane.js'

export interface Replacement {
  readonly lane: Lane
  readonly replaced: LaneTransaction
  readonly sign: SignNumbered
}

/** Null unless this instance holds the lease and `replaced` is still the latest transaction of its nonce. */
export const replaceBroadcast = async (
  client: PoolClient,
  instance: Instance,
  { lane, replaced, sign }: Replacement,
): Promise<SignedTransaction | null> => {
  const locked = await lockLane(client, instance, lane)
  if (locked?.isLeased !== true) return null
  const { network, signer } = lane
  const { rows } = await client.query<{ transaction: string }>(
    `select transaction from broadcasts where network = $1 and signer = $2 and nonce = $3
     order by recorded_at desc limit 1`,
    [network, signer, replaced.nonce],
  )
  if (rows[0]?.transaction !== replaced.transaction) return null

  const signed = await signWithDeadline(sign, replaced.nonce)
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
