import type { Pool, PoolClient } from 'pg'
import { z } from 'zod'
import type { Funds, Reservation, ReservationResult, Reservations } from '../../../ports/reservations.js'
import { purgeExpired } from '../database/purgeExpired.js'
import { inTransaction } from '../database/transaction.js'
import { createKeyQueue } from './keyQueue.js'

/**
 * Live reservations of one payer in one asset. All are read at every decision, under a lock; an agent that has this
 * many services rendered at once is far beyond what a wallet does.
 */
export const maxLiveReservations = 200

const held = z.object({
  own: z.string().nullable(),
  own_pay_to: z.string().nullable(),
  own_holder: z.string().nullable(),
  holder_elsewhere: z.string().nullable(),
  count: z.coerce.number(),
  by_payer: z.string(),
  by_spender: z.string(),
})

// Of class 12, apart from other advisory locks. Equal hashes only cost a wait.
const lock = `select pg_advisory_xact_lock(hashtextextended(concat_ws(' ', $1::text, $2::text, $3::text), 12))`

/**
 * Deletes what was settled or failed, so that no more rows are read than can be live. A stream whose settlement failed tries
 * again, and keeps what it holds. The authorization of a stream may be presented with another asset: it is the stream's.
 */
const readHeld = `
  with ended as (
    delete from reservations r where network = $1 and asset = $2 and payer = $3 and (expires_at <= now()
      or exists (select 1 from settlements s
        where s.authorization_id = r.authorization_id and s.state = 'confirmed')
      or exists (select 1 from settlements s
        where r.holder in ('verify', 'settle')
          and s.authorization_id = r.authorization_id and s.state = 'failed' and s.closed_at >= r.reserved_at))
    returning authorization_id
  )
  select max(amount) filter (where authorization_id = $4) as own,
    max(pay_to) filter (where authorization_id = $4) as own_pay_to,
    max(holder) filter (where authorization_id = $4) as own_holder,
    count(*) filter (where authorization_id <> $4) as count,
    coalesce(sum(amount) filter (where authorization_id <> $4), 0) as by_payer,
    coalesce(sum(amount) filter (where authorization_id <> $4 and spender = $5), 0) as by_spender,
    (select min(o.holder) from reservations o where o.authorization_id = $4 and o.holder not in ('verify', 'settle')
      and (o.network, o.asset, o.payer) <> ($1, $2, $3) and o.expires_at > now()) as holder_elsewhere
  from reservations where network = $1 and asset = $2 and payer = $3
    and authorization_id not in (select authorization_id from ended)`

const write = `
  insert into reservations as r (network, asset, payer, authorization_id, spender, pay_to, holder, amount, expires_at, reserved_at)
  values ($1, $2, $3, $4, $5, $6, $7, $8, $9, clock_timestamp())
  on conflict (network, asset, payer, authorization_id) do update
    set spender = excluded.spender, holder = excluded.holder, amount = excluded.amount, expires_at = excluded.expires_at,
      reserved_at = excluded.reserved_at`

/** Of streams that were never stored, because the process died, or that have ended. Opening one takes seconds. */
const purgeLost = `
  with streams_holding as (
    select network, asset, payer, authorization_id, reserved_at,
      case when holder ~ '^stream:[0-9a-f-]{36}$' then substr(holder, 8)::uuid end as stream_id
    from reservations where holder like 'stream:%' and reserved_at < now() - interval '10 minutes'
  )
  delete from reservations r using streams_holding h
  where (r.network, r.asset, r.payer, r.authorization_id, r.reserved_at)
    = (h.network, h.asset, h.payer, h.authorization_id, h.reserved_at)
    and not exists (select 1 from streams s
      where s.id = h.stream_id and s.state in ('active', 'paused', 'closing'))`

export const createReservations = (pool: Pool): Reservations => {
  // One connection of this process per payer: a flood for one payer leaves the pool to the others.
  const inTurn = createKeyQueue()

  const decide = async (client: PoolClient, reservation: Reservation, funds: Funds) => {
    const { network, asset, payer, authorizationId, spender, payTo, holder, amount, expiresAt } = reservation
    const key = [network, asset, payer]
    // A statement of its own: later ones see what was committed before the lock was granted.
    await client.query(lock, key)
    const { rows } = await client.query(readHeld, [...key, authorizationId, spender])
    const before = held.parse(rows[0])
    const result = judge(reservation, funds, before)
    if (result.state === 'reserved') {
      await client.query(write, [
        ...key,
        authorizationId,
        spender,
        payTo,
        before.own_holder === 'settle' && holder === 'verify' ? before.own_holder : holder,
        amount.toString(),
        expiresAt,
      ])
    }
    return result
  }

  return {
    reserve: (reservation, funds) =>
      inTurn(`${reservation.network} ${reservation.asset} ${reservation.payer}`, () =>
        inTransaction(pool, (client) => decide(client, reservation, funds)),
      ),

    release: async ({ authorizationId, holder }) => {
      await pool.query('delete from reservations where authorization_id = $1 and holder = $2', [
        authorizationId,
        holder,
      ])
    },

    purge: async (stopped) => {
      await purgeExpired(pool, 'reservations', stopped)
      if (stopped?.aborted !== true) await pool.query(purgeLost)
    },
  }
}

const judge = (
  { amount, payTo, holder }: Reservation,
  { balance, allowance }: Funds,
  { own, own_pay_to, own_holder, holder_elsewhere, count, by_payer, by_spender }: z.infer<typeof held>,
): ReservationResult => {
  if (holder_elsewhere !== null) return { state: 'taken', by: 'stream' }
  if (own_pay_to !== null && own_pay_to !== payTo) return { state: 'taken', by: 'recipient' }
  if (own_holder !== null && !yields(own_holder, holder)) {
    return { state: 'taken', by: own_holder === 'settle' ? 'settlement' : 'stream' }
  }
  if (own !== null && BigInt(own) >= amount) return { state: 'reserved' }
  if (own === null && count >= maxLiveReservations) return { state: 'too_many' }
  const byPayer = BigInt(by_payer)
  if (byPayer + amount > balance) return { state: 'exceeds', limit: 'balance', heldByOthers: byPayer }
  const bySpender = BigInt(by_spender)
  if (allowance !== null && bySpender + amount > allowance) {
    return { state: 'exceeds', limit: 'allowance', heldByOthers: bySpender }
  }
  return { state: 'reserved' }
}

/** A verification renews what a settlement holds, which stays with the settlement. */
const yields = (held: string, holder: string): boolean =>
  held === holder || held === 'verify' || (held === 'settle' && holder === 'verify')
