import { z } from 'zod'

/** `rpmLimit`: requests per minute; `monthlyQuota`: settlements; -1 is unlimited for both. `feeRate`: fraction of a payment. */
interface Tier {
  readonly name: string
  readonly monthlyQuota: number
  readonly rpmLimit: number
  readonly feeRate: number
  readonly priceCents: number
}

/** What a claim charges. */
export type TierTerms = Pick<Tier, 'monthlyQuota' | 'feeRate'>

export type TierName = string

type TierTable = Readonly<Record<TierName, Tier>>

/** `specification`: the default with `API_KEY_REQUIRED=true`, and of a sandbox. `self-hosted`: otherwise. `configured`: `TIERS`. */
export const tierSources = ['specification', 'self-hosted', 'configured'] as const

export interface Tiers {
  readonly table: TierTable
  readonly source: (typeof tierSources)[number]
  /** New accounts have it, and share its quota per customer; so do accounts whose tier is no longer in the table. */
  readonly registration: TierName
}

/** The table of the specification. */
export const tiers = {
  free: { name: 'Free', monthlyQuota: 1_000, rpmLimit: 10, feeRate: 0, priceCents: 0 },
  builder: { name: 'Builder', monthlyQuota: 100_000, rpmLimit: 100, feeRate: 0.001, priceCents: 0 },
  scale: { name: 'Scale', monthlyQuota: 1_000_000, rpmLimit: 1_000, feeRate: 0.0008, priceCents: 9_900 },
  enterprise: { name: 'Enterprise', monthlyQuota: -1, rpmLimit: 10_000, feeRate: 0.0005, priceCents: 0 },
} as const satisfies TierTable

/** Where keys are optional, a key must not cost what its absence does not: no quota, and the anonymous rate at least. */
export const selfHostedTiers = {
  free: { ...tiers.free, monthlyQuota: -1, rpmLimit: 1_000 },
  builder: { ...tiers.builder, monthlyQuota: -1, rpmLimit: 2_000 },
  scale: { ...tiers.scale, monthlyQuota: -1, rpmLimit: 5_000 },
  enterprise: { ...tiers.enterprise, monthlyQuota: -1, rpmLimit: 10_000 },
} as const satisfies TierTable

export const specificationTiers: Tiers = { table: tiers, source: 'specification', registration: 'free' }

/** The name itself, or the registration tier if the table no longer has it. */
export const resolveTierName = ({ table, registration }: Tiers, name: TierName): TierName =>
  Object.hasOwn(table, name) ? name : registration

export const getTier = (known: Tiers, name: TierName): Tier => {
  const tier = known.table[resolveTierName(known, name)]
  if (tier === undefined) throw new Error(`There is no tier ${known.registration}`)
  return tier
}

/** The larger of two rates, where -1 is unlimited. */
export const higherRate = (one: number, other: number): number =>
  one < 0 || other < 0 ? -1 : Math.max(one, other)

const maxTiers = 50
const tierId = /^[a-z][a-z0-9_-]{0,31}$/

const wholeOrUnlimited = (maximum: number) =>
  z
    .number('must be a number')
    .refine(
      (value) => value === -1 || (Number.isSafeInteger(value) && value >= 1 && value <= maximum),
      `must be a whole number from 1 to ${maximum}, or -1 for unlimited`,
    )

const tier = z.strictObject({
  name: z.string('must be a string').min(1, 'must not be empty').max(60, 'must have at most 60 characters'),
  monthlyQuota: wholeOrUnlimited(1_000_000_000_000),
  rpmLimit: wholeOrUnlimited(1_000_000_000),
  feeRate: z
    .number('must be a number')
    .min(0, 'must be from 0 to 1')
    .max(1, 'must be from 0 to 1')
    .default(0),
  priceCents: z
    .int('must be a whole number')
    .min(0, 'must not be negative')
    .max(1_000_000_000, 'must be at most 1000000000')
    .default(0),
}) satisfies z.ZodType<Tier>

/** Reads the operator's tiers. The order is kept: the first one is that of new accounts. */
export const readTierTable = (
  text: string,
): { readonly table: TierTable } | { readonly problems: readonly string[] } => {
  const parsed = parseJson(text)
  if (typeof parsed !== 'object' || parsed === null || Array.isArray(parsed)) {
    return { problems: ['must be a JSON object of tiers, or the path of a file that holds one'] }
  }
  const entries = Object.entries(parsed)
  if (entries.length < 1 || entries.length > maxTiers)
    return { problems: [`must have 1 to ${maxTiers} tiers`] }
  const table: Record<string, Tier> = {}
  const problems: string[] = []
  for (const [id, value] of entries) {
    if (!tierId.test(id)) {
      problems.push(
        `the tier name ${JSON.stringify(id.slice(0, 40))} must be 1 to 32 lower-case letters, digits, - and _, and begin with a letter`,
      )
      continue
    }
    const read = tier.safeParse(value, { error: describeUnknownField })
    if (read.success) table[id] = read.data
    else
      problems.push(
        ...read.error.issues.map(({ path, message }) => `${[id, ...path.map(String)].join('.')} ${message}`),
      )
  }
  return problems.length > 0 ? { problems } : { table }
}

const describeUnknownField = (issue: z.core.$ZodRawIssue): string => {
  if (issue.code === 'unrecognized_keys') return `has the unknown field ${issue.keys.join(', ')}`
  return issue.input === undefined ? 'is required' : 'must be a JSON object'
}

const parseJson = (text: string): unknown => {
  try {
    return JSON.parse(text)
  } catch {
    return null
  }
}

export const startOfMonth = (at: Date): Date => new Date(Date.UTC(at.getUTCFullYear(), at.getUTCMonth(), 1))

/** When quotas reset: 00:00 UTC on the first of the next month. */
export const startOfNextMonth = (at: Date): Date =>
  new Date(Date.UTC(at.getUTCFullYear(), at.getUTCMonth() + 1, 1))

/** Rounded up; at least 1. */
export const secondsUntilNextMonth = (at: Date): number =>
  Math.ceil((startOfNextMonth(at).getTime() - at.getTime()) / 1_000)
