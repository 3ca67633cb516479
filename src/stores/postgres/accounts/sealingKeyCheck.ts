import type { Pool } from 'pg'
import { z } from 'zod'
import { AppError } from '../../../errors.js'

/** Keeps instances with different secrets from sealing keys that the others cannot open. */
export interface SealingKeyCheck {
  /** Throws a sentence when the database's keys are sealed with another secret. */
  check(): Promise<void>
  /** Makes ours the database's secret unless it has one. Throws SERVICE_UNAVAILABLE when it has another. */
  claim(): Promise<void>
}

const row = z.object({ is_ours: z.boolean() })

/** The mark of the secret that this instance seals with, beside the one that the database knows. */
export const createSealingKeyCheck = (pool: Pool, mark: Uint8Array): SealingKeyCheck => {
  let isClaimed = false
  const isOurs = async (): Promise<boolean | null> => {
    const { rows } = await pool.query('select mark = $1 as is_ours from sealing_secret', [mark])
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
      await pool.query('insert into sealing_secret (mark) values ($1) on conflict do nothing', [mark])
      isClaimed = (await isOurs()) === true
      if (!isClaimed)
        throw new AppError('SERVICE_UNAVAILABLE', 'This instance cannot issue keys at the moment')
    },
  }
}
