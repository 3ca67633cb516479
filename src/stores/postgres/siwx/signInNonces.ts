import { createHash } from 'node:crypto'
import type { Pool } from 'pg'
import type { SignInNonces, UsedNonce } from '../../../ports/walletSignatures.js'
import { purgeExpired } from '../database/statements.js'

/** The primary key decides which of several instances was first. */
export const createSignInNonces = (pool: Pool): SignInNonces => ({
  use: async (used) => {
    const { rowCount } = await pool.query(
      'insert into siwx_nonces (digest, expires_at) values ($1, $2) on conflict (digest) do nothing',
      [digestOf(used), used.expiresAt],
    )
    return rowCount === 1
  },

  purge: (stopped) => purgeExpired(pool, 'siwx_nonces', { stopped }),
})

/** Neither domains nor nonces contain a line break. */
const digestOf = ({ domain, nonce }: Pick<UsedNonce, 'domain' | 'nonce'>): Buffer =>
  createHash('sha256').update(`${domain.toLowerCase()}\n${nonce}`).digest()
