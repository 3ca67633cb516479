import { createHash } from 'node:crypto'
import type { Pool } from 'pg'
import type { SignInNonces, UsedNonce } from '../../../ports/signInNonces.js'
import { purgeInBatches } from '../database/purgeInBatches.js'

const purgeBatch = 1_000

/** The primary key decides which of several instances was first. */
export const createSignInNonces = (pool: Pool): SignInNonces => ({
  use: async (used) => {
    const { rowCount } = await pool.query(
      'insert into siwx_nonces (digest, expires_at) values ($1, $2) on conflict (digest) do nothing',
      [digestOf(used), used.expiresAt],
    )
    return rowCount === 1
  },

  purge: (stopped) =>
    purgeInBatches(stopped, async () => {
      const { rowCount } = await pool.query(
        `delete from siwx_nonces where digest in (
           select digest from siwx_nonces where expires_at <= now()
           order by expires_at limit $1 for update skip locked)`,
        [purgeBatch],
      )
      return rowCount === purgeBatch
    }),
})

/** Neither domains nor nonces contain a line break. */
const digestOf = ({ domain, nonce }: Pick<UsedNonce, 'domain' | 'nonce'>): Buffer =>
  createHash('sha256').update(`${domain.toLowerCase()}\n${nonce}`).digest()
