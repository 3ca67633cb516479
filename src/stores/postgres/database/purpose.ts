import type { Pool } from 'pg'
import { z } from 'zod'
import { StartError } from '../../../platform/startError.js'

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
