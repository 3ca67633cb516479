import type { Pool } from 'pg'
import { z } from 'zod'
import { StartError } from '../../../platform/startError.js'

const row = z.object({ is_sandbox: z.boolean() })

/** The first start decides what the database is for. Throws `StartError` if it is for the other. */
export const claimPurpose = async (
  pool: Pool,
  isSandbox: boolean,
  variable: 'DATABASE_URL' | 'DATA_FOLDER',
): Promise<void> => {
  await pool.query('insert into database_purpose (is_sandbox) values ($1) on conflict do nothing', [
    isSandbox,
  ])
  const { rows } = await pool.query('select is_sandbox from database_purpose')
  if (row.parse(rows[0]).is_sandbox === isSandbox) return
  throw new StartError(
    variable,
    isSandbox
      ? 'holds real payments: the sandbox needs a database of its own.'
      : 'is the database of a sandbox, whose payments never were on a chain: set another one, or SANDBOX=true.',
  )
}
