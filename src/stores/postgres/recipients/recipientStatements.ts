import type { Pool } from 'pg'
import { z } from 'zod'
import type { Recipient, RecipientStatements, StoredStatement } from '../../../ports/recipients.js'
import { insertAuditEntry } from '../accounts/auditLog.js'
import { coalesce } from '../database/coalesce.js'
import { inTransaction } from '../database/transaction.js'

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
