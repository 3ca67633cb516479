/** `rpmLimit`: requests per minute; `monthlyQuota`: settlements; -1 is unlimited for both. `feeRate`: fraction of a payment. */
export interface Tier {
  readonly name: string
  readonly monthlyQuota: number
  readonly rpmLimit: number
  readonly feeRate: number
  readonly priceCents: number
}

/** What a claim charges. */
export type TierTerms = Pick<Tier, 'monthlyQuota' | 'feeRate'>

export type TierName = string

export type TierTable = Readonly<Record<TierName, Tier>>

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
