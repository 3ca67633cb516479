import type { Pool } from 'pg'
import { z } from 'zod'
import { AppError } from '../../../errors.js'

/** Prevents instances with different secrets from encrypting keys that the others cannot decrypt. */
interface SealingKeyCheck {
  /** Throws an operator-facing error when the database's keys are encrypted with another secret. */
  check(): Promise<void>
  /** Registers our secret if the database has none. Throws SERVICE_UNAVAILABLE when it has another. */
  claim(): Promise<void>
}

const row = z.object({ is_ours: z.boolean() })

export const createSealingKeyCheck = (
  pool: Pool,
  keyCheckValue: Uint8Array,
  previousKeyCheckValue: Uint8Array | null = null,
): SealingKeyCheck => {
  let isClaimed = false
  const isOurs = async (): Promise<boolean | null> => {
    const { rows } = await pool.query('select mark = any($1) as is_ours from sealing_secret', [
      previousKeyCheckValue === null ? [keyCheckValue] : [keyCheckValue, previousKeyCheckValue],
    ])
    return rows[0] === undefined ? null : row.parse(rows[0]).is_ours
  }
  return {
    check: async () => {
      if ((await isOurs()) !== false) return
      throw new Error(
        'The API keys in this database are encrypted with another secret. Set KEY_ENCRYPTION_SECRET to the one that all instances share, or restore the file key-encryption-secret of the data folder that made them.',
      )
    },
    claim: async () => {
      if (isClaimed) return
      await pool.query('insert into sealing_secret (mark) values ($1) on conflict do nothing', [
        keyCheckValue,
      ])
      isClaimed = (await isOurs()) === true
      if (!isClaimed)
        throw new AppError('SERVICE_UNAVAILABLE', 'This instance cannot issue keys at the moment')
    },
  }
}
