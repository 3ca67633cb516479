import { randomUUID } from 'node:crypto'
import type { Pool } from 'pg'
import { z } from 'zod'
import type { Account, AccountStore, KeyedAccount } from '../../../ports/accountStore.js'
import { tierName } from '../../../protocol/accounts.js'
import { inTransaction } from '../database/transaction.js'

const row = z.object({
  id: z.string(),
  email: z.string(),
  project: z.string(),
  tier: tierName,
  status: z.enum(['active', 'revoked']),
  created_at: z.date(),
  allowed_ips: z.array(z.string()).nullable(),
  allowed_ref: z.array(z.string()).nullable(),
})
const keyedRow = row.extend({ sealed: z.instanceof(Uint8Array) })

const columns = 'a.id, a.email, a.project, a.tier, a.status, a.created_at, a.allowed_ips, a.allowed_ref'
const newestKey =
  '(select k.sealed from api_keys k where k.account_id = a.id order by k.id desc limit 1) as sealed'

// ASCII case folding, as in the unique index.
const sameEmail = (parameter: string) => `lower(a.email collate "C") = lower(${parameter}::text collate "C")`

const byKey = {
  name: 'find account by key',
  text: `select ${columns} from api_keys k join accounts a on a.id = k.account_id
    where k.fingerprint = $1 and k.status = 'active' and a.status = 'active'`,
  // In the path of every authenticated request.
  query_timeout: 3_000,
}

const toAccount = (value: z.infer<typeof row>): Account => ({
  id: value.id,
  email: value.email,
  project: value.project,
  tier: value.tier,
  status: value.status,
  createdAt: value.created_at,
  allowedIPs: value.allowed_ips,
  allowedRef: value.allowed_ref,
})

const readAccount = (value: unknown): Account => toAccount(row.parse(value))

const readKeyed = (value: unknown): KeyedAccount => {
  const parsed = keyedRow.parse(value)
  return { account: toAccount(parsed), sealed: parsed.sealed }
}

/** `claimSealing` runs before a key is stored; rejects when the database's keys have another secret. */
export const createAccountStore = (
  pool: Pool,
  claimSealing = async (): Promise<void> => {},
): AccountStore => ({
  register: async ({ email, project }, { fingerprint, sealed }) => {
    await claimSealing()
    const opened = await pool.query(
      `with opened as (
         insert into accounts as a (id, email, project) values ($1, $2, $3)
         on conflict (lower(email collate "C"), project) do nothing returning ${columns}
       ), keyed as (
         insert into api_keys (account_id, fingerprint, sealed) select id, $4, $5 from opened returning sealed
       )
       select opened.*, keyed.sealed from opened, keyed`,
      [randomUUID(), email, project, fingerprint, sealed],
    )
    if (opened.rows[0] !== undefined) return { ...readKeyed(opened.rows[0]), isNew: true }
    const { rows } = await pool.query(
      `select ${columns}, ${newestKey} from accounts a where ${sameEmail('$1')} and a.project = $2`,
      [email, project],
    )
    return { ...readKeyed(rows[0]), isNew: false }
  },

  findByKey: async (fingerprint) => {
    const { rows } = await pool.query(byKey, [fingerprint])
    return rows[0] === undefined ? null : readAccount(rows[0])
  },

  find: async (id) => {
    const { rows } = await pool.query(`select ${columns} from accounts a where a.id = $1`, [id])
    return rows[0] === undefined ? null : readAccount(rows[0])
  },

  listByEmail: async (email) => {
    const { rows } = await pool.query(
      `select ${columns}, ${newestKey} from accounts a where ${sameEmail('$1')} order by a.created_at, a.id`,
      [email],
    )
    return rows.map(readKeyed)
  },

  list: async () => {
    const { rows } = await pool.query(`select ${columns} from accounts a order by a.created_at, a.id`)
    return rows.map(readAccount)
  },

  rotate: async (id, from, { fingerprint, sealed }) => {
    const { rowCount } = await pool.query(
      // The row lock excludes a concurrent revocation between the two keys.
      `with owner as (
         select id from accounts where id = $1 and status = 'active' for no key update
       ), retired as (
         update api_keys k set status = 'rotated' from owner
         where k.account_id = owner.id and k.fingerprint = $2 and k.status = 'active' returning k.account_id
       )
       insert into api_keys (account_id, fingerprint, sealed) select account_id, $3, $4 from retired`,
      [id, from, fingerprint, sealed],
    )
    return rowCount === 1
  },

  setRestrictions: async (id, { allowedIPs, allowedRef }) => {
    await pool.query('update accounts set allowed_ips = $2, allowed_ref = $3 where id = $1', [
      id,
      allowedIPs,
      allowedRef,
    ])
  },

  setTier: async (id, tier) => {
    const { rowCount } = await pool.query('update accounts set tier = $2 where id = $1', [id, tier])
    return rowCount === 1
  },

  revoke: (id) =>
    inTransaction(pool, async (client) => {
      const { rowCount } = await client.query("update accounts set status = 'revoked' where id = $1", [id])
      // A separate statement: its snapshot includes the key of a rotation that the first one waited for.
      await client.query(
        "update api_keys set status = 'revoked' where account_id = $1 and status = 'active'",
        [id],
      )
      return rowCount === 1
    }),

  count: async () => {
    const { rows } = await pool.query("select count(*)::int as count from api_keys where status = 'active'")
    return z.object({ count: z.number() }).parse(rows[0]).count
  },
})
