import { escapeLiteral, type Pool, type PoolClient } from 'pg'
import { z } from 'zod'
import { createSlots } from '../../../concurrency/slots.js'
import type { Funds, FundsHold, HoldObstacle, HoldResult, Holds } from '../../../ports/holds.js'
import { coalesce, createKeyQueue } from '../database/coalesce.js'
import { isLockTimeout } from '../database/databaseErrors.js'
import { hasNul, inTransaction } from '../database/statements.js'
import { hasEnded, isBeingSettled, isPromised, takenBy, takenByWord } from './holdRules.js'

/**
 * Live holds of one payer in one asset. All are read at every decision, under a lock; an agent that has this
 * many services rendered at once is far beyond what a wallet does.
 */
export const maxLiveHolds = 200

// With as many live holds as a payer may have, a transaction reads 10,000 rows.
const maxHoldsTogether = 50
// Rows are locked for the time of a short statement; only a process that stalls keeps them.
const lockTimeoutMs = 250

interface Asked {
  readonly hold: FundsHold
  readonly funds: Funds
  /** As in `TransactionOptions`. */
  readonly endsAt: number
}

/**
 * Decides holds of many payers in one transaction, which saves a commit for each. Those whose payer or authorization another
 * transaction decides at the moment wait for it alone.
 */
export const createPlaceHolds = (pool: Pool): Pick<Holds, 'place' | 'findObstacle'> => {
  // One decision of this process per payer: a flood for one payer leaves the connections, and the batches, to the others.
  const inTurn = createKeyQueue()

  const placeTogether = (isDurableLater: boolean) =>
    coalesce<Asked, HoldResult | 'busy'>(
      async (asked) => {
        const first = new Map(asked.toReversed().map((each) => [each.hold.authorizationId, each]))
        const distinct = asked.filter((each) => first.get(each.hold.authorizationId) === each)
        const results = await inTransaction(pool, (client, read) => decide(client, distinct, read), {
          endsAt: Math.min(...asked.map(({ endsAt }) => endsAt)),
          opening: `${tryLocks(distinct)}; ${readHeld(distinct, isLocked)}`,
          isDurableLater,
          lockTimeoutMs,
        }).catch((error: unknown) => {
          // Another transaction has a row of one of them: each waits alone for its own.
          if (isLockTimeout(error)) return distinct.map(() => 'busy' as const)
          throw error
        })
        const byAsked = new Map(distinct.map((each, index) => [each, results[index]]))
        // The hold of the same authorization for another payer or asset is seen afterwards.
        return asked.map((each) => byAsked.get(each) ?? 'busy')
      },
      // Those that come meanwhile share the next commit.
      { maxInputs: maxHoldsTogether, maxInFlight: 1 },
    )
  const placeDurably = placeTogether(false)
  // The claim that follows makes it durable; nothing is answered or sent before that.
  const placeForClaim = placeTogether(true)

  // A transaction that stalls elsewhere keeps the locks of up to `maxHoldsTogether` payers: all that wait for one of them
  // leave half of the connections to others.
  const alone = createSlots(Math.max(1, Math.floor(pool.options.max / 2)))

  const decideAlone = async <T>(
    asked: Asked,
    work: (client: PoolClient, read: readonly unknown[]) => Promise<T>,
  ): Promise<T> =>
    // One that waited here for too long begins no transaction.
    await alone.run(new AbortController().signal, () =>
      inTransaction(pool, work, {
        endsAt: asked.endsAt,
        opening: `${waitForLocks(asked.hold)}; ${readHeld([asked])}`,
        isDurableLater: isOfClaim(asked.hold),
      }),
    )

  return {
    place: (hold, funds) =>
      inTurn(keyOf(hold), async (endsAt) => {
        const asked = { hold, funds, endsAt }
        if (!namesOf(hold).every(isStorable)) throw new Error('The text of a hold cannot be stored')
        const result = await (isOfClaim(hold) ? placeForClaim : placeDurably)(asked)
        if (result !== 'busy') return result
        const [decided] = await decideAlone(asked, (client, read) => decide(client, [asked], read))
        if (decided === undefined || decided === 'busy') throw new Error('A hold was not decided')
        return decided
      }),

    findObstacle: (hold, funds) =>
      inTurn(keyOf(hold), (endsAt) =>
        decideAlone({ hold, funds, endsAt }, async (_, [read]) => judge(hold, funds, held.parse(read))),
      ),
  }
}

/**
 * Postgres takes a message only up to a NUL, and the others of the batch are in it. A lone surrogate is sent as another
 * character: what is written would not be found by its text, and two texts would be one.
 */
const isStorable = (text: string): boolean => !hasNul(text) && !/\p{Surrogate}/u.test(text)

const isOfClaim = ({ purpose }: FundsHold): boolean => purpose === 'settle'

const keyOf = ({ network, asset, payer }: FundsHold): string => `${network} ${asset} ${payer}`

const namesOf = (hold: FundsHold): readonly string[] => {
  const { network, asset, payer, authorizationId, spender, account, purpose, payTo } = hold
  return [network, asset, payer, authorizationId, spender, account, purpose, payTo]
}

/** Writes what fits; the others are answered what is in the way, or `busy` where nothing was read for want of a lock. */
const decide = async (
  client: PoolClient,
  asked: readonly Asked[],
  read: readonly unknown[],
): Promise<readonly (HoldResult | 'busy')[]> => {
  const found = new Map(read.map((value) => held.parse(value)).map((row) => [row.position, row]))
  const obstacles = asked.map(({ hold, funds }, index) => {
    const row = found.get(index + 1)
    return row === undefined ? 'busy' : judge(hold, funds, row)
  })
  const placed = await writeHolds(
    client,
    asked.filter((_, index) => obstacles[index] === null).map(({ hold }) => hold),
  )
  return asked.map(({ hold }, index) => {
    const result = obstacles[index] ?? placed.get(hold.authorizationId)
    if (result === undefined) throw new Error('A hold was not written')
    return result
  })
}

// The payer of class 12 and the authorization of class 13, apart from other advisory locks. Equal hashes only cost a wait.
// `find_holds` locks authorizations alone, so that neither waits for the other in a circle.
const waitForLocks = (hold: FundsHold): string =>
  `/* hold */ select pg_advisory_xact_lock(hashtextextended(${escapeLiteral(keyOf(hold))}, 12)),
    pg_advisory_xact_lock(hashtextextended(${escapeLiteral(hold.authorizationId)}, 13))`

/** Takes the same locks, and waits for none: the positions of those that are taken are a setting of the transaction. */
const tryLocks = (asked: readonly Asked[]): string => `/* hold */
  select set_config('quittance.locked', coalesce(string_agg(position::text, ','), ''), true)
  from unnest(${toLiteral(asked.map(({ hold }) => keyOf(hold)))},
    ${toLiteral(asked.map(({ hold }) => hold.authorizationId))}) with ordinality as l (payer, authorization_id, position)
  where pg_try_advisory_xact_lock(hashtextextended(payer, 12))
    and pg_try_advisory_xact_lock(hashtextextended(authorization_id, 13))`

const isLocked = "position = any(string_to_array(current_setting('quittance.locked'), ',')::bigint[])"

const toLiteral = (texts: readonly string[]): string =>
  `array[${texts.map(escapeLiteral).join(', ')}]::text[]`

const held = z.object({
  position: z.coerce.number(),
  taken_by: takenByWord.nullable(),
  /** What the same account holds. */
  own: z.string().nullable(),
  count: z.coerce.number(),
  by_payer: z.string(),
  by_spender: z.string(),
})

const ofPayer = '(r.network, r.asset, r.payer) = (a.network, a.asset, a.payer)'

/**
 * Deletes what has ended, so that no more rows are read than can be live. An authorization may be held under another
 * asset too. Holds of anonymous callers bind no account, or anyone who saw a signature could keep the payer's funds
 * from accounts; what is being settled leaves the wallet, for any caller. A claim follows its hold at once, so that
 * after a minute without one the process has died.
 *
 * What was committed before the locks were granted is read: each statement has a snapshot of its own.
 */
const readHeld = (asked: readonly Asked[], condition = 'true'): string => {
  const columns = asked.map(({ hold }) => namesOf(hold))
  const column = (index: number): string => toLiteral(columns.map((names) => names[index] ?? ''))
  return `
  with asked as (
    select * from unnest(${[0, 1, 2, 3, 4, 5, 6, 7].map(column).join(', ')}) with ordinality
      as a (network, asset, payer, authorization_id, spender, account, purpose, pay_to, position)
    where ${condition}
  ), ended as (
    delete from reservations r using asked a where ${ofPayer} and ${hasEnded('r')}
    returning a.position, r.authorization_id
  ), live as (
    select a.position, r.authorization_id = a.authorization_id as is_same, r.account is null or r.account = a.account as is_own,
      r.spender = a.spender as is_of_spender, r.amount
    from asked a join reservations r on ${ofPayer}
    where not exists (select from ended e where (e.position, e.authorization_id) = (a.position, r.authorization_id))
      and (r.authorization_id = a.authorization_id or a.account = 'anonymous' or r.account is distinct from 'anonymous'
        or (r.holder = 'settle' and r.reserved_at > now() - interval '1 minute')
        or ${isBeingSettled('r')})
  )
  select a.position, coalesce(
      (select min(${takenBy('o', { account: 'a.account', purpose: 'a.purpose', asset: 'a.asset', payTo: 'a.pay_to' })})
        from reservations o where o.authorization_id = a.authorization_id and not ${hasEnded('o')}),
      (select 'settlement' from settlements s
        where s.authorization_id = a.authorization_id and s.state in ('claimed', 'pending') and s.caller <> a.account)) as taken_by,
    max(l.amount) filter (where is_same and is_own) as own,
    count(*) filter (where not is_same) as count,
    coalesce(sum(l.amount) filter (where not is_same), 0) as by_payer,
    coalesce(sum(l.amount) filter (where not is_same and is_of_spender), 0) as by_spender
  from asked a left join live l using (position)
  group by a.position, a.authorization_id, a.account, a.purpose, a.asset, a.pay_to`
}

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

// True if the hold is written again by its own account.
const isOwn = '(r.account is null or r.account = excluded.account)'

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
  select a.network, a.asset, a.payer, a.authorization_id, a.spender, a.account, a.purpose, a.pay_to, a.amount,
    a.expires_at, case when a.is_promised then statement_timestamp() end, a.part, a.customer, t.at,
    case when a.purpose = 'verify' then a.amount end, case when a.purpose = 'verify' then a.expires_at end,
    case when a.purpose = 'settle' then array[t.at] else '{}' end
  from unnest($1::text[], $2::text[], $3::text[], $4::text[], $5::text[], $6::text[], $7::text[], $8::text[], $9::numeric[],
      $10::timestamptz[], $11::boolean[], $12::text[], $13::text[])
    as a (network, asset, payer, authorization_id, spender, account, purpose, pay_to, amount,
      expires_at, is_promised, part, customer),
    (select clock_timestamp() as at) t
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
  returning authorization_id, promised_at is not null as is_promised, promisee, promised_customer,
    promised_at is not distinct from statement_timestamp() as is_new_promise,
    settling[cardinality(settling)]::text as settling_at, reserved_at::text`

const written = z.object({
  authorization_id: z.string(),
  is_promised: z.boolean(),
  promisee: z.string().nullable(),
  promised_customer: z.string().nullable(),
  is_new_promise: z.boolean(),
  settling_at: z.string().nullable(),
  reserved_at: z.string(),
})

const writeHolds = async (
  client: PoolClient,
  holds: readonly FundsHold[],
): Promise<ReadonlyMap<string, HoldResult>> => {
  if (holds.length === 0) return new Map()
  const purposes = new Map(holds.map(({ authorizationId, purpose }) => [authorizationId, purpose]))
  const names = holds.map(namesOf)
  const { rows } = await client.query(write, [
    ...Array.from({ length: 8 }, (_, index) => names.map((each) => each[index])),
    holds.map(({ amount }) => amount.toString()),
    holds.map(({ expiresAt }) => expiresAt),
    holds.map(({ isPromised: isAsked = false }) => isAsked),
    holds.map(({ promisee }) => promisee?.part ?? null),
    holds.map(({ promisee }) => promisee?.customer ?? null),
  ])
  return new Map(
    rows.map((value) => {
      const row = written.parse(value)
      const { authorization_id: authorizationId, is_promised, is_new_promise, reserved_at, settling_at } = row
      const isSettling = purposes.get(authorizationId) === 'settle'
      return [
        authorizationId,
        {
          state: 'held',
          receipt: { authorizationId, heldAt: (isSettling ? settling_at : null) ?? reserved_at },
          ...(is_promised ? { isPromised: true, ...readPromisee(row) } : {}),
          ...(is_new_promise ? { isNewPromise: true } : {}),
        },
      ]
    }),
  )
}

const readPromisee = ({ promisee: part, promised_customer }: z.infer<typeof written>) =>
  part === null ? {} : { promisee: { part, customer: promised_customer ?? part } }
