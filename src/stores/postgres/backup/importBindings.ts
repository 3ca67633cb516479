import type { Pool } from 'pg'
import { z } from 'zod'
import { atDeadline } from '../../../protocol/heldPayments.js'
import { withoutTimeout } from '../database/statements.js'
import { type ImportOptions, importTables, listedIn } from './importRows.js'

/* Whose channels and holds are, brought into a database that was restored from before they were bound. */

/** Whose channels and holds are, what they are signed for, and what is done at deadlines. Each comes after those that it needs. */
export const bindingTables = [
  'channel_custody',
  'channel_vouchers',
  'channel_sweeps',
  'channel_sweep_shares',
  'held_payments',
  'hold_moves',
  'hold_defaults',
] as const

const sharesTable = 'channel_sweep_shares'

const maxConflicts = 1_000

const conflict = z.object({
  binding: z.enum(['channel', 'hold']),
  network: z.string(),
  id: z.string(),
  account: z.string(),
  accountInFile: z.string(),
})

const defaultConflict = z.object({ account: z.string(), atDeadline, atDeadlineInFile: atDeadline })

const withdrawnDefault = z.object({ account: z.string(), atDeadline })

interface ImportedBindings {
  readonly channels: ImportedRows
  readonly holds: ImportedRows
  /** Channels whose voucher, or what it was charged for, is higher in the file than in the database. */
  readonly raised: number
  /** Bindings to accounts that the database lacks. They stay theirs, and belong to no other account. */
  readonly withoutAccount: number
  /** Of the database and of the file: the former stays. The first thousand. */
  readonly conflicts: readonly z.infer<typeof conflict>[]
  /** What accounts ask for at the deadlines of new holds. */
  readonly defaults: ImportedRows & {
    /** The file has what the account asked for later. */
    readonly changed: number
    /** The account asked here for something else than in the file, and no earlier: that stays. The first thousand. */
    readonly conflicts: readonly z.infer<typeof defaultConflict>[]
    /** The account asked here before the file was written, which lacks it, as it was withdrawn: that stays. The first thousand. */
    readonly withdrawn: readonly z.infer<typeof withdrawnDefault>[]
  }
}

interface ImportedRows {
  /** In the file. */
  readonly listed: number
  /** Those that the database lacked. */
  readonly added: number
}

const channelText = `'0x' || encode(c.channel_id, 'hex')`

const insertMissing = (table: (typeof bindingTables)[number], condition = 'true'): string =>
  `insert into ${table} select l.* from ${listedIn(table)} l where ${condition} on conflict do nothing`

/** The channels of the file whose binding is the same here. */
const isBoundAlike = `exists (select from channel_custody c where c.network = l.network
  and ${channelText} = l.channel_id and c.account = l.account_id)`

// A hold that was made again after the restore has another id: its moves must be found by the keys that they were made with.
const renameHolds = `
  update ${listedIn('hold_moves')} m set held_payment_id = h.id
  from ${listedIn('held_payments')} l join held_payments h using (network, hash)
  where l.id = m.held_payment_id and h.account_id = l.account_id`

// The row of a move needs that of its hold.
const hasHold = `exists (select from held_payments h where h.id = l.held_payment_id and h.account_id = l.account_id)`

// Vouchers, and what signed refunds can take, only rise: as where they come again.
const raiseRefunds = `
  update channel_custody c set refund_nonce = l.refund_nonce,
    refund_amount = case when c.refund_nonce = l.refund_nonce then greatest(c.refund_amount, l.refund_amount) else l.refund_amount end
  from ${listedIn('channel_custody')} l
  where l.network = c.network and l.channel_id = c.channel_id and l.account = c.account
    and l.refund_nonce >= coalesce(c.refund_nonce, 0)`

const raiseVouchers = `
  update channel_vouchers v set ceiling = greatest(l.ceiling, v.ceiling), charged = greatest(l.charged, v.charged),
    signature = case when l.ceiling > v.ceiling then l.signature else v.signature end,
    price = case when l.ceiling > v.ceiling then l.price else v.price end,
    verified_at = greatest(l.verified_at, v.verified_at), unclaimed_since = coalesce(v.unclaimed_since, l.unclaimed_since),
    refusals = case when l.ceiling > v.ceiling then 0 else v.refusals end, is_live = true
  from ${listedIn('channel_vouchers')} l
  where l.network = v.network and l.channel_id = v.channel_id and l.account_id = v.account_id
    and (l.ceiling > v.ceiling or l.charged > v.charged)`

const raiseSweeps = `
  update channel_sweeps s set unswept_since = coalesce(s.unswept_since, l.unswept_since), credits = s.credits + 1
  from ${listedIn('channel_sweeps')} l
  where l.network = s.network and l.receiver = s.receiver and l.token = s.token and s.unswept_since is null and l.unswept_since is not null`

/*
 * Of what a receiver is owed, each account has the part that its channels were credited; an account without a channel of the receiver
 * has none. What was credited since the restore is in both: the higher part counts, which decides only who pays for the payout.
 */
const addShares = `
  insert into ${sharesTable} as s (network, receiver, token, account_id, amount, since, last_credit, passed_at, paid_by, paid_amount, paid_since)
  select l.network, l.receiver, l.token, l.account_id, l.amount, l.since, c.credits, l.passed_at, l.paid_by, l.paid_amount, l.paid_since
  from ${listedIn(sharesTable)} l join channel_sweeps c using (network, receiver, token)
  where exists (select from channel_vouchers v
    where (v.network, v.receiver, v.token, v.account_id) = (l.network, l.receiver, l.token, l.account_id))
  on conflict (network, receiver, token, account_id) do update
    set amount = greatest(s.amount, excluded.amount), since = least(s.since, excluded.since), last_credit = excluded.last_credit`

// An account has the default that it asked for last.
const changeDefaults = `
  update hold_defaults d set at_deadline = l.at_deadline, changed_at = l.changed_at
  from ${listedIn('hold_defaults')} l
  where l.account_id = d.account_id and l.at_deadline <> d.at_deadline and l.changed_at > d.changed_at`

const listDefaultConflicts = `
  select account_id as account, d.at_deadline as "atDeadline", l.at_deadline as "atDeadlineInFile"
  from ${listedIn('hold_defaults')} l join hold_defaults d using (account_id)
  where l.at_deadline <> d.at_deadline order by 1 limit ${maxConflicts}`

const listWithdrawn = `
  select account_id as account, d.at_deadline as "atDeadline" from hold_defaults d
  where d.changed_at < $1::timestamptz and not exists (select from ${listedIn('hold_defaults')} l where l.account_id = d.account_id)
  order by 1 limit ${maxConflicts}`

const listConflicts = `
  select 'channel' as binding, c.network, ${channelText} as id, c.account, l.account as "accountInFile"
  from ${listedIn('channel_custody')} l join channel_custody c using (network, channel_id) where l.account <> c.account
  union all
  select 'hold', h.network, h.hash, h.account_id, l.account_id
  from ${listedIn('held_payments')} l join held_payments h using (network, hash) where l.account_id <> h.account_id
  order by 1, 2, 3 limit ${maxConflicts}`

const countUnknown = `
  select count(*) as count from (
    select account from ${listedIn('channel_custody')} union all select account_id from ${listedIn('held_payments')}) b
  where not exists (select from accounts a where a.id::text = b.account)`

const unknown = z.tuple([z.object({ count: z.coerce.number() })])

/** Never changes whose a channel or a hold is. */
export const importBindings = async (pool: Pool, options: ImportOptions): Promise<ImportedBindings> =>
  await importTables(pool, options, {
    names: bindingTables.filter((name) => name !== sharesTable),
    optional: [sharesTable],
    content: 'bindings of channels and holds',
    add: async (client, { listed, createdAt }) => {
      const run = async (statement: string): Promise<number> =>
        (await client.query(withoutTimeout(statement))).rowCount ?? 0
      const channels = await run(insertMissing('channel_custody'))
      await run(raiseRefunds)
      await run(insertMissing('channel_vouchers', isBoundAlike))
      const raised = await run(raiseVouchers)
      await run(insertMissing('channel_sweeps'))
      await run(raiseSweeps)
      await run(addShares)
      const holds = await run(insertMissing('held_payments'))
      await run(renameHolds)
      await run(insertMissing('hold_moves', hasHold))
      const defaults = await run(insertMissing('hold_defaults'))
      const changed = await run(changeDefaults)
      const { rows: defaultConflicts } = await client.query(withoutTimeout(listDefaultConflicts))
      const { rows: withdrawn } =
        createdAt === null
          ? { rows: [] }
          : await client.query(withoutTimeout(listWithdrawn, [createdAt.toISOString()]))
      const { rows: conflicts } = await client.query(withoutTimeout(listConflicts))
      const { rows: unknowns } = await client.query(withoutTimeout(countUnknown))
      return {
        channels: { listed: listed.channel_custody ?? 0, added: channels },
        holds: { listed: listed.held_payments ?? 0, added: holds },
        raised,
        withoutAccount: unknown.parse(unknowns)[0].count,
        conflicts: conflicts.map((row) => conflict.parse(row)),
        defaults: {
          listed: listed.hold_defaults ?? 0,
          added: defaults,
          changed,
          conflicts: defaultConflicts.map((row) => defaultConflict.parse(row)),
          withdrawn: withdrawn.map((row) => withdrawnDefault.parse(row)),
        },
      }
    },
  })
