import { z } from 'zod'
import { type TierName, tiers } from './tiers.js'

/*
 * What the endpoints of keys and of the dashboard answer; the field names are the specification's.
 */

const tierNames = Object.keys(tiers).filter((name): name is TierName => name in tiers)
/** A key of the tier table. */
export const tierName = z.enum(tierNames)
const timestamp = z.iso.datetime()

/** What a tier leaves of the month. */
export const quota = z.object({
  limit: z.number().meta({ description: 'Transactions a month; -1: unlimited' }),
  period: z.literal('monthly'),
  used: z.number(),
  tier: tierName,
  feeRate: z.number(),
  resetsAt: timestamp,
})
/** What a tier leaves of the month. */
export type Quota = z.infer<typeof quota>

/** The answer of /register; the key is masked for those who may not see it. */
export const registered = z.object({
  apiKey: z.string(),
  projectName: z.string(),
  quota,
  isNew: z.boolean(),
})
/** The answer of /register. */
export type Registered = z.infer<typeof registered>

const keyStatus = z.enum(['active', 'revoked'])

const listedKey = z.object({
  apiKey: z.string(),
  project: z.string(),
  tier: tierName,
  status: keyStatus,
  createdAt: timestamp,
})

/** The answer of /lookup. */
export const lookedUp = z.object({ email: z.string(), keys: z.array(listedKey) })
/** The answer of /lookup. */
export type LookedUp = z.infer<typeof lookedUp>

/** The answer of /dashboard/keys; `current` marks the key of the request. */
export const keyList = z.object({
  email: z.string(),
  keys: z.array(listedKey.extend({ current: z.boolean() })),
})
/** The answer of /dashboard/keys. */
export type KeyList = z.infer<typeof keyList>

/** How many addresses, and how many referrers, a key may be restricted to. */
export const maxRestrictions = 100

/** Who may use a key: empty lists allow all. */
export const restrictions = z.object({
  allowedIPs: z.array(z.string()),
  allowedRef: z.array(z.string()),
})
/** Who may use a key. */
export type Restrictions = z.infer<typeof restrictions>

/** The answer of /dashboard/info. */
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
/** The answer of /dashboard/info. */
export type AccountInfo = z.infer<typeof accountInfo>

/** The answer of /dashboard/usage: seven days, those without a transaction included. */
export const usage = z.object({
  days: z.literal(7),
  usage: z.array(z.object({ date: z.iso.date(), count: z.number() })),
})
/** The answer of /dashboard/usage. */
export type Usage = z.infer<typeof usage>

/** The answer of /dashboard/rotate: the only key of the project from now on. */
export const rotatedKey = z.object({ apiKey: z.string(), project: z.string(), message: z.string() })
/** The answer of /dashboard/rotate. */
export type RotatedKey = z.infer<typeof rotatedKey>
