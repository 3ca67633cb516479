import type { CreditFacts } from '../../ports/creditStore.js'
import { creditLimits, creditWeights } from '../../protocol/credit.js'

/** The figures of the formula; the limits for each payee are applied where facts are counted. */
export const creditFormula = {
  paymentsPerPayee: creditLimits.paymentsPerPayee,
  dollarsPerPayee: Number(creditLimits.volumePerPayee) / 1e6,
  /** From here on, a part has all of its points. */
  fullVolumeDollars: 100_000,
  fullPayments: 200,
  provenPayments: 20,
  fullAgeDays: 365,
  /** How many payments a failure outweighs. */
  failureWeight: 5,
} as const

export interface CreditPoints {
  readonly score: number
  readonly breakdown: {
    readonly volumeScore: number
    readonly frequencyScore: number
    readonly reliabilityScore: number
    readonly ageScore: number
  }
  readonly accountAgeDays: number
  /** 0 to 1. */
  readonly successRate: number
}

const dayMs = 86_400_000
const unitsPerDollar = 1e6

export const toDollars = (volume: bigint): number => Number(volume) / unitsPerDollar

/** The credit score; `docs/credit.md` explains it. More of anything but failures never lowers it. */
export const scoreCredit = (facts: CreditFacts, now: Date): CreditPoints => {
  const { payments, failures, cappedPayments, firstAt } = facts
  const { fullVolumeDollars, fullPayments, provenPayments, fullAgeDays, failureWeight } = creditFormula
  const hasPaid = payments > 0
  const accountAgeDays =
    hasPaid && firstAt !== null ? Math.max(0, Math.floor((now.getTime() - firstAt.getTime()) / dayMs)) : 0
  const breakdown = {
    volumeScore: award('volume', onLogScale(toDollars(facts.cappedVolume), fullVolumeDollars)),
    frequencyScore: award('frequency', onLogScale(cappedPayments, fullPayments)),
    reliabilityScore: hasPaid
      ? award(
          'reliability',
          (payments / (payments + failureWeight * failures)) * Math.min(1, cappedPayments / provenPayments),
        )
      : 0,
    ageScore: award('age', accountAgeDays / fullAgeDays),
  }
  return {
    score: breakdown.volumeScore + breakdown.frequencyScore + breakdown.reliabilityScore + breakdown.ageScore,
    breakdown,
    accountAgeDays,
    successRate: hasPaid ? payments / (payments + failures) : 0,
  }
}

const onLogScale = (value: number, full: number): number => Math.log1p(value) / Math.log1p(full)

const award = (part: keyof typeof creditWeights, share: number): number =>
  Math.floor(creditWeights[part] * Math.min(1, Math.max(0, share)))
