import type { Pool, PoolClient } from 'pg'
import { z } from 'zod'
import type { AccountStore, Actor } from '../../../ports/accountStore.js'
import { inTransaction } from '../database/statements.js'
import { keyColumns, readKey } from './accountRow.js'
import { insertAuditEntry } from './auditLog.js'

const unknownActor: Actor = { actor: 'unknown', address: null }
const isValid = "k.status in ('active', 'retiring') and (k.expires_at is null or k.expires_at > now())"
const isListed = "k.status in ('active', 'retiring')"

const keyRow = z.object({
  id: z.coerce.bigint(),
  public_id: z.string(),
  name: z.string(),
  scopes: z.array(z.string()),
  is_primary: z.boolean(),
  expires_at: z.date().nullable(),
})
const addedRow = z.object({ public_id: z.string(), created_at: z.date() })
const revocableRow = z.object({ name: z.string(), is_primary: z.boolean() })
const counted = z.object({ count: z.coerce.number() })

/** The row lock excludes a concurrent revocation, and orders changes to the keys of one account. */
const lockAccount = async (client: PoolClient, id: string): Promise<boolean> => {
  const { rowCount } = await client.query(
    "select from accounts where id = $1 and status = 'active' for no key update",
    [id],
  )
  return rowCount === 1
}

export const createKeyMethods = (
  pool: Pool,
  claimSealing: () => Promise<void>,
): Pick<AccountStore, 'rotate' | 'addKey' | 'listKeys' | 'revokeKey' | 'recordKeyUses'> => ({
  rotate: (id, from, { fingerprint, sealed }, { by = unknownActor, graceMs = 0 } = {}) =>
    inTransaction(pool, async (client) => {
      if (!(await lockAccount(client, id))) return false
      const { rows } = await client.query(
        `select k.id, k.public_id, k.name, k.scopes, k.is_primary, k.expires_at from api_keys k
         where k.account_id = $1 and k.fingerprint = $2 and k.status = 'active'
           and (k.expires_at is null or k.expires_at > now()) for update`,
        [id, from],
      )
      if (rows[0] === undefined) return false
      const old = keyRow.parse(rows[0])
      await retire(client, old.id, graceMs)
      await client.query(
        `insert into api_keys (account_id, fingerprint, sealed, name, scopes, is_primary, expires_at)
         values ($1, $2, $3, $4, $5, $6, $7)`,
        [id, fingerprint, sealed, old.name, old.scopes, old.is_primary, old.expires_at],
      )
      const details = { key: old.name, keyId: old.public_id, graceSeconds: graceMs / 1_000 }
      await insertAuditEntry(client, { accountId: id, action: 'key.rotated', ...by, details })
      return true
    }),

  addKey: async (id, { fingerprint, sealed, name, scopes, expiresAt }, { by = unknownActor, maxKeys }) => {
    await claimSealing()
    return await inTransaction(pool, async (client) => {
      if (!(await lockAccount(client, id))) return null
      const { rows: valid } = await client.query(
        `select count(*) from api_keys k where k.account_id = $1 and ${isValid}`,
        [id],
      )
      if (counted.parse(valid[0]).count >= maxKeys) return null
      const { rows } = await client.query(
        `insert into api_keys (account_id, fingerprint, sealed, name, scopes, expires_at, is_primary)
         values ($1, $2, $3, $4, $5, $6, false) returning public_id, created_at`,
        [id, fingerprint, sealed, name, scopes, expiresAt],
      )
      const added = addedRow.parse(rows[0])
      const details = {
        key: name,
        keyId: added.public_id,
        scopes: [...scopes],
        expiresAt: expiresAt?.toISOString() ?? null,
      }
      await insertAuditEntry(client, { accountId: id, action: 'key.created', ...by, details })
      return { id: added.public_id, createdAt: added.created_at }
    })
  },

  listKeys: async (id) => {
    const { rows } = await pool.query(
      `select ${keyColumns} from api_keys k where k.account_id = $1 and ${isListed} order by k.id`,
      [id],
    )
    return rows.map(readKey)
  },

  revokeKey: (id, keyId, { by = unknownActor } = {}) =>
    inTransaction(pool, async (client) => {
      if (!(await lockAccount(client, id))) return null
      const { rows } = await client.query(
        `select k.name, k.is_primary from api_keys k
         where k.account_id = $1 and k.public_id = $2 and ${isListed} for update`,
        [id, keyId],
      )
      if (rows[0] === undefined) return null
      const { name, is_primary: isPrimary } = revocableRow.parse(rows[0])
      if (isPrimary) return 'primary'
      await client.query("update api_keys set status = 'revoked' where account_id = $1 and public_id = $2", [
        id,
        keyId,
      ])
      await insertAuditEntry(client, {
        accountId: id,
        action: 'key.revoked',
        ...by,
        details: { key: name, keyId },
      })
      return 'revoked'
    }),

  recordKeyUses: async (uses) => {
    await pool.query(
      // In one order, so that concurrent instances cannot deadlock.
      `update api_keys k set last_used_at = greatest(k.last_used_at, u.at)
       from (select used.id, used.at from unnest($1::uuid[], $2::timestamptz[]) as used (id, at)
         join api_keys on api_keys.public_id = used.id order by api_keys.id for no key update of api_keys) u
       where k.public_id = u.id`,
      [[...uses.keys()], [...uses.values()]],
    )
  },
})

/** A leaked key must not create others during the grace period: it loses the scope `manage`. */
const retire = async (client: PoolClient, keyId: bigint, graceMs: number): Promise<void> => {
  if (graceMs === 0) {
    await client.query("update api_keys set status = 'rotated' where id = $1", [keyId])
    return
  }
  await client.query(
    `update api_keys set is_primary = false,
       status = case when scopes = '{manage}' then 'rotated' else 'retiring' end,
       scopes = case when scopes = '{manage}' then scopes else array_remove(scopes, 'manage') end,
       expires_at = least(expires_at, now() + $2 * interval '1 millisecond')
     where id = $1`,
    [keyId, graceMs],
  )
}
