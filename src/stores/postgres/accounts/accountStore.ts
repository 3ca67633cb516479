import type { Pool } from 'pg'
import { z } from 'zod'
import type { AccountStore, Actor, KeyUse } from '../../../ports/accountStore.js'
import { specificationTiers, type Tiers } from '../../../protocol/tiers.js'
import { coalesce, InputFailure } from '../database/coalesce.js'
import { inTransaction } from '../database/statements.js'
import {
  accountColumns,
  joinPrimaryKey,
  keyColumns,
  readAccount,
  readKeyed,
  readKeyUse,
} from './accountRow.js'
import { createKeyMethods } from './apiKeys.js'
import { insertAuditEntry } from './auditLog.js'
import { registerAccount, sameEmail } from './registerAccount.js'

const unknownActor: Actor = { actor: 'unknown', address: null }

// Not a named statement: a pooler in transaction mode may not know it on another connection.
const byKeys = {
  text: `select k.fingerprint, ${accountColumns}, ${keyColumns} from api_keys k join accounts a on a.id = k.account_id
    where k.fingerprint = any($1::bytea[]) and k.status in ('active', 'retiring') and a.status = 'active'
      and (k.expires_at is null or k.expires_at > now())`,
  // In the path of every authenticated request.
  query_timeout: 3_000,
}

// A flood of wrong keys shares these queries, and takes no more connections from payments.
const maxKeysAtOnce = 500
const maxQueriesAtOnce = 4

const fingerprintRow = z.object({ fingerprint: z.instanceof(Uint8Array) })

const createFindByKey = (pool: Pool, tiers: Tiers): AccountStore['findByKey'] =>
  coalesce<Uint8Array, KeyUse | null>(
    async (fingerprints) => {
      const { rows } = await pool.query(byKeys, [fingerprints.map((each) => Buffer.from(each))])
      const found = new Map(rows.map((row) => [nameOf(fingerprintRow.parse(row).fingerprint), row]))
      return fingerprints.map((fingerprint) => {
        const row = found.get(nameOf(fingerprint))
        try {
          return row === undefined ? null : readKeyUse(row, tiers)
        } catch (error) {
          // A row that cannot be read fails for its own key, not for all that share the query.
          return new InputFailure(error)
        }
      })
    },
    { maxInputs: maxKeysAtOnce, maxInFlight: maxQueriesAtOnce },
  )

const nameOf = (fingerprint: Uint8Array): string => Buffer.from(fingerprint).toString('base64')

const restrictionsRow = z.object({
  allowed_ips: z.array(z.string()).nullable(),
  allowed_ref: z.array(z.string()).nullable(),
})

/** `claimSealing` runs before a key is stored; rejects when the database's keys have another secret. */
export const createAccountStore = (
  pool: Pool,
  claimSealing = async (): Promise<void> => {},
  tiers: Tiers = specificationTiers,
): AccountStore => ({
  ...createKeyMethods(pool, claimSealing),

  register: async (who, key, change) => {
    await claimSealing()
    return await registerAccount(pool, tiers)(who, key, change)
  },

  findByKey: createFindByKey(pool, tiers),

  find: async (id) => {
    const { rows } = await pool.query(`select ${accountColumns} from accounts a where a.id = $1`, [id])
    return rows[0] === undefined ? null : readAccount(rows[0], tiers)
  },

  listByEmail: async (email) => {
    const { rows } = await pool.query(
      `select ${accountColumns}, primary_key.* from accounts a ${joinPrimaryKey}
       where ${sameEmail('$1')} order by a.created_at, a.id`,
      [email],
    )
    return rows.map((row) => readKeyed(row, tiers))
  },

  list: async () => {
    const { rows } = await pool.query(`select ${accountColumns} from accounts a order by a.created_at, a.id`)
    return rows.map((row) => readAccount(row, tiers))
  },

  setRestrictions: (id, change, { by = unknownActor } = {}) =>
    inTransaction(pool, async (client) => {
      const { allowedIPs, allowedRef } = change
      const { rows } = await client.query(
        `update accounts set allowed_ips = case when $2 then $3::text[] else allowed_ips end,
           allowed_ref = case when $4 then $5::text[] else allowed_ref end
         where id = $1 returning allowed_ips, allowed_ref`,
        [id, allowedIPs !== undefined, allowedIPs ?? null, allowedRef !== undefined, allowedRef ?? null],
      )
      if (rows[0] === undefined) return null
      const details = {
        ...(allowedIPs === undefined ? {} : { allowedIPs: allowedIPs === null ? null : [...allowedIPs] }),
        ...(allowedRef === undefined ? {} : { allowedRef: allowedRef === null ? null : [...allowedRef] }),
      }
      await insertAuditEntry(client, { accountId: id, action: 'restrictions.changed', ...by, details })
      const stored = restrictionsRow.parse(rows[0])
      return { allowedIPs: stored.allowed_ips, allowedRef: stored.allowed_ref }
    }),

  setTier: (id, tier, { by = unknownActor } = {}) =>
    inTransaction(pool, async (client) => {
      const { rows } = await client.query('select tier from accounts where id = $1 for no key update', [id])
      if (rows[0] === undefined) return false
      const { tier: previous } = z.object({ tier: z.string() }).parse(rows[0])
      const isGranted = tier !== tiers.registration
      await client.query('update accounts set tier = $2, is_granted = $3 where id = $1', [
        id,
        tier,
        isGranted,
      ])
      const details = { from: previous, to: tier }
      await insertAuditEntry(client, { accountId: id, action: 'tier.changed', ...by, details })
      return true
    }),

  revoke: (id, { by = unknownActor } = {}) =>
    inTransaction(pool, async (client) => {
      const { rowCount } = await client.query("update accounts set status = 'revoked' where id = $1", [id])
      // A separate statement: its snapshot includes the key of a rotation that the first one waited for.
      await client.query(
        "update api_keys set status = 'revoked' where account_id = $1 and status in ('active', 'retiring')",
        [id],
      )
      if (rowCount !== 1) return false
      await insertAuditEntry(client, { accountId: id, action: 'account.revoked', ...by, details: {} })
      return true
    }),

  count: async () => {
    const { rows } = await pool.query(
      "select count(*)::int as count from api_keys where status = 'active' and is_primary",
    )
    return z.object({ count: z.number() }).parse(rows[0]).count
  },
})
