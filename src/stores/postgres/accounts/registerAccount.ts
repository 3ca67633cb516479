import { randomUUID } from 'node:crypto'
import type { Pool, PoolClient } from 'pg'
import { z } from 'zod'
import { AppError } from '../../../errors.js'
import type {
  AccountStore,
  Actor,
  KeyedAccount,
  Mailbox,
  Registrant,
  SealedKey,
} from '../../../ports/accountStore.js'
import type { Tiers } from '../../../protocol/tiers.js'
import { inTransaction } from '../database/statements.js'
import { accountColumns, joinPrimaryKey, readKeyed } from './accountRow.js'
import { insertAuditEntry } from './auditLog.js'

const registration: Actor = { actor: 'registration', address: null }
const counted = z.object({ count: z.coerce.number() })
const mailboxRow = z.object({ id: z.string() })

// ASCII case folding, as in the unique index.
export const sameEmail = (parameter: string): string =>
  `lower(a.email collate "C") = lower(${parameter}::text collate "C")`

export const registerAccount =
  (pool: Pool, tiers: Tiers): AccountStore['register'] =>
  async (who, key, { by = registration } = {}) => {
    const known = await findRegistered(pool, who, tiers)
    if (known !== null) return { ...known, isNew: false }
    const opened = await inTransaction(pool, async (client) => {
      // Other projects of the mailbox wait here, so that caps hold.
      const mailboxId = await lockMailbox(client, who)
      if (await isRegistered(client, who)) return null
      await requireProjectLeft(client, who, mailboxId)
      return await openAccount(client, who, { key, mailboxId, by, tiers })
    })
    if (opened !== null) return { ...opened, isNew: true }
    const winner = await findRegistered(pool, who, tiers)
    if (winner === null) throw new Error('The account of a concurrent registration was not found')
    return { ...winner, isNew: false }
  }

const findRegistered = async (
  pool: Pool,
  { email, project }: Registrant,
  tiers: Tiers,
): Promise<KeyedAccount | null> => {
  const { rows } = await pool.query(
    `select ${accountColumns}, primary_key.* from accounts a ${joinPrimaryKey}
     where ${sameEmail('$1')} and a.project = $2`,
    [email, project],
  )
  return rows[0] === undefined ? null : readKeyed(rows[0], tiers)
}

const isRegistered = async (client: PoolClient, { email, project }: Registrant): Promise<boolean> => {
  const { rowCount } = await client.query(
    `select from accounts a where ${sameEmail('$1')} and a.project = $2`,
    [email, project],
  )
  return rowCount === 1
}

/** A new mailbox waits for its domain before it is inserted; a known one does not need the domain: no deadlocks. */
const lockMailbox = async (client: PoolClient, { email, identity }: Registrant): Promise<string> => {
  const { mailbox, domain, maxMailboxes } = identity ?? { mailbox: email, domain: '', maxMailboxes: null }
  const lock = 'select id from mailboxes where mailbox = $1 for update'
  const { rows: known } = await client.query(lock, [mailbox])
  if (known[0] !== undefined) return mailboxRow.parse(known[0]).id
  if (maxMailboxes !== null) {
    await client.query('/* account */ select pg_advisory_xact_lock(hashtextextended($1, 7140402))', [domain])
    const { rows } = await client.query('select count(*) from mailboxes where domain = $1', [domain])
    if (counted.parse(rows[0]).count >= maxMailboxes) {
      throw new AppError('FORBIDDEN', 'Too many addresses of this e-mail domain are registered')
    }
  }
  await client.query('insert into mailboxes (mailbox, domain) values ($1, $2) on conflict do nothing', [
    mailbox,
    domain,
  ])
  const { rows } = await client.query(lock, [mailbox])
  return mailboxRow.parse(rows[0]).id
}

const requireProjectLeft = async (
  client: PoolClient,
  { identity }: Registrant,
  mailboxId: string,
): Promise<void> => {
  const maxProjects = identity?.maxProjects ?? null
  if (maxProjects === null) return
  const { rows } = await client.query('select count(*) from accounts where mailbox_id = $1', [mailboxId])
  if (counted.parse(rows[0]).count < maxProjects) return
  throw new AppError('FORBIDDEN', `An e-mail address may have at most ${maxProjects} projects`)
}

interface Opening {
  readonly key: SealedKey
  readonly mailboxId: string
  readonly tiers: Tiers
  readonly by: Actor
}

/** Null if a concurrent registration was faster. */
const openAccount = async (
  client: PoolClient,
  { id = randomUUID(), email, project, isProven, registrant = null }: Registrant,
  { key, mailboxId, by, tiers }: Opening,
): Promise<KeyedAccount | null> => {
  const { rows } = await client.query(
    `with opened as (
       insert into accounts as a (id, email, project, mailbox_id, tier, is_proven, registrant)
         values ($1, $2, $3, $6, $7, $8, $9)
       on conflict (lower(email collate "C"), project) do nothing returning ${accountColumns}
     ), keyed as (
       insert into api_keys (account_id, fingerprint, sealed) select id, $4, $5 from opened
       returning fingerprint, sealed
     )
     select opened.*, keyed.fingerprint, keyed.sealed from opened, keyed`,
    [
      id,
      email,
      project,
      key.fingerprint,
      key.sealed,
      mailboxId,
      tiers.registration,
      isProven ?? null,
      registrant,
    ],
  )
  if (rows[0] === undefined) return null
  await insertAuditEntry(client, { accountId: id, action: 'account.registered', ...by, details: {} })
  return readKeyed(rows[0], tiers)
}

const unlinkedRow = z.object({ id: z.string(), email: z.string() })
const mailboxBatchSize = 500

/**
 * Links accounts to their mailboxes that the migration, or an instance of an older version, did not link. Idempotent;
 * any number of instances may run it at once.
 */
export const fillMailboxes = async (pool: Pool, readMailbox: (email: string) => Mailbox): Promise<void> => {
  for (;;) {
    const { rows } = await pool.query(
      `select id, email from accounts where mailbox_id is null order by id limit ${mailboxBatchSize}`,
    )
    if (rows.length === 0) return
    const found = rows.map((value) => {
      const { id, email } = unlinkedRow.parse(value)
      return { id, ...readMailbox(email) }
    })
    const mailboxes = found.map(({ mailbox }) => mailbox)
    await pool.query(
      `insert into mailboxes (mailbox, domain)
       select distinct m.mailbox, m.domain from unnest($1::text[], $2::text[]) as m (mailbox, domain)
       order by 1 on conflict do nothing`,
      [mailboxes, found.map(({ domain }) => domain)],
    )
    await pool.query(
      `update accounts a set mailbox_id = m.id
       from unnest($1::uuid[], $2::text[]) as f (id, mailbox) join mailboxes m using (mailbox)
       where a.id = f.id and a.mailbox_id is null`,
      [found.map(({ id }) => id), mailboxes],
    )
  }
}
