import type { Pool } from 'pg'
import { z } from 'zod'
import type {
  Recipient,
  RecipientStatements,
  StoredStatement,
  UniqueAmounts,
} from '../../../ports/recipients.js'
import { insertAuditEntry } from '../accounts/auditLog.js'
import { coalesce } from '../database/coalesce.js'
import { inTransaction, purgeExpired } from '../database/statements.js'

const row = z.object({
  network: z.string(),
  pay_to: z.string(),
  account_id: z.string(),
  memo: z.boolean(),
  signed_claim: z.boolean(),
  unique_amount: z.boolean(),
  own_key: z.boolean(),
  stated_at: z.date(),
})

const columns = 'network, pay_to, account_id, memo, signed_claim, unique_amount, own_key, stated_at'

const readStatement = (value: unknown): StoredStatement => {
  const { network, pay_to, account_id, memo, stated_at, ...demands } = row.parse(value)
  return {
    network,
    payTo: pay_to,
    accountId: account_id,
    demands: {
      memo,
      signedClaim: demands.signed_claim,
      uniqueAmount: demands.unique_amount,
      ownKey: demands.own_key,
    },
    statedAt: stated_at,
  }
}

const describe = ({ network, payTo }: Recipient) => ({ network, payTo })

/** In the order of the recipients, of which several may be equal. */
const findAll = async (
  pool: Pool,
  recipients: readonly Recipient[],
): Promise<readonly (StoredStatement | null)[]> => {
  const { rows } = await pool.query(
    `select ${columns} from recipient_statements
     where (network, pay_to) in (select * from unnest($1::text[], $2::text[]))`,
    [recipients.map(({ network }) => network), recipients.map(({ payTo }) => payTo)],
  )
  const found = rows.map(readStatement)
  return recipients.map(
    ({ network, payTo }) => found.find((each) => each.network === network && each.payTo === payTo) ?? null,
  )
}

export const createRecipientStatements = (pool: Pool): RecipientStatements => ({
  find: coalesce((recipients) => findAll(pool, recipients)),

  list: async (accountId) => {
    const { rows } = await pool.query(
      `select ${columns} from recipient_statements where account_id = $1 order by stated_at, network, pay_to`,
      [accountId],
    )
    return rows.map(readStatement)
  },

  state: ({ network, payTo, accountId, demands }, { by, maxStatements }) =>
    inTransaction(pool, async (client) => {
      // Statements of one account are counted one after the other.
      await client.query('select from accounts where id = $1 for no key update', [accountId])
      const { rows } = await client.query(
        `insert into recipient_statements as s (network, pay_to, account_id, memo, signed_claim,
           unique_amount, own_key)
         select $1, $2, $3, $4, $5, $6, $7
         where (select count(*) from recipient_statements
           where account_id = $3 and (network, pay_to) <> ($1, $2)) < $8
         on conflict (network, pay_to) do update set account_id = excluded.account_id, memo = excluded.memo,
           signed_claim = excluded.signed_claim, unique_amount = excluded.unique_amount, own_key = excluded.own_key, stated_at = now()
         returning ${columns}`,
        [
          network,
          payTo,
          accountId,
          demands.memo,
          demands.signedClaim,
          demands.uniqueAmount,
          demands.ownKey,
          maxStatements,
        ],
      )
      if (rows[0] === undefined) return null
      const details = { network, payTo, claims: { ...demands } }
      await insertAuditEntry(client, { accountId, action: 'recipient.stated', ...by, details })
      return readStatement(rows[0])
    }),

  delete: (accountId, recipient, by) =>
    inTransaction(pool, async (client) => {
      const { rowCount } = await client.query(
        'delete from recipient_statements where account_id = $1 and network = $2 and pay_to = $3',
        [accountId, recipient.network, recipient.payTo],
      )
      if (rowCount !== 1) return false
      const details = describe(recipient)
      await insertAuditEntry(client, { accountId, action: 'recipient.deleted', ...by, details })
      return true
    }),
})

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
