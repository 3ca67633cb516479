import type { Pool } from 'pg'
import { z } from 'zod'
import type { Holds } from '../../../ports/holds.js'
import { inTransaction, purgeExpired } from '../database/statements.js'
import { hasFailed, isNotFailed } from '../journal/settlementStates.js'
import { hasEnded, isBeingSettled, isPromised, takenBy, takenByWord } from './holdRules.js'
import { createPlaceHolds } from './placeHolds.js'

const takers = z.array(z.object({ taken_by: takenByWord }))

const readCover = `
  select exists (select 1 from reservations r
    where authorization_id = $1 and account = $2 and (account <> 'anonymous' or $6) and lower(asset) = lower($3)
      and lower(pay_to) = lower($4) and amount >= $5::numeric and not ${hasEnded('r')}) as covers`

const cover = z.object({ covers: z.boolean() })

const listTakers = `
  select taken_by from (
    select ${takenBy('r', { account: '$2', purpose: '$3', asset: '$4', payTo: '$5' })} as taken_by
    from reservations r where authorization_id = $1 and not ${hasEnded('r')}) t
  where taken_by is not null`

// What is being settled has drawn its gas, or is about to.
const listPromised = `
  select coalesce(r.promisee, r.account) as part, coalesce(r.promised_customer, r.promisee, r.account) as customer, count(*)
  from reservations r
  where r.network = $1 and ${isPromised('r')} and r.account is not null and not ${hasEnded('r')} and not ${isBeingSettled('r')}
  group by 1, 2`

const needsPromise = `
  select not exists (
      select from reservations r
      where r.authorization_id = $1 and r.account = $2 and ${isPromised('r')} and not ${hasEnded('r')})
    and not exists (
      select from settlements s
      where s.authorization_id = $1 and ${isNotFailed('s')}) as is_needed`

const need = z.object({ is_needed: z.boolean() })

const promised = z.array(z.object({ part: z.string(), customer: z.string(), count: z.coerce.number() }))

const isOfSettlement = 'r.authorization_id = $1 and $2::timestamptz = any(r.settling)'

// Another settlement that held it may still be claimed, is open, or was abandoned and will be tried again.
const isIdle = `r.holder = 'settle' and not ${isBeingSettled('r')}
  and not exists (select from unnest(r.settling) s where s <> $2::timestamptz and s > now() - interval '1 minute')
  and not exists (select from settlements s
    where s.authorization_id = r.authorization_id and ${hasFailed('s')} and s.closed_at >= r.reserved_at)`

const deleteUnclaimed = `
  delete from reservations r where ${isOfSettlement} and ${isIdle} and coalesce(r.verified_until <= now(), true)`

const restoreVerified = `
  update reservations r set settling = array_remove(r.settling, $2::timestamptz),
    holder = case when ${isIdle} then 'verify' else r.holder end,
    amount = case when ${isIdle} then r.verified_amount else r.amount end,
    expires_at = case when ${isIdle} then r.verified_until else r.expires_at end,
    reserved_at = case when ${isIdle} then clock_timestamp() else r.reserved_at end
  where ${isOfSettlement}`

/**
 * Of streams that were never stored, because the process died, or that have ended. Opening one takes seconds. Skips rows that
 * a decision deletes: neither waits for the other.
 */
const purgeLost = `
  delete from reservations where ctid = any(array(
    select ctid from reservations r
    where holder like 'stream:%' and reserved_at < now() - interval '10 minutes'
      and not exists (select 1 from streams s
        where s.id = case when r.holder ~ '^stream:[0-9a-f-]{36}$' then substr(r.holder, 8)::uuid end
          and s.state in ('active', 'paused', 'closing'))
    for update skip locked))`

export const createHolds = (pool: Pool): Holds => {
  return {
    ...createPlaceHolds(pool),

    countPromised: async (network) => {
      const { rows } = await pool.query(listPromised, [network])
      return promised.parse(rows)
    },

    needsPromise: async ({ authorizationId, account }) => {
      const { rows } = await pool.query(needsPromise, [authorizationId, account])
      return need.parse(rows[0]).is_needed
    },

    findTaker: async ({ authorizationId, account, purpose, asset, payTo }) => {
      const { rows } = await pool.query(listTakers, [authorizationId, account, purpose, asset, payTo])
      return takers.parse(rows)[0]?.taken_by ?? null
    },

    covers: async ({ authorizationId, account, asset, payTo, amount, countsAnonymous = false }) => {
      const asked = [authorizationId, account, asset, payTo, amount.toString(), countsAnonymous]
      const { rows } = await pool.query(readCover, asked)
      return cover.parse(rows[0]).covers
    },

    release: async ({ authorizationId, purpose }) => {
      await pool.query('delete from reservations where authorization_id = $1 and holder = $2', [
        authorizationId,
        purpose,
      ])
    },

    releaseUnclaimed: ({ authorizationId, heldAt }) =>
      inTransaction(pool, async (client) => {
        // As a claim does: its settlement is seen, or it comes after.
        await client.query('/* hold */ select pg_advisory_xact_lock(hashtextextended($1, 13))', [
          authorizationId,
        ])
        await client.query(deleteUnclaimed, [authorizationId, heldAt])
        await client.query(restoreVerified, [authorizationId, heldAt])
      }),

    purge: async (stopped) => {
      await purgeExpired(pool, 'reservations', { stopped, unless: isBeingSettled('reservations') })
      if (stopped?.aborted !== true) await pool.query(purgeLost)
    },
  }
}
