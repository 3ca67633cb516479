import { z } from 'zod'
import type { Account, ApiKey, KeyedAccount, KeyUse } from '../../../ports/accountStore.js'
import { keyScopeList, tierName } from '../../../protocol/accounts.js'
import { resolveTierName, type Tiers } from '../../../protocol/tiers.js'
import { selectColumns } from '../database/statements.js'

const accountRow = z.object({
  id: z.string(),
  email: z.string(),
  project: z.string(),
  tier: tierName,
  status: z.enum(['active', 'revoked']),
  createdAt: z.date(),
  allowedIPs: z.array(z.string()).nullable(),
  allowedRef: z.array(z.string()).nullable(),
  mailboxId: z.string().nullable(),
  isProven: z.boolean().nullable(),
  isGranted: z.boolean(),
  registrant: z.string().nullable(),
})

/** The alias of the table is `a`. */
export const accountColumns = selectColumns('a', accountRow.shape, { allowedIPs: 'a.allowed_ips' })

/** A tier that is no longer configured reads as the registration tier; the row keeps its name. */
export const readAccount = (value: unknown, tiers: Tiers): Account => {
  const { mailboxId, registrant, isProven, isGranted, ...account } = accountRow.parse(value)
  // What older versions registered is one alone: a stranger may have named the mailbox, whose limits it would exhaust.
  const registered = (isProven === true ? mailboxId : registrant) ?? account.id
  return {
    ...account,
    tier: resolveTierName(tiers, account.tier),
    customer: isGranted ? account.id : registered,
    // Operators grant tiers to accounts that they know.
    isProven: isGranted || isProven,
  }
}

const keyRow = z.object({
  public_id: z.string(),
  key_name: z.string(),
  scopes: keyScopeList,
  key_status: z.enum(['active', 'retiring']),
  is_primary: z.boolean(),
  key_created_at: z.date(),
  expires_at: z.date().nullable(),
  last_used_at: z.date().nullable(),
})

export const keyColumns =
  'k.public_id, k.name as key_name, k.scopes, k.status as key_status, k.is_primary, k.created_at as key_created_at, k.expires_at, k.last_used_at'

export const readKey = (value: unknown): ApiKey => {
  const row = keyRow.parse(value)
  return {
    id: row.public_id,
    name: row.key_name,
    scopes: row.scopes,
    status: row.key_status,
    isPrimary: row.is_primary,
    createdAt: row.key_created_at,
    expiresAt: row.expires_at,
    lastUsedAt: row.last_used_at,
  }
}

export const readKeyUse = (value: unknown, tiers: Tiers): KeyUse => ({
  account: readAccount(value, tiers),
  key: readKey(value),
})

const sealedRow = z.object({ fingerprint: z.instanceof(Uint8Array), sealed: z.instanceof(Uint8Array) })

export const readKeyed = (value: unknown, tiers: Tiers): KeyedAccount => ({
  account: readAccount(value, tiers),
  ...sealedRow.parse(value),
})

/** The newest primary key: that of a revoked account is revoked. */
export const joinPrimaryKey = `cross join lateral (
  select k.fingerprint, k.sealed from api_keys k where k.account_id = a.id and k.is_primary
  order by k.id desc limit 1) as primary_key`
