import type { CreditFacts } from '../../ports/creditStore.js'
import { type CreditScore, creditLimits } from '../../protocol/credit.js'
import { creditWeights } from '../../protocol/creditWeights.js'

/** The figures of the formula; the limits for each payee are applied where facts are counted. */
export const creditFormula = {
  paymentsPerPayee: creditLimits.paymentsPerPayee,
  dollarsPerPayee: Number(creditLimits.volumePerPayee) / 1e6,
  /** From here on, a part has all of its points. */
  fullVolumeDollars: 100_000,
  fullPayments: 200,
  provenPayments: 20,
  fullAgeDays: 365,
  /** One failure offsets so many payments. */
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

const toDollars = (volume: bigint): number => Number(volume) / unitsPerDollar

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

type Improvement = CreditScore['improvements'][number]

const stepPoints = 25
const { paymentsPerPayee, dollarsPerPayee, fullVolumeDollars, provenPayments, fullAgeDays, failureWeight } =
  creditFormula

/** Why each part has its points, in sentences with their figures. */
export const explainScore = (facts: CreditFacts, points: CreditPoints): readonly string[] => {
  const { volumeScore, frequencyScore, reliabilityScore, ageScore } = points.breakdown
  const { payments, payees, failures, returnedPayments, returnedVolume } = facts
  const of = (part: keyof typeof creditWeights) => `of ${creditWeights[part]}`
  return [
    `volumeScore is ${volumeScore} ${of('volume')}: ${writeDollars(facts.cappedVolume)} of ` +
      `${writeDollars(facts.volume)} US dollars count, at most ${write(dollarsPerPayee)} for each of ${write(payees)} payees.`,
    `frequencyScore is ${frequencyScore} ${of('frequency')}: ${write(facts.cappedPayments)} of ${write(payments)} payments ` +
      `count, at most ${paymentsPerPayee} for each payee.`,
    `reliabilityScore is ${reliabilityScore} ${of('reliability')}: ${write(payments)} payments succeeded and ` +
      `${write(failures)} failed by the payer's fault; a failure weighs as much as ${failureWeight} payments, and fewer than ` +
      `${provenPayments} counted payments give a part of the points.`,
    `ageScore is ${ageScore} ${of('age')}: the first payment is ${write(points.accountAgeDays)} days old, and ` +
      `${fullAgeDays} days give all points.`,
    ...(returnedVolume === 0n
      ? []
      : [
          `${writeDollars(returnedVolume)} US dollars, and ${write(returnedPayments)} payments, do not count: they came back ` +
            'from the payees, directly or through one other wallet.',
        ]),
  ]
}

/** For each part that can rise, the least that raises it by about 25 points. */
export const listImprovements = (
  facts: CreditFacts,
  points: CreditPoints,
  now: Date,
): readonly Improvement[] => {
  const improvements: Improvement[] = []
  const offer = (part: Improvement['part'], { weight, limit, change, write: say }: Offer) => {
    const current = points.breakdown[part]
    const target = Math.min(weight, current + stepPoints)
    if (target <= current) return
    const read = (count: number): number => {
      const changed = change(count)
      return scoreCredit(changed.facts, changed.now).breakdown[part]
    }
    const least = findLeast(limit, (count) => read(count) >= target)
    if (least !== null) improvements.push({ part, points: read(least), action: say(least) })
  }
  offer('volumeScore', {
    weight: creditWeights.volume,
    limit: fullVolumeDollars,
    change: (dollars) => ({
      facts: { ...facts, cappedVolume: facts.cappedVolume + BigInt(dollars) * 1_000_000n },
      now,
    }),
    write: (dollars) =>
      `Pay ${write(dollars)} US dollars more, at most ${write(dollarsPerPayee)} to each payee over all time.`,
  })
  const withPayments = (count: number) => ({
    facts: {
      ...facts,
      payments: facts.payments + count,
      cappedPayments: facts.cappedPayments + count,
    },
    now,
  })
  const sayPayments = (count: number) =>
    `Make ${write(count)} more payments of a cent or more, of which at most ${paymentsPerPayee} to each payee count.`
  offer('frequencyScore', {
    weight: creditWeights.frequency,
    limit: creditFormula.fullPayments,
    change: withPayments,
    write: sayPayments,
  })
  offer('reliabilityScore', {
    weight: creditWeights.reliability,
    limit: 1_000_000,
    change: withPayments,
    write: (count) => `${sayPayments(count).slice(0, -1)}, without a failure.`,
  })
  if (facts.firstAt !== null && facts.payments > 0) {
    offer('ageScore', {
      weight: creditWeights.age,
      limit: fullAgeDays,
      change: (days) => ({ facts, now: new Date(now.getTime() + days * dayMs) }),
      write: (days) => `Wait ${write(days)} days.`,
    })
  }
  return improvements
}

interface Offer {
  readonly weight: number
  readonly limit: number
  readonly change: (count: number) => { readonly facts: CreditFacts; readonly now: Date }
  readonly write: (count: number) => string
}

/** The least whole number from 1 to `limit` that suffices; null if none does. What suffices stays so above it. */
const findLeast = (limit: number, suffices: (count: number) => boolean): number | null => {
  if (!suffices(limit)) return null
  let low = 1
  let high = limit
  while (low < high) {
    const middle = Math.floor((low + high) / 2)
    if (suffices(middle)) high = middle
    else low = middle + 1
  }
  return low
}

const write = (count: number): string => count.toLocaleString('en')

const writeDollars = (volume: bigint): string =>
  toDollars(volume).toLocaleString('en', { minimumFractionDigits: 2, maximumFractionDigits: 2 })
