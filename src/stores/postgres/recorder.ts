import type { Pool, PoolClient } from 'pg'
import { withSignal } from '../../platform/deadline.js'
import type { Lane, Recorder, SignedTransaction } from '../../ports/settlementJournal.js'
import type { Instance } from './instance.js'
import { inTransaction } from './transaction.js'

// Who signs holds the lane of every instance; neither a signer that hangs nor a machine that vanishes may for longer.
const longestSigningMs = 5_000

// Longer than a vanished machine holds a lane; after that, what was estimated and judged is too old to be sent.
const longestWaitMs = 2 * longestSigningMs

/** A numbered place in a lane. */
interface Place extends Lane {
  readonly nonce: number
}

/** Runs work one after the other for each lane. */
export type LaneQueue = <T>(lane: Lane, work: () => Promise<T>) => Promise<T>

/**
 * The lanes of one process. The database would keep the order too, but there each who waits holds a connection:
 * one lane that stands still would take all of them from everyone else.
 */
export const createLaneQueue = (): LaneQueue => {
  const lastTurns = new Map<string, Promise<unknown>>()
  return (lane, work) => {
    const key = `${lane.network} ${lane.signer}`
    const since = performance.now()
    const before = lastTurns.get(key)
    const turn = (async () => {
      await before
      if (performance.now() - since > longestWaitMs) throw new Error(`The lane of ${key} is too busy`)
      return await work()
    })()
    lastTurns.set(
      key,
      turn.catch(() => undefined),
    )
    return turn
  }
}

/** What recording needs beside the settlement. */
export interface RecorderParts {
  readonly pool: Pool
  readonly instance: Instance
  readonly queue: LaneQueue
}

/** Records what one settlement is about to send. */
export const createRecorder = ({ pool, instance, queue }: RecorderParts, settlementId: string): Recorder => {
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

  const storeInLane = async (
    client: PoolClient,
    lane: Lane,
    sign: (nonce: number) => Promise<SignedTransaction>,
  ): Promise<SignedTransaction> => {
    // The row's lock makes the numbering gapless across all instances, until the transaction ends.
    const { rows } = await client.query<{ nonce: string }>(
      `update signer_lanes set next_nonce = next_nonce + 1 where network = $1 and signer = $2
       returning next_nonce - 1 as nonce, set_config('idle_in_transaction_session_timeout', $3, true)`,
      [lane.network, lane.signer, `${longestSigningMs}`],
    )
    const allocated = rows[0]
    if (allocated === undefined) throw new Error(`The lane of ${lane.signer} on ${lane.network} is not open`)
    const nonce = Number(allocated.nonce)
    const signed = await withSignal(sign(nonce), AbortSignal.timeout(longestSigningMs))
    await store(client, signed, { ...lane, nonce })
    return signed
  }

  return {
    settlementId,
    record: (signed) => store(pool, signed, null),
    recordInLane: (lane, sign) =>
      queue(lane, () => inTransaction(pool, (client) => storeInLane(client, lane, sign))),
  }
}
