import type { PoolClient } from 'pg'
import { withTimeout } from '../../../concurrency/deadline.js'
import { AppError } from '../../../errors.js'
import type { Lane, SignedTransaction } from '../../../ports/settlementJournal.js'
import type { LaneTransaction, SignNumbered } from '../../../ports/signerLanes.js'
import type { Instance } from '../database/instance.js'
import { storeBroadcast } from '../journal/storeBroadcast.js'

/** Signing holds the lane's row lock, which blocks every instance; this bounds it. */
export const maxSigningMs = 5_000

export const signWithDeadline = (sign: SignNumbered, nonce: number): Promise<SignedTransaction> =>
  withTimeout(sign(nonce), maxSigningMs)

// Longer than a vanished process holds the lock; after that, fees and checks are too old to send with.
const maxWaitMs = 2 * maxSigningMs

type LaneQueue = <T>(lane: Lane, work: () => Promise<T>) => Promise<T>

/** The row lock would suffice, but each waiter holds a connection: a blocked lane would exhaust the pool. */
export const createLaneQueue = (): LaneQueue => {
  const lastTurns = new Map<string, Promise<unknown>>()
  return (lane, work) => {
    const key = `${lane.network} ${lane.signer}`
    const since = performance.now()
    const before = lastTurns.get(key)
    const turn = (async () => {
      await before
      if (performance.now() - since > maxWaitMs) throw laneBusy(key)
      return await work()
    })()
    lastTurns.set(
      key,
      turn.catch(() => undefined),
    )
    return turn
  }
}

const laneBusy = (lane: string): AppError =>
  new AppError('SERVICE_UNAVAILABLE', `The lane of ${lane} is too busy`, { retryAfterSeconds: 2 })

interface LockedLane {
  readonly nextNonce: number
  /** Whether this instance holds the lease. */
  readonly isLeased: boolean
}

/** A separate statement: later snapshots include all that was recorded under earlier locks. Null: no lane. */
const lockLane = async (
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

interface NonceGap {
  readonly lane: Lane
  readonly nonce: number
  readonly sign: SignNumbered
}

/** Records an empty transaction; null when the nonce has a transaction, or is not allocated yet. */
export const fillNonceGap = async (
  client: PoolClient,
  instance: Instance,
  { lane, nonce, sign }: NonceGap,
): Promise<SignedTransaction | null> => {
  const locked = await lockLane(client, instance, lane)
  if (locked === null || locked.nextNonce <= nonce) return null
  const { rowCount } = await client.query(
    'select 1 from broadcasts where network = $1 and signer = $2 and nonce = $3 limit 1',
    [lane.network, lane.signer, nonce],
  )
  if (rowCount !== 0) return null
  const signed = await signWithDeadline(sign, nonce)
  await storeBroadcast(client, instance, { signed, position: { ...lane, nonce }, settlementIds: [] })
  return signed
}

interface Replacement {
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
    `/* record */ with stored as (
       insert into broadcasts (network, transaction, bytes, signer, nonce, replaces, recorded_at, urgent_shares)
       select $1, $2, $3, $4, $5, $6, clock_timestamp(), urgent_shares from broadcasts where network = $1 and transaction = $6
     ), carried as (
       insert into broadcast_settlements (network, transaction, settlement_id)
       select network, $2, settlement_id from broadcast_settlements where network = $1 and transaction = $6
       returning settlement_id
     ), open as (
       select id from settlements
       where id in (select settlement_id from carried) and state = 'pending' order by id for update
     )
     update settlements s set transaction = case when s.transaction is not null then $2 end,
       transactions = array_append(transactions, $2)
     from open where s.id = open.id`,
    [network, signed.transaction, signed.bytes, signer, replaced.nonce, replaced.transaction],
  )
  return signed
}

interface NonceRewind {
  readonly lane: Lane
  readonly chainNonce: number
  /** Null: nothing may be recorded from there on. */
  readonly reach: number | null
}

/**
 * Lowers the next nonce where nothing is recorded within reach, and nothing from there on has settled a payment. What is
 * recorded further away leaves the lane, which frees its nonces. True when changed.
 */
export const rewindNonce = async (
  client: PoolClient,
  instance: Instance,
  { lane, chainNonce, reach }: NonceRewind,
): Promise<boolean> => {
  const locked = await lockLane(client, instance, lane)
  if (locked === null || locked.nextNonce <= chainNonce) return false
  const { rowCount } = await client.query(
    `with later as (
       select transaction, nonce from broadcasts where network = $1 and signer = $2 and nonce >= $3
     ), rewound as (
       update signer_lanes set next_nonce = $3 where network = $1 and signer = $2
         and not exists (select 1 from later where $4::bigint is null or nonce < $3 + $4)
         and not exists (
           select 1 from later l
           join broadcast_settlements c on c.network = $1 and c.transaction = l.transaction
           join settlements s on s.id = c.settlement_id
           where s.state = 'confirmed' and s.transaction = l.transaction)
       returning signer
     ), freed as (
       update broadcasts b set signer = null, nonce = null, replaces = null from later l, rewound
       where b.network = $1 and b.transaction = l.transaction
     )
     select 1 from rewound`,
    [lane.network, lane.signer, chainNonce, reach],
  )
  return rowCount === 1
}
