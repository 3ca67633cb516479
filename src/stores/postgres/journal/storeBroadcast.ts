import type { Pool, PoolClient } from 'pg'
import type { Lane, SignedTransaction } from '../../../ports/settlementJournal.js'
import type { Instance } from '../database/instance.js'

/** A numbered place in a lane. */
export interface LanePosition extends Lane {
  readonly nonce: number
}

/** Bytes that are about to be sent, and what they carry. */
export interface Broadcast {
  readonly signed: SignedTransaction
  /** Null for what a payer signed. */
  readonly place: LanePosition | null
  readonly settlementIds: readonly string[]
}

/** Stores a broadcast with the settlements that are still this instance's, and answers which those are. */
export const storeBroadcast = async (
  client: Pool | PoolClient,
  instance: Instance,
  { signed, place, settlementIds }: Broadcast,
): Promise<readonly string[]> => {
  const { rows } = await client.query<{ id: string }>(
    // Locked in one order, so that two statements over several rows cannot wait for each other. The lock waits for
    // whoever holds a row and then looks again.
    `with open as (
       select id from settlements
       where id = any($1) and owner = $2 and state in ('claimed', 'pending') order by id for update
     ), held as (
       update settlements s set state = 'pending', transaction = $4,
         transactions = array_append(transactions, $4), recorded_at = coalesce(recorded_at, now())
       from open where s.id = open.id
       returning s.id, s.network
     ), stored as (
       insert into broadcasts (network, transaction, bytes, signer, nonce)
       select network, $4, $5, $6, $7 from (select $3::text as network union select network from held) as own
       where network is not null and (exists (select 1 from held) or cardinality($1::uuid[]) = 0)
     ), carried as (
       insert into broadcast_settlements (network, transaction, settlement_id) select network, $4, id from held
     )
     select id from held`,
    [
      settlementIds,
      instance.id,
      place?.network ?? null,
      signed.transaction,
      signed.bytes,
      place?.signer ?? null,
      place?.nonce ?? null,
    ],
  )
  return rows.map(({ id }) => id)
}
