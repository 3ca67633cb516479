import type { Pool, PoolClient } from 'pg'
import type { Lane, SignedTransaction } from '../../../ports/settlementJournal.js'
import type { UrgentShare } from '../../../ports/signerLanes.js'
import type { Instance } from '../database/instance.js'

interface LanePosition extends Lane {
  readonly nonce: number
}

interface Broadcast {
  readonly signed: SignedTransaction
  /** Null: signed by the payer, outside any lane. */
  readonly position: LanePosition | null
  readonly settlementIds: readonly string[]
  readonly urgentShares?: readonly UrgentShare[]
}

const isHeld = "id = any($1) and owner = $2 and state in ('claimed', 'pending')"

// The column stays empty until the settlement closes, so that the update writes no index. It is set in what a reorg opened again,
// or the version before recorded.
const hold = (rows: string): string => `held as (
    update settlements s set state = 'pending', transaction = case when s.transaction is not null then $4 end,
      transactions = array_append(transactions, $4), recorded_at = coalesce(recorded_at, now())
    ${rows} returning s.id, s.network
  )`

// Row locks in id order prevent deadlocks. One row needs none apart from that of its update, and so no record of it in the log.
// In both cases Postgres checks the condition again after it has waited for a lock.
const holdOne = hold(`where ${isHeld}`)
const holdSeveral = `open as (
    select id from settlements where ${isHeld} order by id for update
  ), ${hold('from open where s.id = open.id')}`

/** Called before a send; returns the ids of the settlements that this instance still owns. */
export const storeBroadcast = async (
  client: Pool | PoolClient,
  instance: Instance,
  { signed, position, settlementIds, urgentShares = [] }: Broadcast,
): Promise<readonly string[]> => {
  const { rows } = await client.query<{ id: string }>(
    `/* record */ with ${settlementIds.length > 1 ? holdSeveral : holdOne}, stored as (
       insert into broadcasts (network, transaction, bytes, signer, nonce, urgent_shares)
       select network, $4, $5, $6, $7, $8::jsonb from (select $3::text as network union select network from held) as own
       where network is not null and (exists (select 1 from held) or cardinality($1::uuid[]) = 0)
     ), carried as (
       insert into broadcast_settlements (network, transaction, settlement_id) select network, $4, id from held
     )
     select id from held`,
    [
      settlementIds,
      instance.id,
      position?.network ?? null,
      signed.transaction,
      signed.bytes,
      position?.signer ?? null,
      position?.nonce ?? null,
      urgentShares.length === 0 ? null : JSON.stringify(urgentShares),
    ],
  )
  return rows.map(({ id }) => id)
}
