import { z } from 'zod'
import type { Tier, TierTable } from './tiers.js'

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
