import type { Pool, PoolClient } from 'pg'
import { z } from 'zod'
import { atDeadline } from '../../../protocol/heldPayments.js'
import { readMigrations } from '../database/migrationFiles.js'
import { claimPurpose } from '../database/purpose.js'
import { inTransaction, withoutTimeout } from '../database/statements.js'
import { BackupFileError, type BackupHeader, listTables, quote, readBackup } from './readBackup.js'
import { refuseRunningService, writeInsertion } from './restoreBackup.js'

/* Adds rows of a file of `writeBackup`, which can also be a whole backup, to a database that has others; all or nothing. */

interface ImportOptions {
  readonly file: string
  readonly migrationsFolder: URL
  readonly isSandbox?: boolean
}

interface ReadTables {
  /** Rows of each table. */
  readonly listed: Readonly<Record<string, number>>
  /** When the file was begun; null: it does not say. */
  readonly createdAt: Date | null
}

const listedIn = (table: string): string => `listed_${table}`

/**
 * Fills a temporary table for each table that the file must have, and has `add` take the rows from there. Not beside a service,
 * whose writes would wait for it. Throws `BackupFileError` for a file that is incomplete or of another version.
 */
const importTables = async <Result>(
  pool: Pool,
  { file, migrationsFolder, isSandbox = false }: ImportOptions,
  {
    names,
    content,
    add,
  }: {
    readonly names: readonly string[]
    readonly content: string
    readonly add: (client: PoolClient, read: ReadTables) => Promise<Result>
  },
): Promise<Result> => {
  const migrations = await readMigrations(migrationsFolder)
  return await inTransaction(pool, async (client) => {
    await client.query(
      `set local statement_timeout = 0; set local timezone = 'UTC'; set local datestyle = 'ISO, MDY'`,
    )
    await refuseRunningService(client, 'Nothing was imported.')
    await claimPurpose(client, isSandbox)
    const known = await listTables(client, migrations)
    const tables = new Map(known.filter(({ name }) => names.includes(name)).map((each) => [each.name, each]))
    if (tables.size < names.length) throw new Error(`The database has no ${content}: start the service once.`)
    for (const name of names) {
      await client.query(
        `create temporary table ${quote(listedIn(name))} (like ${quote(name)}) on commit drop`,
      )
    }
    const listed: Record<string, number> = {}
    let createdAt: Date | null = null
    for await (const part of readBackup(file)) {
      if (part.kind === 'header') {
        requirePurpose(part.header, { file, isSandbox })
        createdAt = readInstant(part.header.createdAt)
      }
      const table = part.kind === 'table' || part.kind === 'rows' ? tables.get(part.table) : undefined
      if (table === undefined) continue
      if (part.kind === 'table') {
        if (part.columns.join() !== table.columns.map(({ name }) => name).join())
          throw new BackupFileError(`${file} is of another version.`)
        listed[table.name] = 0
      }
      if (part.kind !== 'rows') continue
      listed[table.name] = (listed[table.name] ?? 0) + part.lines.length
      const insertion = writeInsertion({ ...table, name: listedIn(table.name) })
      await client.query(withoutTimeout(insertion, [`[${part.lines.join()}]`]))
    }
    if (names.some((name) => listed[name] === undefined))
      throw new BackupFileError(`${file} has no ${content}.`)
    return await add(client, { listed, createdAt })
  })
}

export const consumedTable = 'consumed_authorizations'

interface ImportedConsumed {
  /** In the file. */
  readonly listed: number
  /** Those that the database lacked. From now on they settle nothing again. */
  readonly added: number
  /** Those that another settlement, or one with other terms, has consumed here. */
  readonly contradicted: number
  /** Consumed authorizations of the database, of the file or not, whose settlement the journal lacks. */
  readonly withoutSettlement: number
}

const counted = z.tuple([
  z.object({ contradicted: z.coerce.number(), without_settlement: z.coerce.number() }),
])

export const importConsumed = async (pool: Pool, options: ImportOptions): Promise<ImportedConsumed> =>
  await importTables(pool, options, {
    names: [consumedTable],
    content: 'consumed authorizations',
    add: async (client, { listed: { [consumedTable]: listed = 0 } }) => {
      const { rowCount } = await client.query(
        withoutTimeout(
          `insert into ${consumedTable} select * from ${listedIn(consumedTable)} order by digest on conflict (digest) do nothing`,
        ),
      )
      const { rows } = await client.query(
        withoutTimeout(
          `select (select count(*) from ${listedIn(consumedTable)} l join ${consumedTable} c using (digest)
               where (l.settlement_id, l.terms) <> (c.settlement_id, c.terms)) as contradicted,
             (select count(*) from ${consumedTable} c
               where c.consumed_at >= archived_before()
                 and not exists (select 1 from settlements s where s.id = c.settlement_id)) as without_settlement`,
        ),
      )
      const [{ contradicted, without_settlement: withoutSettlement }] = counted.parse(rows)
      return { listed, added: rowCount ?? 0, contradicted, withoutSettlement }
    },
  })

/** Whose channels and holds are, what they are signed for, and what is done at deadlines. Each comes after those that it needs. */
export const bindingTables = [
  'channel_custody',
  'channel_vouchers',
  'channel_sweeps',
  'held_payments',
  'hold_moves',
  'hold_defaults',
] as const

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
    names: bindingTables,
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

const readInstant = (text: string): Date | null => {
  const at = new Date(text)
  return Number.isNaN(at.getTime()) ? null : at
}

/** What never was on a chain must not keep a payment from being settled there. */
const requirePurpose = (
  header: BackupHeader,
  { file, isSandbox }: { readonly file: string; readonly isSandbox: boolean },
): void => {
  if (header.isSandbox === null || header.isSandbox === isSandbox) return
  throw new BackupFileError(
    isSandbox
      ? `${file} is of real payments, and the database of a sandbox. Nothing was imported.`
      : `${file} is of a sandbox, and the database of real payments. Nothing was imported.`,
  )
}
