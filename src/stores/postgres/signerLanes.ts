import type { Pool } from 'pg'
import { z } from 'zod'
import type { SignerLanes } from '../../ports/signerLanes.js'

const laneTransaction = z.object({ transaction: z.string(), bytes: z.string(), nonce: z.coerce.number() })

/** Lanes in Postgres, shared by every instance. */
export const createSignerLanes = (pool: Pool): SignerLanes => ({
  advance: async ({ network, signer }, chainNonce) => {
    await pool.query(
      `insert into signer_lanes as lane (network, signer, next_nonce) values ($1, $2, $3)
       on conflict (network, signer) do update set next_nonce = greatest(lane.next_nonce, excluded.next_nonce)`,
      [network, signer, chainNonce],
    )
  },
  listFrom: async ({ network, signer }, nonce, limit) => {
    const { rows } = await pool.query(
      `select transaction, bytes, nonce from broadcasts where network = $1 and signer = $2 and nonce >= $3
       order by nonce limit $4`,
      [network, signer, nonce, limit],
    )
    return rows.map((row) => laneTransaction.parse(row))
  },
})
