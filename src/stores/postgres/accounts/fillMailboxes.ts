import type { Pool } from 'pg'
import { z } from 'zod'
import type { Mailbox } from '../../../ports/accountStore.js'

const row = z.object({ id: z.string(), email: z.string() })
const batchSize = 500

/**
 * Links accounts to their mailboxes that the migration, or an instance of an older version, did not link. Idempotent;
 * any number of instances may run it at once.
 */
export const fillMailboxes = async (pool: Pool, readMailbox: (email: string) => Mailbox): Promise<void> => {
  for (;;) {
    const { rows } = await pool.query(
      `select id, email from accounts where mailbox_id is null order by id limit ${batchSize}`,
    )
    if (rows.length === 0) return
    const found = rows.map((value) => {
      const { id, email } = row.parse(value)
      return { id, ...readMailbox(email) }
    })
    const mailboxes = found.map(({ mailbox }) => mailbox)
    await pool.query(
      `insert into mailboxes (mailbox, domain)
       select distinct m.mailbox, m.domain from unnest($1::text[], $2::text[]) as m (mailbox, domain)
       order by 1 on conflict do nothing`,
      [mailboxes, found.map(({ domain }) => domain)],
    )
    await pool.query(
      `update accounts a set mailbox_id = m.id
       from unnest($1::uuid[], $2::text[]) as f (id, mailbox) join mailboxes m using (mailbox)
       where a.id = f.id and a.mailbox_id is null`,
      [found.map(({ id }) => id), mailboxes],
    )
  }
}
