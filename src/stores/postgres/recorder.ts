import type { Pool, PoolClient } from 'pg'
import type { Lane, Recorder, SignedTransaction } from '../../ports/settlementJournal.js'
import type { Instance } from './instance.js'
import { inTransaction } from './transaction.js'

// A machine that vanishes while it signs holds the lane of every other instance for no longer than this.
const longestSigning = '5s'

/** A numbered place in a lane. */
interface Place extends Lane {
  readonly nonce: number
}

/** Records what one settlement is about to send. */
export const createRecorder = (pool: Pool, instance: Instance, settlementId: string): Recorder => {
  const store = async (
    client: Pool | PoolClient,
    { transaction, bytes }: SignedTransaction,
    place: Place | null,
  ): Promise<void> => {
    const { rowCount } = await client.query(
      // The update first: it waits for whoever holds the row and then looks again, which a select does not.
      `with held as (
         update settlements set state = 'pending', transaction = $2,
           transactions = array_append(transactions, $2), recorded_at = coalesce(recorded_at, now())
         where id = $1 and owner = $6 and state in ('claimed', 'pending')
         returning network
       )
       insert into broadcasts (network, transaction, bytes, signer, nonce, settlement_id)
       select network, $2, $3, $4, $5, $1 from held`,
      [settlementId, transaction, bytes, place?.signer ?? null, place?.nonce ?? null, instance.id],
    )
    if (rowCount !== 1) throw new Error('The settlement was taken over: nothing may be sent for it')
  }

  return {
    settlementId,
    record: (signed) => store(pool, signed, null),
    recordInLane: (lane, sign) =>
      inTransaction(pool, async (client) => {
        // The row's lock makes the numbering gapless across all instances, until the commit below.
        const { rows } = await client.query<{ nonce: string }>(
          `update signer_lanes set next_nonce = next_nonce + 1 where network = $1 and signer = $2
           returning next_nonce - 1 as nonce, set_config('idle_in_transaction_session_timeout', $3, true)`,
          [lane.network, lane.signer, longestSigning],
        )
        const allocated = rows[0]
        if (allocated === undefined)
          throw new Error(`The lane of ${lane.signer} on ${lane.network} is not open`)
        const nonce = Number(allocated.nonce)
        const signed = await sign(nonce)
        await store(client, signed, { ...lane, nonce })
        return signed
      }),
  }
}
