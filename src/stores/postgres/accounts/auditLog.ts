import type { Pool, PoolClient } from 'pg'
import { z } from 'zod'
import type { AuditEntry, AuditLog } from '../../../ports/accountStore.js'
import { auditAction } from '../../../protocol/accounts.js'
import { withoutNul } from '../database/statements.js'

const row = z.object({
  id: z.string(),
  account_id: z.string(),
  created_at: z.date(),
  action: auditAction,
  actor: z.string(),
  address: z.string().nullable(),
  details: z.record(z.string(), z.json()),
})

const retention = '400 days'

/** Call it in the transaction of the change. */
export const insertAuditEntry = async (
  client: Pick<PoolClient, 'query'>,
  { accountId, action, actor, address, details }: Omit<AuditEntry, 'id' | 'createdAt'>,
): Promise<void> => {
  await client.query(
    'insert into audit_log (account_id, action, actor, address, details) values ($1, $2, $3, $4, $5)',
    [accountId, action, withoutNul(actor), address, JSON.stringify(details)],
  )
}

export const createAuditLog = (pool: Pool): AuditLog => ({
  record: (entry) => insertAuditEntry(pool, entry),

  list: async (accountId, { limit, before }) => {
    const { rows } = await pool.query(
      `select id, account_id, created_at, action, actor, address, details from audit_log
       where account_id = $1 and ($2::uuid is null or (created_at, id) < (
         (select created_at from audit_log where id = $2 and account_id = $1), $2))
       order by created_at desc, id desc limit $3`,
      [accountId, before ?? null, limit],
    )
    return rows.map((value) => {
      const entry = row.parse(value)
      return { ...entry, accountId: entry.account_id, createdAt: entry.created_at }
    })
  },

  purge: async () => {
    await pool.query(`delete from audit_log where created_at < now() - interval '${retention}'`)
  },
})
