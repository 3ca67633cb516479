import { z } from 'zod'
import { nextCursor, settlementView } from './results.js'

/* Responses of the key and dashboard endpoints, with the field names of the specification. */

export const tierName = z.string().meta({ description: 'A name of `GET /tiers`', examples: ['free'] })
const timestamp = z.iso.datetime()

const quota = z
  .object({
    limit: z.number().meta({ description: 'Transactions a month; -1: unlimited' }),
    period: z.literal('monthly'),
    used: z.number(),
    tier: tierName,
    feeRate: z.number(),
    resetsAt: timestamp,
  })
  .meta({ id: 'Quota' })
export type Quota = z.infer<typeof quota>

/** Response of /register; `apiKey` is masked unless the caller may see it. */
export const registerResult = z
  .object({
    apiKey: z.string(),
    projectName: z.string(),
    quota,
    isNew: z.boolean(),
  })
  .meta({ id: 'Registration' })
export type RegisterResult = z.infer<typeof registerResult>

const keyStatus = z.enum(['active', 'revoked'])

const listedKey = z.object({
  apiKey: z.string(),
  project: z.string(),
  tier: tierName,
  status: keyStatus,
  createdAt: timestamp,
})

export const lookupResult = z.object({ email: z.string(), keys: z.array(listedKey) })
export type LookupResult = z.infer<typeof lookupResult>

/** `current` marks the key of the request. */
export const keyList = z.object({
  email: z.string(),
  keys: z.array(listedKey.extend({ current: z.boolean() })),
})
export type KeyList = z.infer<typeof keyList>

export const maxRestrictions = 100

/** Empty lists mean no restriction. */
export const restrictions = z.object({
  allowedIPs: z.array(z.string()),
  allowedRef: z.array(z.string()),
})
export type Restrictions = z.infer<typeof restrictions>

/** Absent: unchanged. Null and an empty list: no restriction. */
export interface RestrictionsChange {
  readonly allowedIPs?: readonly string[] | null | undefined
  readonly allowedRef?: readonly string[] | null | undefined
  /** Also sets an `allowedIPs` that excludes the address of the request. */
  readonly force?: boolean | undefined
}

export const accountInfo = z.object({
  tier: tierName,
  config: z.object({
    name: z.string(),
    monthlyQuota: z.number(),
    rpmLimit: z.number(),
    feeRate: z.number(),
  }),
  quota,
  email: z.string(),
  project: z.string(),
  status: keyStatus,
  createdAt: timestamp,
  webhookUrl: z.string().meta({ description: 'Empty when unset' }),
  allowedIPs: z.array(z.string()).nullable(),
  allowedRef: z.array(z.string()).nullable(),
})
export type AccountInfo = z.infer<typeof accountInfo>

const outcomes = {
  confirmed: z.int(),
  failed: z.int(),
  pending: z.int(),
}
const medianSeconds = z.number().nullable().meta({
  description: 'Median time from the request to the proof, of confirmed settlements; null without one',
})

const activity = z
  .object({
    hours: z.int(),
    isComplete: z.boolean().meta({
      description: 'False: there are more than 10,000 settlements, and only the newest are counted',
    }),
    ...outcomes,
    medianSeconds,
    networks: z.array(z.object({ network: z.string(), ...outcomes, medianSeconds })),
    amounts: z
      .array(z.object({ network: z.string(), asset: z.string(), amount: z.string() }))
      .meta({ description: 'What was settled, in smallest units' }),
    buckets: z
      .array(z.object({ at: timestamp, network: z.string(), ...outcomes }))
      .meta({ description: 'Hours (UTC) with settlements, oldest first' }),
  })
  .meta({ id: 'AccountActivity', description: 'Settlements by the time at which they were requested' })

/** Seven days, including days without transactions. */
export const usage = z.object({
  days: z.literal(7),
  usage: z.array(z.object({ date: z.iso.date(), count: z.number() })),
  settlements: activity.optional().meta({ description: 'With `hours`' }),
})
export type Usage = z.infer<typeof usage>

export const keyScopes = ['verify', 'settle', 'read', 'manage'] as const
const keyScope = z.enum(keyScopes)
/** `read`: GET requests of the dashboard; `manage`: all others of the dashboard. */
export type KeyScope = z.infer<typeof keyScope>
export const keyScopeList = z.array(keyScope)

const namedKey = z.object({
  id: z.uuid(),
  name: z.string(),
  scopes: keyScopeList,
  status: z
    .enum(['active', 'retiring', 'expired'])
    .meta({ description: 'retiring: replaced, and valid until `expiresAt`' }),
  isPrimary: z.boolean().meta({ description: 'The key of /register and /lookup' }),
  createdAt: timestamp,
  expiresAt: timestamp.nullable(),
  lastUsedAt: timestamp.nullable().meta({ description: 'Up to a minute late; null: never used' }),
})
export type NamedKey = z.infer<typeof namedKey>

/** `current` marks the key of the request. */
export const namedKeyList = z.object({ keys: z.array(namedKey.extend({ current: z.boolean() })) })
export type NamedKeyList = z.infer<typeof namedKeyList>

export const createdKey = namedKey.extend({
  apiKey: z.string().meta({ description: 'Shown only in this response' }),
})
export type CreatedKey = z.infer<typeof createdKey>

export const revokedKey = z.object({ id: z.uuid(), revoked: z.literal(true) })
export type RevokedKey = z.infer<typeof revokedKey>

const auditActions = [
  'account.registered',
  'account.revoked',
  'key.created',
  'key.revoked',
  'key.rotated',
  'recipient.deleted',
  'recipient.stated',
  'restrictions.changed',
  'tier.changed',
  'webhook.changed',
  'webhook.removed',
  'webhook.secret_rotated',
] as const
export const auditAction = z.enum(auditActions)
export type AuditAction = z.infer<typeof auditAction>

export const auditPage = z.object({
  entries: z.array(
    z.object({
      id: z.uuid(),
      createdAt: timestamp,
      action: auditAction,
      actor: z.string().meta({ description: 'A key by its name and id, `operator` or `registration`' }),
      address: z.string().nullable().meta({ description: 'Client address; null for operators' }),
      details: z.record(z.string(), z.unknown()),
    }),
  ),
  nextCursor: z.uuid().optional(),
})
export type AuditPage = z.infer<typeof auditPage>

export const rotatedKey = z.object({ apiKey: z.string(), project: z.string(), message: z.string() })
export type RotatedKey = z.infer<typeof rotatedKey>

const accountSettlementView = settlementView
  .extend({
    fee: z.string().meta({
      description:
        "Fee of the settlement at the tier's fee rate: a whole number of smallest units, rounded up; `0` " +
        'unless confirmed. Not deducted from the payment',
      examples: ['10'],
    }),
  })
  .meta({ id: 'AccountSettlement' })

export const accountSettlementPage = z
  .object({
    settlements: z.array(accountSettlementView).meta({ description: 'Newest first' }),
    nextCursor,
  })
  .meta({ id: 'AccountSettlementPage' })

export type AccountSettlementPage = z.infer<typeof accountSettlementPage>
