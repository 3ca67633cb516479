/** `rpmLimit`: requests per minute; `monthlyQuota`: -1 is unlimited; `feeRate`: fraction of a payment. */
export interface Tier {
  readonly name: string
  readonly monthlyQuota: number
  readonly rpmLimit: number
  readonly feeRate: number
  readonly priceCents: number
}

export type TierName = keyof typeof tiers

export const tiers = {
  free: { name: 'Free', monthlyQuota: 1_000, rpmLimit: 10, feeRate: 0, priceCents: 0 },
  builder: { name: 'Builder', monthlyQuota: 100_000, rpmLimit: 100, feeRate: 0.001, priceCents: 0 },
  scale: { name: 'Scale', monthlyQuota: 1_000_000, rpmLimit: 1_000, feeRate: 0.0008, priceCents: 9_900 },
  enterprise: { name: 'Enterprise', monthlyQuota: -1, rpmLimit: 10_000, feeRate: 0.0005, priceCents: 0 },
} as const satisfies Readonly<Record<string, Tier>>
