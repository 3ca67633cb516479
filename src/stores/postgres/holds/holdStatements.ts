import { escapeLiteral } from 'pg'
import { z } from 'zod'
import type { Funds, FundsHold, HoldObstacle, HoldResult } from '../../../ports/holds.js'
import { databaseUnavailable } from '../database/databaseErrors.js'
import { planStatement } from '../database/plannedStatement.js'
import { hasNul } from '../database/statements.js'
import { takesAuthorization } from '../journal/settlementStates.js'
import {
  columnFacts,
  hasEnded,
  isBeingSettled,
  isPromised,
  readFacts,
  takenBy,
  takenByWord,
} from './holdRules.js'

/* What a decision on holds sends to the database, and how its rows are read. */

/**
 * Live holds of one payer in one asset. All are read at every decision, under a lock; an agent that has this
 * many services rendered at once is far beyond what a wallet does.
 */
export const maxLiveHolds = 200

export interface Asked {
  readonly hold: FundsHold
  readonly funds: Funds
  /** As in `TransactionOptions`. */
  readonly endsAt: number
}

/**
 * Postgres takes a message only up to a NUL, and the others of the batch are in it. A lone surrogate is sent as another
 * character: what is written would not be found by its text, and two texts would be one.
 */
export const isStorable = (hold: FundsHold): boolean =>
  textsOf(hold).every((text) => !hasNul(text) && !/\p{Surrogate}/u.test(text))

export const keyOf = ({ network, asset, payer }: FundsHold): string => `${network} ${asset} ${payer}`

const namesOf = (hold: FundsHold): readonly string[] => {
  const { network, asset, payer, authorizationId, spender, account, purpose, payTo } = hold
  return [network, asset, payer, authorizationId, spender, account, purpose, payTo]
}

const textsOf = (hold: FundsHold): readonly string[] => {
  const { promisee } = hold
  return promisee === undefined ? namesOf(hold) : [...namesOf(hold), promisee.part, promisee.customer]
}

// The payer of class 12 and the authorization of class 13, apart from other advisory locks. Equal hashes only cost a wait.
// `find_holds` locks authorizations alone, so that neither waits for the other in a circle.
export const waitForLocks = (hold: FundsHold): string =>
  `/* hold */ select pg_advisory_xact_lock(hashtextextended(${escapeLiteral(keyOf(hold))}, 12)),
    pg_advisory_xact_lock(hashtextextended(${escapeLiteral(hold.authorizationId)}, 13))`

/** An array for each column of what is asked, as literals or parameters. */
export type Columns = readonly string[]

/** Takes the same locks, and waits for none: the positions of those that are taken are a setting of the transaction. */
const tryLocks = ([keys, ids]: Columns): string => `/* hold */
  select set_config('quittance.locked', coalesce(string_agg(position::text, ','), ''), true)
  from unnest(${keys}, ${ids}) with ordinality as l (payer, authorization_id, position)
  where pg_try_advisory_xact_lock(hashtextextended(payer, 12))
    and pg_try_advisory_xact_lock(hashtextextended(authorization_id, 13))`

const isLocked = "position = any(string_to_array(current_setting('quittance.locked'), ',')::bigint[])"

const toLiteral = (texts: readonly (string | null)[], type = 'text[]'): string =>
  `array[${texts.map((text) => (text === null ? 'null' : escapeLiteral(text))).join(', ')}]::${type}`

export const keysOf = (asked: readonly Asked[]): Columns => [
  toLiteral(asked.map(({ hold }) => keyOf(hold))),
  toLiteral(asked.map(({ hold }) => hold.authorizationId)),
]

/** Name, type and value of each column. The first ones are those of `ofPayer`. */
const askedColumns: readonly (readonly [string, string, (asked: Asked) => string | null])[] = [
  ['network', 'text[]', ({ hold }) => hold.network],
  ['asset', 'text[]', ({ hold }) => hold.asset],
  ['payer', 'text[]', ({ hold }) => hold.payer],
  ['authorization_id', 'text[]', ({ hold }) => hold.authorizationId],
  ['spender', 'text[]', ({ hold }) => hold.spender],
  ['account', 'text[]', ({ hold }) => hold.account],
  ['purpose', 'text[]', ({ hold }) => hold.purpose],
  ['pay_to', 'text[]', ({ hold }) => hold.payTo],
  ['amount', 'numeric[]', ({ hold }) => hold.amount.toString()],
  ['expires_ms', 'float8[]', ({ hold }) => String(hold.expiresAt.getTime())],
  ['is_promised', 'boolean[]', ({ hold }) => String(hold.isPromised === true)],
  ['part', 'text[]', ({ hold }) => hold.promisee?.part ?? null],
  ['customer', 'text[]', ({ hold }) => hold.promisee?.customer ?? null],
  ['balance', 'numeric[]', ({ funds }) => funds.balance?.toString() ?? null],
  ['allowance', 'numeric[]', ({ funds }) => funds.allowance?.toString() ?? null],
]
export const payerColumns = 3

export const columnsOf = (asked: readonly Asked[]): Columns =>
  askedColumns.map(([, type, read]) => toLiteral(asked.map(read), type))

/** Rows of what is asked. */
const listAsked = (columns: Columns, condition: string): string => `
    select * from unnest(${columns.join(', ')}) with ordinality
      as a (${askedColumns.map(([name]) => name).join(', ')}, position)
    where ${condition}`

const ofPayer = '(r.network, r.asset, r.payer) = (a.network, a.asset, a.payer)'

/** No more rows are read afterwards than can be live. */
export const deleteEnded = (columns: Columns, condition = 'true'): string => `
  delete from reservations r
  using unnest(${columns.slice(0, payerColumns).join(', ')}) with ordinality as a (network, asset, payer, position)
  where ${condition} and ${ofPayer} and ${hasEnded('r')}`

const isSame = 'r.authorization_id = a.authorization_id'
const facts = columnFacts('s')

const ofCaller = { account: 'a.account', purpose: 'a.purpose', asset: 'a.asset', payTo: 'a.pay_to' }

/**
 * What becomes of each that is asked: `obstacle` is null where the amount can be held. An authorization may be held under
 * another asset too. Holds of anonymous callers bind no account, or anyone who saw a signature could keep the payer's funds
 * from accounts; what is being settled leaves the wallet, for any caller. A claim follows its hold at once, so that
 * after a minute without one the process has died.
 *
 * What was committed before the locks were granted is read: each statement has a snapshot of its own.
 */
const decide = (columns: Columns, condition = 'true'): string => `
  asked as (${listAsked(columns, condition)}), found as (
    select a.*, l.*, k.is_unclaimed, coalesce(l.by_hold, case when k.is_taken then 'settlement' end) as taken_by
    from asked a, lateral (
      select min(${takenBy('r', ofCaller, facts)}) filter (where ${isSame}) as by_hold,
        max(r.amount) filter (where ${isSame} and ${ofPayer} and (r.account is null or r.account = a.account)) as own,
        count(*) filter (where not ${isSame}) as others,
        coalesce(sum(r.amount) filter (where not ${isSame}), 0) as by_payer,
        coalesce(sum(r.amount) filter (where not ${isSame} and r.spender = a.spender), 0) as by_spender
      from (
        select r.* from reservations r where ${ofPayer}
        union all select r.* from reservations r where ${isSame} and not ${ofPayer}
      ) r, lateral ${readFacts('r')} s
      where not ${hasEnded('r', facts)}
        and (${isSame} or a.account = 'anonymous' or r.account is distinct from 'anonymous'
          or (r.holder = 'settle' and r.reserved_at > now() - interval '1 minute') or ${facts.isOpen})) l, lateral (
      select coalesce(bool_or(s.state in ('claimed', 'pending') and s.caller <> a.account), false) as is_taken,
        count(*) = 0 as is_unclaimed
      from settlements s where s.authorization_id = a.authorization_id and ${takesAuthorization('s')}) k
  ), decided as (
    select *, case
      when taken_by is not null then 'taken'
      when own >= amount then null
      when own is null and others >= ${maxLiveHolds} then 'too_many'
      when by_payer + amount > balance then 'balance'
      when by_spender + amount > allowance then 'allowance' end as obstacle
    from found
  )`

const decidedColumns = 'd.position, d.obstacle, d.taken_by, d.by_payer, d.by_spender, d.is_unclaimed'

export const preview = (columns: Columns): string =>
  `with ${decide(columns)} select ${decidedColumns}, false as is_written from decided d`

const decided = z.object({
  position: z.coerce.number(),
  obstacle: z.enum(['taken', 'too_many', 'balance', 'allowance']).nullable(),
  taken_by: takenByWord.nullable(),
  by_payer: z.string(),
  by_spender: z.string(),
  is_unclaimed: z.boolean(),
  is_written: z.boolean(),
})

/** Null: the amount can be held. */
const readObstacle = ({
  obstacle,
  taken_by,
  by_payer,
  by_spender,
}: z.infer<typeof decided>): HoldObstacle | null => {
  if (taken_by !== null) return { state: 'taken', by: taken_by }
  switch (obstacle) {
    case 'too_many':
      return { state: 'too_many' }
    case 'balance':
      return { state: 'exceeds', limit: 'balance', heldByOthers: BigInt(by_payer) }
    case 'allowance':
      return { state: 'exceeds', limit: 'allowance', heldByOthers: BigInt(by_spender) }
    case 'taken':
    case null:
      return null
  }
}

/** Of a row of `preview`; null: the amount can be held. */
export const readPreview = (row: unknown): HoldObstacle | null => readObstacle(decided.parse(row))

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

// A claim follows its hold at once, as for `decide`.
const settling = `array(select s from unnest(r.settling) s where ${isOwn} and s > now() - interval '1 minute')`

/** Writes what fits; what is not locked is left out. */
export const place = (columns: Columns, isAwaited: string, condition = 'true'): string => `
  with ${decide(columns, condition)}, written as (
    insert into reservations as r (network, asset, payer, authorization_id, spender, account, holder, pay_to, amount,
      expires_at, promised_at, promisee, promised_customer, reserved_at, verified_amount, verified_until, settling)
    select a.network, a.asset, a.payer, a.authorization_id, a.spender, a.account, a.purpose, a.pay_to, a.amount,
      e.at, case when a.is_promised then statement_timestamp() end, a.part, a.customer, t.at,
      case when a.purpose = 'verify' then a.amount end, case when a.purpose = 'verify' then e.at end,
      case when a.purpose = 'settle' then array[t.at] else '{}' end
    from decided a, lateral (select to_timestamp(a.expires_ms / 1000) as at) e, (select clock_timestamp() as at) t
    where a.obstacle is null and ${isAwaited}
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
      settling[cardinality(settling)]::text as settling_at, reserved_at::text
  )
  select ${decidedColumns}, w.authorization_id is not null as is_written, w.* from decided d left join written w using (authorization_id)`

const columnTypes = askedColumns.map(([, type]) => type)

const parameters = (types: readonly string[]): Columns => types.map((type, index) => `$${index + 1}::${type}`)

/**
 * The statements for holds of many: planning them takes several times as long as running them, where few are asked at once. The
 * last parameter of `place` is how many milliseconds the caller still waits.
 */
export const planned = {
  tryLocks: planStatement(tryLocks(parameters(['text[]', 'text[]']))),
  deleteEnded: planStatement(deleteEnded(parameters(columnTypes.slice(0, payerColumns)), isLocked)),
  place: planStatement(
    place(
      parameters(columnTypes),
      `clock_timestamp() < now() + $${columnTypes.length + 1}::float8 * interval '1 millisecond'`,
      isLocked,
    ),
  ),
} as const

const written = z.object({
  authorization_id: z.string(),
  is_promised: z.boolean(),
  promisee: z.string().nullable(),
  promised_customer: z.string().nullable(),
  is_new_promise: z.boolean(),
  settling_at: z.string().nullable(),
  reserved_at: z.string(),
})

/** `busy`: it was not locked, so that it was not read. Throws where it fits and was not written, as its caller waits no longer. */
export const readResults = (
  asked: readonly Asked[],
  rows: readonly unknown[],
): readonly (HoldResult | 'busy')[] => {
  const found = new Map(
    rows.map((value) => {
      const row = decided.parse(value)
      return [row.position, { row, value }]
    }),
  )
  return asked.map(({ hold }, index) => {
    const answer = found.get(index + 1)
    if (answer === undefined) return 'busy'
    const obstacle = readObstacle(answer.row)
    if (obstacle !== null) return obstacle
    if (!answer.row.is_written) throw databaseUnavailable()
    const result = describeWritten(written.parse(answer.value), hold)
    return answer.row.is_unclaimed ? { ...result, isUnclaimed: true } : result
  })
}

const describeWritten = (
  row: z.infer<typeof written>,
  { purpose }: FundsHold,
): Extract<HoldResult, { readonly state: 'held' }> => {
  const { authorization_id: authorizationId, is_promised, is_new_promise, reserved_at, settling_at } = row
  return {
    state: 'held',
    receipt: {
      authorizationId,
      heldAt: (purpose === 'settle' ? settling_at : null) ?? reserved_at,
    },
    ...(is_promised ? { isPromised: true, ...readPromisee(row) } : {}),
    ...(is_new_promise ? { isNewPromise: true } : {}),
  }
}

const readPromisee = ({ promisee: part, promised_customer }: z.infer<typeof written>) =>
  part === null ? {} : { promisee: { part, customer: promised_customer ?? part } }
