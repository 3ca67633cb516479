import type { Pool } from 'pg'
import { z } from 'zod'
import { Secret } from '../../../platform/secret.js'
import { StartError } from '../../../platform/startError.js'
import { describeConnectionProblem } from './connectionProblem.js'
import { openPool } from './pool.js'

const rows = z.tuple([z.object({ claimed: z.boolean().nullable(), is_shared: z.boolean() })])

interface PurposeClaimant {
  /** Its own instance, which is announced. */
  readonly instanceId: string
  readonly isSandbox: boolean
  /** Which variable names the database. */
  readonly variable: 'DATABASE_URL' | 'DATA_FOLDER'
}

/**
 * The first settlement, account, stream, intent or consumed authorization decides what a database is for
 * (`0038_claimed_purpose.sql`); until then, the instances that run on it. Throws `StartError` if it is for the other kind.
 * Of two instances of either kind that start at the same time at most one passes, because both are announced before; both
 * may have to start again.
 */
export const checkPurpose = async (
  pool: Pool,
  { instanceId, isSandbox, variable }: PurposeClaimant,
): Promise<void> => {
  const found = await pool.query(
    `select (select is_sandbox from database_purpose) as claimed,
       exists (select from instances
         where id <> $1 and is_sandbox <> $2 and seen_at > now() - interval '10 seconds') as is_shared`,
    [instanceId, isSandbox],
  )
  const [{ claimed, is_shared: isShared }] = rows.parse(found.rows)
  if (claimed !== null && claimed !== isSandbox) {
    throw new StartError(
      variable,
      isSandbox
        ? 'holds real payments: the sandbox needs a database of its own.'
        : 'is the database of a sandbox, whose payments never were on a chain: set another one, or SANDBOX=true.',
    )
  }
  // One of the other kind is about to be refused.
  if (claimed === null && isShared) {
    throw new StartError(
      variable,
      `is the database of a running ${isSandbox ? 'instance with real payments' : 'sandbox'}: set another one.`,
    )
  }
}

/** For what is written without an instance. Throws an operator-facing error if the database is for the other kind. */
export const claimPurpose = async (client: Pick<Pool, 'query'>, isSandbox: boolean): Promise<void> => {
  await client.query('insert into database_purpose (is_sandbox) values ($1) on conflict do nothing', [
    isSandbox,
  ])
  const found = await client.query('select is_sandbox as claimed, false as is_shared from database_purpose')
  if (rows.parse(found.rows)[0].claimed === isSandbox) return
  throw new Error(
    isSandbox
      ? 'The database holds real payments, and not those of a sandbox. Set SANDBOX=false.'
      : 'The database is that of a sandbox. Set SANDBOX=true, or name another one.',
  )
}

const suffix = '_sandbox'

// NAMEDATALEN - 1: Postgres cuts longer names, and would open another database.
const maxNameBytes = 63

interface SandboxDatabase {
  readonly url: Secret
  readonly name: string
  /** Whether it is another database than the one that was named. */
  readonly isApart: boolean
  /** Whether the one that was named holds real payments. */
  readonly isBesidePayments: boolean
  /** False only where it is not to be created. */
  readonly exists: boolean
}

/**
 * The database of a sandbox is beside the one for real payments, on the same server and with `_sandbox` after its name: a
 * database, because poolers in transaction mode keep no search path. It is the one that was named where its name ends so, or
 * where it already is a sandbox's. `creates`: makes it if it is missing. Throws `StartError`.
 */
export const findSandboxDatabase = async (
  given: Secret,
  { creates }: { readonly creates: boolean },
): Promise<SandboxDatabase> => {
  const here = { url: given, isApart: false, isBesidePayments: false, exists: true }
  const named = readName(given)
  if (named?.endsWith(suffix)) return { ...here, name: named }
  const pool = openPool({ url: given.reveal(), maxConnections: 1, onError: () => undefined })
  try {
    const { current, isSandbox, hasPayments } = await readPurpose(pool)
    if (isSandbox) return { ...here, name: named ?? current }
    const name = `${named ?? current}${suffix}`
    if (Buffer.byteLength(name) > maxNameBytes) {
      throw new StartError('DATABASE_URL', `the name of the sandbox's database, "${name}", is too long.`)
    }
    const place = { url: rename(given, name), name, isApart: true, isBesidePayments: hasPayments }
    if (await isThere(pool, name)) return { ...place, exists: true }
    if (!creates) return { ...place, exists: false }
    await create(pool, name)
    return { ...place, exists: true }
  } catch (cause) {
    if (cause instanceof StartError) throw cause
    throw new StartError('DATABASE_URL', describeConnectionProblem(cause, given.reveal()), { cause })
  } finally {
    await pool.end()
  }
}

/** Null where the URL leaves it to the server. */
const readName = (url: Secret): string | null => {
  const path = new URL(url.reveal()).pathname.slice(1)
  return path === '' ? null : decodeURIComponent(path)
}

const rename = (url: Secret, name: string): Secret => {
  const renamed = new URL(url.reveal())
  renamed.pathname = `/${encodeURIComponent(name)}`
  return new Secret(renamed.href)
}

// What a sandbox of an older version can have kept. The oldest have not all of these tables.
const keptTables = ['settlements', 'accounts', 'streams', 'intents']

const currentRows = z.tuple([
  z.object({ current: z.string(), has_purpose: z.boolean(), kept: z.array(z.string()) }),
])
const purposeRows = z.array(z.object({ is_sandbox: z.boolean(), has_payments: z.boolean() }))

const readPurpose = async (pool: Pool) => {
  const found = await pool.query(
    `select current_database() as current, to_regclass('database_purpose') is not null as has_purpose,
       array(select name from unnest($1::text[]) name where to_regclass(name) is not null) as kept`,
    [keptTables],
  )
  const [{ current, has_purpose: hasPurpose, kept }] = currentRows.parse(found.rows)
  if (!hasPurpose) return { current, isSandbox: false, hasPayments: false }
  const { rows } = await pool
    .query(
      // The start of a version before 0038_claimed_purpose.sql claimed the database also without anything to keep.
      `select exists (select from settlements) as has_payments,
         is_sandbox and (${kept.map((table) => `exists (select from ${table}) or`).join(' ')}
           exists (select from instances where seen_at > now() - interval '1 minute')) as is_sandbox
       from database_purpose`,
    )
    .catch((error: unknown) => {
      // A sandbox may have a user of its own, which cannot read what it does not need.
      if (error instanceof Error && 'code' in error && error.code === '42501') return { rows: [] }
      throw error
    })
  const [purpose = { is_sandbox: false, has_payments: false }] = purposeRows.parse(rows)
  return {
    current,
    isSandbox: purpose.is_sandbox,
    hasPayments: purpose.has_payments && !purpose.is_sandbox,
  }
}

const isThere = async (pool: Pool, name: string): Promise<boolean> =>
  (await pool.query('select from pg_database where datname = $1', [name])).rowCount === 1

// Another instance created it at the same time.
const existsAlready = ['42P04', '23505']

const create = async (pool: Pool, name: string): Promise<void> => {
  try {
    // template1 cannot be copied while anyone is connected to it.
    await pool.query(`create database "${name.replaceAll('"', '""')}" template template0`)
  } catch (cause) {
    const code = cause instanceof Error && 'code' in cause ? String(cause.code) : ''
    if (existsAlready.includes(code)) return
    if (code !== '42501') throw cause
    throw new StartError(
      'DATABASE_URL',
      `the sandbox keeps its data in the database "${name}", which does not exist, and this user may not create it. Create it with this user as its owner, or name a database whose name ends in ${suffix}.`,
      { cause },
    )
  }
}
