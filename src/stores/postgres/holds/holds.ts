import { escapeLiteral, type Pool, type PoolClient } from 'pg'
import { z } from 'zod'
import type { Funds, FundsHold, HoldObstacle, HoldResult, Holds } from '../../../ports/holds.js'
import { createKeyQueue } from '../database/coalesce.js'
import { inTransaction, purgeExpired } from '../database/statements.js'
import { hasEnded, isBeingSettled, isPromised, takenBy } from './holdRules.js'

/**
 * Live holds of one payer in one asset. All are read at every decision, under a lock; an agent that has this
 * many services rendered at once is far beyond what a wallet does.
 */
export const maxLiveHolds = 200

const takenByWord = z.enum(['account', 'recipient', 'asset', 'stream', 'settlement'])
const takers = z.array(z.object({ taken_by: takenByWord }))

const held = z.object({
  taken_by: takenByWord.nullable(),
  /** What the same account holds. */
  own: z.string().nullable(),
  count: z.coerce.number(),
  by_payer: z.string(),
  by_spender: z.string(),
})

const readCover = `
  select exists (select 1 from reservations r
    where authorization_id = $1 and account = $2 and (account <> 'anonymous' or $6) and lower(asset) = lower($3)
      and lower(pay_to) = lower($4) and amount >= $5::numeric and not ${hasEnded('r')}) as covers`

const cover = z.object({ covers: z.boolean() })

// True if the hold is written again by its own account.
const isOwn = '(r.account is null or r.account = excluded.account)'

// The payer of class 12 and the authorization of class 13, apart from other advisory locks. Equal hashes only cost a wait.
// `find_holds` locks authorizations alone, so that neither waits for the other in a circle.
const writeLock = ({ network, asset, payer, authorizationId }: FundsHold): string =>
  `/* hold */ select pg_advisory_xact_lock(hashtextextended(${escapeLiteral(`${network} ${asset} ${payer}`)}, 12)),
    pg_advisory_xact_lock(hashtextextended(${escapeLiteral(authorizationId)}, 13))`

/**
 * Deletes what has ended, so that no more rows are read than can be live. An authorization may be held under another
 * asset too. Holds of anonymous callers bind no account, or anyone who saw a signature could keep the payer's funds
 * from accounts; what is being settled leaves the wallet, for any caller. A claim follows its hold at once, so that
 * after a minute without one the process has died.
 */
const readHeld = `
  with ended as (
    delete from reservations r where network = $1 and asset = $2 and payer = $3 and ${hasEnded('r')}
    returning authorization_id
  ), live as (
    select r.authorization_id, r.account, r.spender, r.amount from reservations r
    where network = $1 and asset = $2 and payer = $3 and authorization_id not in (select authorization_id from ended)
      and (authorization_id = $4 or $6 = 'anonymous' or account is distinct from 'anonymous'
        or (holder = 'settle' and reserved_at > now() - interval '1 minute')
        or ${isBeingSettled('r')})
  )
  select coalesce(
      (select min(${takenBy('o', { account: '$6', purpose: '$7', asset: '$2', payTo: '$8' })}) from reservations o
        where o.authorization_id = $4 and not ${hasEnded('o')}),
      (select 'settlement' from settlements s
        where s.authorization_id = $4 and s.state in ('claimed', 'pending') and s.caller <> $6)) as taken_by,
    max(amount) filter (where authorization_id = $4 and (account is null or account = $6)) as own,
    count(*) filter (where authorization_id <> $4) as count,
    coalesce(sum(amount) filter (where authorization_id <> $4), 0) as by_payer,
    coalesce(sum(amount) filter (where authorization_id <> $4 and spender = $5), 0) as by_spender
  from live`

/** What was committed before the locks were granted is read: each statement has a snapshot of its own. */
const openDecision = (hold: FundsHold): string => {
  const literals = listAsked(hold).map(escapeLiteral)
  const read = readHeld.replaceAll(/\$(\d)/g, (_, position) => literals[Number(position) - 1] ?? 'null')
  return `${writeLock(hold)}; ${read}`
}

const listTakers = `
  select taken_by from (
    select ${takenBy('r', { account: '$2', purpose: '$3', asset: '$4', payTo: '$5' })} as taken_by
    from reservations r where authorization_id = $1 and not ${hasEnded('r')}) t
  where taken_by is not null`

// Before its claim, a settlement owns its hold, also when a verification renews it. After the claim the verification owns
// what it renews, so that a settlement that fails ends its own hold only. A renewal lowers neither amount nor time: both
// come from the request, which the payer can repeat.
const staysOfSettlement = `r.holder = 'settle' and excluded.holder = 'verify' and ${isOwn} and not ${isBeingSettled('r')}`

// What the last verification held. A hold that a verification has is what it held.
const verified = `case when ${isOwn} and r.holder = 'verify' then r.amount
  when ${isOwn} and r.verified_until > now() then r.verified_amount end`
const verifiedUntil = `case when ${isOwn} and r.holder = 'verify' then r.expires_at
  when ${isOwn} and r.verified_until > now() then r.verified_until end`

// A claim follows its hold at once, as for `readHeld`.
const settling = `array(select s from unnest(r.settling) s where ${isOwn} and s > now() - interval '1 minute')`

const write = `
  insert into reservations as r (network, asset, payer, authorization_id, spender, account, holder, pay_to, amount,
    expires_at, promised_at, promisee, promised_customer, reserved_at, verified_amount, verified_until, settling)
  select $1, $2, $3, $4, $5, $6, $7, $8, $9::numeric, $10::timestamptz, case when $11 then statement_timestamp() end, $12, $13, t.at,
    case when $7 = 'verify' then $9::numeric end, case when $7 = 'verify' then $10::timestamptz end,
    case when $7 = 'settle' then array[t.at] else '{}' end
  from (select clock_timestamp() as at) t
  on conflict (network, asset, payer, authorization_id) do update
    set spender = excluded.spender, account = excluded.account, pay_to = excluded.pay_to,
      holder = case when ${staysOfSettlement} then r.holder else excluded.holder end,
      amount = case when ${isOwn} then greatest(r.amount, excluded.amount) else excluded.amount end,
      expires_at = case when ${isOwn} then greatest(r.expires_at, excluded.expires_at) else excluded.expires_at end,
      promised_at = case when ${isOwn} and ${isPromised('r')} then r.promised_at else excluded.promised_at end,
      promisee = case when ${isOwn} and ${isPromised('r')} then r.promisee else excluded.promisee end,
      promised_customer = case when ${isOwn} and ${isPromised('r')} then r.promised_customer else excluded.promised_customer end,
      reserved_at = case when ${staysOfSettlement} then r.reserved_at else excluded.reserved_at end,
      verified_amount = greatest(${verified}, excluded.verified_amount),
      verified_until = greatest(${verifiedUntil}, excluded.verified_until),
      settling = ${settling} || excluded.settling
  returning promised_at is not null as is_promised, promisee, promised_customer,
    promised_at is not distinct from statement_timestamp() as is_new_promise,
    case when $7 = 'settle' then settling[cardinality(settling)] else reserved_at end::text as reserved_at`

const written = z.object({
  is_promised: z.boolean(),
  promisee: z.string().nullable(),
  promised_customer: z.string().nullable(),
  is_new_promise: z.boolean(),
  reserved_at: z.string(),
})

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
      where s.authorization_id = $1 and s.state in ('claimed', 'pending', 'confirmed')) as is_needed`

const need = z.object({ is_needed: z.boolean() })

const promised = z.array(z.object({ part: z.string(), customer: z.string(), count: z.coerce.number() }))

const isOfSettlement = 'r.authorization_id = $1 and $2::timestamptz = any(r.settling)'

// Another settlement that held it may still be claimed, is open, or was abandoned and will be tried again.
const isIdle = `r.holder = 'settle' and not ${isBeingSettled('r')}
  and not exists (select from unnest(r.settling) s where s <> $2::timestamptz and s > now() - interval '1 minute')
  and not exists (select from settlements s
    where s.authorization_id = r.authorization_id and s.state = 'failed' and s.closed_at >= r.reserved_at)`

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
  delete from reservations where ctid in (
    select ctid from reservations r
    where holder like 'stream:%' and reserved_at < now() - interval '10 minutes'
      and not exists (select 1 from streams s
        where s.id = case when r.holder ~ '^stream:[0-9a-f-]{36}$' then substr(r.holder, 8)::uuid end
          and s.state in ('active', 'paused', 'closing'))
    for update skip locked)`

export const createHolds = (pool: Pool): Holds => {
  // One connection of this process per payer: a flood for one payer leaves the pool to the others.
  const inTurn = createKeyQueue()

  const decide = async (
    client: PoolClient,
    hold: FundsHold,
    obstacle: HoldObstacle | null,
  ): Promise<HoldResult> => {
    if (obstacle !== null) return obstacle
    const { authorizationId, amount, expiresAt, isPromised: isAsked = false, promisee } = hold
    const values = [
      ...listAsked(hold),
      amount.toString(),
      expiresAt,
      isAsked,
      promisee?.part ?? null,
      promisee?.customer ?? null,
    ]
    const { rows: wrote } = await client.query(write, values)
    const row = written.parse(wrote[0])
    const { is_promised, is_new_promise, reserved_at: heldAt } = row
    return {
      state: 'held',
      receipt: { authorizationId, heldAt },
      ...(is_promised ? { isPromised: true, ...readPromisee(row) } : {}),
      ...(is_new_promise ? { isNewPromise: true } : {}),
    }
  }

  return {
    place: (hold, funds) =>
      inTurn(`${hold.network} ${hold.asset} ${hold.payer}`, (endsAt) =>
        inTransaction(
          pool,
          (client, [read]) => decide(client, hold, judge(hold, funds, held.parse(read))),
          // The claim that follows makes it durable; nothing is answered or sent before that.
          { endsAt, opening: openDecision(hold), isDurableLater: hold.purpose === 'settle' },
        ),
      ),

    findObstacle: (hold, funds) =>
      inTurn(`${hold.network} ${hold.asset} ${hold.payer}`, (endsAt) =>
        inTransaction(pool, async (_, [read]) => judge(hold, funds, held.parse(read)), {
          endsAt,
          opening: openDecision(hold),
        }),
      ),

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

const listAsked = (hold: FundsHold): string[] => {
  const { network, asset, payer, authorizationId, spender, account, purpose, payTo } = hold
  return [network, asset, payer, authorizationId, spender, account, purpose, payTo]
}

const readPromisee = ({ promisee: part, promised_customer }: z.infer<typeof written>) =>
  part === null ? {} : { promisee: { part, customer: promised_customer ?? part } }

/** Null: the amount is held. */
const judge = (
  { amount }: FundsHold,
  { balance, allowance }: Funds,
  { taken_by, own, count, by_payer, by_spender }: z.infer<typeof held>,
): HoldObstacle | null => {
  if (taken_by !== null) return { state: 'taken', by: taken_by }
  if (own !== null && BigInt(own) >= amount) return null
  if (own === null && count >= maxLiveHolds) return { state: 'too_many' }
  const byPayer = BigInt(by_payer)
  if (balance !== null && byPayer + amount > balance) {
    return { state: 'exceeds', limit: 'balance', heldByOthers: byPayer }
  }
  const bySpender = BigInt(by_spender)
  if (allowance !== null && bySpender + amount > allowance) {
    return { state: 'exceeds', limit: 'allowance', heldByOthers: bySpender }
  }
  return null
}
