import type { Pool } from 'pg'
import { z } from 'zod'
import type { UniqueAmounts } from '../../../ports/recipients.js'
import { purgeExpired } from '../database/purgeExpired.js'

// Concurrent requests can pick the same free amount; one of them gets it.
const maxAttempts = 8

const issued = z.object({ amount: z.string() })
const found = z.object({ issued_at: z.date() })

export const createUniqueAmounts = (pool: Pool): UniqueAmounts => ({
  issue: async ({ purse, base, maxTail, digest, issuedAt, expiresAt }) => {
    const { network, payTo, asset } = purse
    for (let attempt = 0; attempt < maxAttempts; attempt++) {
      const { rows, rowCount } = await pool.query(
        `with free as (
           select $4::numeric + tail as amount from generate_series(1, $5::integer) tail
           where not exists (select 1 from unique_amounts u
             where u.network = $1 and u.pay_to = $2 and u.asset = $3 and u.amount = $4::numeric + tail
               and u.expires_at > $7)
           order by random() limit 1
         ), issued as (
           insert into unique_amounts as u (network, pay_to, asset, amount, digest, issued_at, expires_at)
           select $1, $2, $3, amount, $6, $7, $8 from free
           on conflict (network, pay_to, asset, amount) do update
             set digest = excluded.digest, issued_at = excluded.issued_at, expires_at = excluded.expires_at
             where u.expires_at <= excluded.issued_at
           returning u.amount
         )
         select (select amount from issued)::text as amount from free`,
        [network, payTo, asset, `${base}`, maxTail, digest, issuedAt, expiresAt],
      )
      if (rowCount === 0) return null
      const reading = issued.safeParse(rows[0])
      if (reading.success) return BigInt(reading.data.amount)
    }
    return null
  },

  find: async ({ purse, amount, digest }) => {
    const { network, payTo, asset } = purse
    const { rows } = await pool.query(
      `select issued_at from unique_amounts
       where network = $1 and pay_to = $2 and asset = $3 and amount = $4 and digest = $5`,
      [network, payTo, asset, `${amount}`, digest],
    )
    return rows[0] === undefined ? null : { ...purse, amount, issuedAt: found.parse(rows[0]).issued_at }
  },

  purge: (stopped) => purgeExpired(pool, 'unique_amounts', { stopped }),
})
