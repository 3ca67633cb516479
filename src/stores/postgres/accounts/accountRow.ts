import { z } from 'zod'
import type { Account, ApiKey, KeyedAccount, KeyUse } from '../../../ports/accountStore.js'
import { keyScopeList, tierName } from '../../../protocol/accounts.js'
import { resolveTierName, type Tiers } from '../../../protocol/tiers.js'

const accountRow = z.object({
  id: z.string(),
  email: z.string(),
  project: z.string(),
  tier: tierName,
  status: z.enum(['active', 'revoked']),
  created_at: z.date(),
  allowed_ips: z.array(z.string()).nullable(),
  allowed_ref: z.array(z.string()).nullable(),
  mailbox_id: z.string().nullable(),
  is_proven: z.boolean().nullable(),
  is_granted: z.boolean(),
  registrant: z.string().nullable(),
})

export const accountColumns =
  'a.id, a.email, a.project, a.tier, a.status, a.created_at, a.allowed_ips, a.allowed_ref, a.mailbox_id, a.is_proven, a.is_granted, a.registrant'

/** A tier that is no longer configured reads as the registration tier; the row keeps its name. */
export const readAccount = (value: unknown, tiers: Tiers): Account => {
  const row = accountRow.parse(value)
  return {
    id: row.id,
    email: row.email,
    project: row.project,
    tier: resolveTierName(tiers, row.tier),
    status: row.status,
    createdAt: row.created_at,
    allowedIPs: row.allowed_ips,
    allowedRef: row.allowed_ref,
    customer: findCustomer(row),
    // Operators grant tiers to accounts that they know.
    isProven: row.is_granted || row.is_proven,
  }
}

/** What older versions registered is one alone: a stranger may have named the mailbox, whose limits it would use up. */
const findCustomer = ({
  id,
  mailbox_id,
  is_proven,
  is_granted,
  registrant,
}: z.infer<typeof accountRow>): string => {
  if (is_granted) return id
  return (is_proven === true ? mailbox_id : registrant) ?? id
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
