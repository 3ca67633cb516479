import type { Pool, PoolClient } from 'pg'
import { z } from 'zod'
import type { ChannelLedger, SeenChannel } from '../../../ports/channelLedger.js'
import { type ChannelEvent, viewChannel } from '../../../protocol/channels.js'
import type { JsonObject } from '../../../protocol/fields.js'
import { inTransaction, selectColumns } from '../database/statements.js'
import { insertEvents } from '../webhooks/webhookEvents.js'

export const smallestUnits = z.string().transform(BigInt)

export const channelRow = z.object({
  network: z.string(),
  channelId: z.string(),
  accountId: z.string(),
  config: z.custom<JsonObject>((value) => typeof value === 'object' && value !== null),
  receiver: z.string(),
  token: z.string(),
  boundAt: z.date(),
  ceiling: smallestUnits,
  signature: z.string(),
  price: smallestUnits,
  verifiedAt: z.date(),
  charged: smallestUnits,
  claimed: smallestUnits,
  balance: smallestUnits.nullable(),
  withdrawal: smallestUnits,
  withdrawRequestedAt: z.coerce.number(),
  seenAt: z.date().nullable(),
  unclaimedSince: z.date().nullable(),
  settlementId: z.string().nullable(),
  unclaimable: smallestUnits.nullable(),
})

export const channelColumns = selectColumns('v', channelRow.shape)

const notified = z.object({
  notifiedWithdrawal: z.coerce.number().nullable(),
  notifiedBalance: smallestUnits.nullable(),
})

const locked = channelRow.extend(notified.shape)
const lockedColumns = selectColumns('v', locked.shape)

type Locked = z.infer<typeof locked>

/** A row is written anew only if it differs, or was seen long ago. */
const rewriteAfterMs = 120_000

/** What an observation changes of a row, and which events it makes. */
const describeChange = (current: Locked, seen: SeenChannel, at: Date) => {
  const { balance, totalClaimed: claimed, withdrawal, withdrawRequestedAt } = seen
  const free = balance - withdrawal
  const isNearCap = current.ceiling > claimed && free > 0n && current.ceiling * 10n >= free * 9n
  const isWithdrawalNew = withdrawRequestedAt !== 0 && withdrawRequestedAt !== current.notifiedWithdrawal
  const isCapNew = isNearCap && balance !== current.notifiedBalance
  const since =
    current.charged <= claimed ? null : claimed > current.claimed ? at : (current.unclaimedSince ?? at)
  const next: Locked = {
    ...current,
    balance,
    claimed,
    withdrawal,
    withdrawRequestedAt,
    seenAt: at,
    unclaimedSince: since,
    notifiedWithdrawal: isWithdrawalNew ? withdrawRequestedAt : current.notifiedWithdrawal,
    notifiedBalance: isCapNew ? balance : current.notifiedBalance,
  }
  const isSame =
    current.seenAt !== null &&
    current.verifiedAt <= current.seenAt &&
    at.getTime() - current.seenAt.getTime() < rewriteAfterMs &&
    balance === current.balance &&
    claimed === current.claimed &&
    withdrawal === current.withdrawal &&
    withdrawRequestedAt === current.withdrawRequestedAt
  return {
    next,
    isWritten: !isSame || isWithdrawalNew || isCapNew,
    // Negative: a reorg, or a node that is behind, undoes a claim, which is credited again when it is seen again.
    credited: claimed - current.claimed,
    events: [
      ...(isWithdrawalNew ? [{ type: 'channel.withdrawal_requested' as const, channel: next }] : []),
      ...(isCapNew ? [{ type: 'channel.near_cap' as const, channel: next }] : []),
    ],
  }
}

type Change = ReturnType<typeof describeChange>

const writeSeen = `
  update channel_vouchers v set balance = s.balance, claimed = s.claimed, withdrawal = s.withdrawal,
    withdraw_requested_at = s.withdraw_requested_at, seen_at = $2, unclaimed_since = s.unclaimed_since,
    notified_withdrawal = s.notified_withdrawal, notified_balance = s.notified_balance
  from unnest($3::text[], $4::numeric[], $5::numeric[], $6::numeric[], $7::bigint[], $8::timestamptz[], $9::bigint[],
    $10::numeric[]) as s (channel_id, balance, claimed, withdrawal, withdraw_requested_at, unclaimed_since, notified_withdrawal,
    notified_balance)
  where v.network = $1 and v.channel_id = s.channel_id`

// Of the account that was credited last: another one that has paid the receiver once must not go on to decide when it is paid out.
// Where that one cannot pay for it, those that were credited a part of it can.
const credit = `
  with credited as (
    insert into channel_sweeps as c (network, receiver, token, account_id, unswept_since, credits)
    select distinct on (receiver, token) $1::text, receiver, token, account_id, $2::timestamptz, 1
    from unnest($3::text[], $4::text[], $5::text[]) as s (receiver, token, account_id)
    order by receiver, token, account_id
    on conflict (network, receiver, token) do update
      set account_id = excluded.account_id, unswept_since = coalesce(c.unswept_since, excluded.unswept_since), credits = c.credits + 1
    returning receiver, token, credits
  )
  insert into channel_sweep_shares as s (network, receiver, token, account_id, amount, since, last_credit)
  select $1::text, p.receiver, p.token, p.account_id, sum(p.amount), $2::timestamptz, max(c.credits)
  from unnest($3::text[], $4::text[], $5::text[], $6::numeric[]) as p (receiver, token, account_id, amount)
    join credited c using (receiver, token)
  group by 2, 3, 4 order by 2, 3, 4
  on conflict (network, receiver, token, account_id) do update
    set amount = s.amount + excluded.amount, since = least(s.since, excluded.since), last_credit = excluded.last_credit`

// What was paid out has no part left.
const debit = `
  with undone as (
    select receiver, token, account_id, sum(amount) as amount from unnest($2::text[], $3::text[], $4::text[], $5::numeric[])
      as u (receiver, token, account_id, amount) group by 1, 2, 3
  ), parts as (
    select s.network, s.receiver, s.token, s.account_id, s.amount - u.amount as rest
    from channel_sweep_shares s join undone u using (receiver, token, account_id) where s.network = $1
    order by s.receiver, s.token, s.account_id for update of s
  ), gone as (
    delete from channel_sweep_shares s using parts p
    where (s.network, s.receiver, s.token, s.account_id) = (p.network, p.receiver, p.token, p.account_id) and p.rest <= 0
  )
  update channel_sweep_shares s set amount = p.rest from parts p
  where (s.network, s.receiver, s.token, s.account_id) = (p.network, p.receiver, p.token, p.account_id) and p.rest > 0`

const enqueue = insertEvents(
  `select account_id, type, null::uuid as settlement_id, data::json as data
   from unnest($1::text[], $2::text[], $3::text[]) as e (account_id, type, data)`,
)

interface ChannelEventRecord {
  readonly type: ChannelEvent
  readonly channel: z.infer<typeof channelRow>
  /** Why a voucher cannot be claimed. */
  readonly reason?: string
}

export const enqueueEvents = async (
  client: Pick<PoolClient, 'query'>,
  events: readonly ChannelEventRecord[],
): Promise<void> => {
  if (events.length === 0) return
  await client.query(enqueue, [
    events.map(({ channel }) => channel.accountId),
    events.map(({ type }) => type),
    events.map(({ channel, reason }) =>
      JSON.stringify({ ...viewChannel(channel), ...(reason === undefined ? {} : { errorReason: reason }) }),
    ),
  ])
}

const listParts = (changes: readonly Change[]) => [
  changes.map(({ next }) => next.receiver),
  changes.map(({ next }) => next.token),
  changes.map(({ next }) => next.accountId),
  changes.map(({ credited }) => `${credited < 0n ? -credited : credited}`),
]

export const observeChannels =
  (pool: Pool): ChannelLedger['observe'] =>
  (network, seen, at) =>
    inTransaction(pool, async (client) => {
      const { rows } = await client.query(
        `select ${lockedColumns} from channel_vouchers v
           where v.network = $1 and v.channel_id = any($2::text[]) order by v.channel_id for update`,
        [network, seen.map(({ channelId }) => channelId)],
      )
      const byId = new Map(seen.map((each) => [each.channelId, each]))
      const changes = rows.flatMap((value): readonly Change[] => {
        const current = locked.parse(value)
        const found = byId.get(current.channelId)
        return found === undefined ? [] : [describeChange(current, found, at)]
      })
      const written = changes.filter(({ isWritten }) => isWritten).map(({ next }) => next)
      if (written.length > 0) {
        await client.query(writeSeen, [
          network,
          at,
          written.map(({ channelId }) => channelId),
          written.map(({ balance }) => balance?.toString() ?? null),
          written.map(({ claimed }) => claimed.toString()),
          written.map(({ withdrawal }) => withdrawal.toString()),
          written.map(({ withdrawRequestedAt }) => withdrawRequestedAt),
          written.map(({ unclaimedSince }) => unclaimedSince),
          written.map(({ notifiedWithdrawal }) => notifiedWithdrawal),
          written.map(({ notifiedBalance }) => notifiedBalance?.toString() ?? null),
        ])
      }
      const credits = changes.filter((change) => change.credited > 0n)
      if (credits.length > 0) await client.query(credit, [network, at, ...listParts(credits)])
      const undone = changes.filter((change) => change.credited < 0n)
      if (undone.length > 0) await client.query(debit, [network, ...listParts(undone)])
      await enqueueEvents(
        client,
        changes.flatMap((change) => change.events),
      )
      return changes.map(({ next }) => next)
    })
