import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { CreditFacts } from '../../../src/ports/creditStore.js'
import { creditWeights } from '../../../src/protocol/creditWeights.js'
import {
  creditFormula,
  explainScore,
  listImprovements,
  scoreCredit,
} from '../../../src/usecases/credit/score.js'
import { type CreditPayment, countCredit } from '../../support/creditModel.js'
import { readTable } from '../../support/markdown.js'
import { readText } from '../../support/readText.js'

const now = new Date('2026-06-01T00:00:00Z')
const dayMs = 86_400_000
const docs = readText('docs/credit.md')
const parts = ['volumeScore', 'frequencyScore', 'reliabilityScore', 'ageScore'] as const

const factsOf = (changes: Partial<CreditFacts> = {}): CreditFacts => ({
  payments: 0,
  volume: 0n,
  cappedPayments: 0,
  cappedVolume: 0n,
  payees: 0,
  returnedPayments: 0,
  returnedVolume: 0n,
  failures: 0,
  firstAt: null,
  ...changes,
})
const daysAgo = (days: number) => new Date(now.getTime() - days * dayMs)

const facts: fc.Arbitrary<CreditFacts> = fc
  .record({
    payments: fc.oneof(fc.nat(50), fc.nat(2 ** 40)),
    share: fc.double({ min: 0, max: 1, noNaN: true }),
    cappedVolume: fc.oneof(fc.bigInt(0n, 10n ** 12n), fc.bigInt(0n, 2n ** 256n)),
    failures: fc.oneof(fc.nat(5), fc.nat(2 ** 40)),
    days: fc.integer({ min: -5, max: 5_000 }),
  })
  .map(({ payments, share, cappedVolume, failures, days }) =>
    factsOf({
      payments,
      cappedPayments: Math.ceil(payments * share),
      volume: cappedVolume,
      cappedVolume,
      payees: payments,
      failures,
      firstAt: payments === 0 ? null : daysAgo(days),
    }),
  )

describe('the examples of docs/credit.md', () => {
  const rows = readTable(docs, 'Wallet').map((row) => [row.Wallet, row] as const)
  const read = (text: string | undefined) => Number(text)

  it('are there', () => expect(rows.length).toBeGreaterThan(8))

  it.each(rows)('%s', (_wallet, row) => {
    const { score, breakdown, accountAgeDays } = scoreCredit(
      factsOf({
        payments: read(row.Payments),
        cappedPayments: read(row['Counted payments']),
        cappedVolume: BigInt(Math.round(read(row['Counted dollars']) * 1e6)),
        failures: read(row.Failures),
        firstAt: read(row.Payments) === 0 ? null : daysAgo(read(row.Days)),
      }),
      now,
    )
    expect(breakdown).toEqual(Object.fromEntries(parts.map((part) => [part, read(row[part])])))
    expect([score, accountAgeDays]).toEqual([read(row.score), read(row.Days)])
  })

  it('name the points and figures of the formula', () => {
    const weights = readTable(docs, 'Formula').map((row) => [row.Part, Number(row.Points)])
    expect(weights).toEqual(
      Object.entries(creditWeights).map(([part, points]) => [`\`${part}Score\``, points]),
    )
    const { paymentsPerPayee, dollarsPerPayee, fullVolumeDollars, fullPayments } = creditFormula
    const { provenPayments, fullAgeDays, failureWeight } = creditFormula
    for (const sentence of [
      `at most ${paymentsPerPayee} payments and ${dollarsPerPayee.toLocaleString('en')} US dollars count`,
      `ln(1 + ${fullVolumeDollars.toLocaleString('en')})`,
      `ln(1 + ${fullPayments})`,
      `${failureWeight} × failures`,
      `counted payments / ${provenPayments} `,
      `that counts / ${fullAgeDays}`,
    ]) {
      expect(docs).toContain(sentence)
    }
  })
})

describe('a credit score', () => {
  it('is the sum of whole parts within their weights', () => {
    fc.assert(
      fc.property(facts, (given) => {
        const { score, breakdown, successRate, accountAgeDays } = scoreCredit(given, now)
        for (const [part, weight] of Object.entries(creditWeights)) {
          const points = breakdown[parts.find((each) => each === `${part}Score`) ?? 'ageScore']
          expect(Number.isInteger(points) && points >= 0 && points <= weight, part).toBe(true)
        }
        expect(score).toBe(parts.reduce((sum, part) => sum + breakdown[part], 0))
        expect(successRate >= 0 && successRate <= 1 && accountAgeDays >= 0).toBe(true)
      }),
    )
  })

  const isNeverLower = (change: (given: CreditFacts, by: number) => CreditFacts, later = 0) =>
    fc.assert(
      fc.property(facts, fc.nat(10_000), (given, by) => {
        const before = scoreCredit(given, now).breakdown
        const after = scoreCredit(change(given, by), new Date(now.getTime() + later * by)).breakdown
        for (const part of parts) expect(after[part], part).toBeGreaterThanOrEqual(before[part])
      }),
    )

  it('is never lowered by more payments', () => {
    isNeverLower((given, by) => ({
      ...given,
      payments: given.payments + by,
      cappedPayments: given.cappedPayments + by,
      firstAt: given.firstAt ?? now,
    }))
    isNeverLower((given, by) => ({ ...given, payments: given.payments + by, firstAt: given.firstAt ?? now }))
  })

  it('is never lowered by more volume, or by age', () => {
    isNeverLower((given, by) => ({ ...given, cappedVolume: given.cappedVolume + BigInt(by) * 1_000n }))
    isNeverLower((given) => given, dayMs)
  })

  it('is never raised by a failure', () => {
    fc.assert(
      fc.property(facts, fc.nat(10_000), (given, by) => {
        const before = scoreCredit(given, now).breakdown
        const after = scoreCredit({ ...given, failures: given.failures + by }, now).breakdown
        for (const part of parts) expect(after[part], part).toBeLessThanOrEqual(before[part])
      }),
    )
  })
})

describe('a payment', () => {
  const wallet = fc.constantFrom('a', 'b', 'c', 'd', 'e')
  const payment: fc.Arbitrary<CreditPayment> = fc.record({
    authorizationId: fc.uuid(),
    network: fc.constant('eip155:8453'),
    payer: wallet,
    payee: wallet,
    worth: fc.constantFrom(null, 9_999n, 10_000n, 5_000_000n, 2_000_000_000n),
    state: fc.constantFrom('confirmed', 'confirmed', 'failed', 'pending'),
    reason: fc.constant('insufficient_funds'),
    createdAt: fc.nat(400).map(daysAgo),
  })
  const journal = fc.array(payment, { maxLength: 25 })
  const score = (payments: readonly CreditPayment[], name: string) =>
    scoreCredit(countCredit(payments).get(`eip155:${name}`) ?? factsOf(), now).breakdown

  const compare = (
    given: fc.Arbitrary<CreditPayment>,
    expectation: (after: number, before: number) => void,
    applies: (payments: readonly CreditPayment[], added: CreditPayment) => boolean = () => true,
  ) =>
    fc.assert(
      fc.property(journal, given, wallet, (payments, added, name) => {
        fc.pre(applies(payments, added))
        const before = score(payments, name)
        const after = score([...payments, added], name)
        for (const part of parts) expectation(after[part], before[part])
      }),
      { numRuns: 300 },
    )
  const isNotRaised = (after: number, before: number) => expect(after).toBeLessThanOrEqual(before)
  const confirmed = payment.map((each) => ({ ...each, state: 'confirmed' }))

  it('to oneself raises no part of any score', () => {
    compare(
      confirmed.map((each) => ({ ...each, payee: each.payer })),
      isNotRaised,
    )
  })

  it('of less than a cent raises no part of any score', () => {
    compare(
      confirmed.map((each) => ({ ...each, worth: 9_999n })),
      isNotRaised,
    )
  })

  it('of unknown worth raises no part of any score', () => {
    compare(
      confirmed.map((each) => ({ ...each, worth: null })),
      isNotRaised,
    )
  })

  it('lowers what counts of the volume of any wallet by no more than its worth', () => {
    fc.assert(
      fc.property(journal, confirmed, wallet, (payments, added, name) => {
        const volume = (list: readonly CreditPayment[]) =>
          countCredit(list).get(`eip155:${name}`)?.volume ?? 0n
        // Less than a cent of what is left of a payee counts as nothing, of five payees at most.
        const rounding = 5n * 10_000n
        const lost = volume(payments) - volume([...payments, added])
        expect(lost <= (added.worth ?? 0n) + rounding).toBe(true)
      }),
      { numRuns: 300 },
    )
  })

  it('that comes back whole raises the volume and the age of no wallet', () => {
    fc.assert(
      fc.property(journal, confirmed, wallet, (payments, given, name) => {
        const added = { ...given, createdAt: now }
        const back = { ...added, payer: added.payee, payee: added.payer }
        const before = score(payments, name)
        const after = score([...payments, back, added], name)
        expect(after.volumeScore).toBeLessThanOrEqual(before.volumeScore)
        expect(after.ageScore).toBeLessThanOrEqual(before.ageScore)
      }),
      { numRuns: 300 },
    )
  })

  it('of the usual size that comes back raises no part of the score of its payer', () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 12 }), fc.integer({ min: 1, max: 12 }), (paid, returned) => {
        const of = (payer: string, payee: string, count: number): readonly CreditPayment[] =>
          Array.from({ length: count }, (_each, index) => ({
            authorizationId: `${payer} ${index}`,
            network: 'eip155:8453',
            payer,
            payee,
            worth: 5_000_000n,
            state: 'confirmed',
            reason: null,
            createdAt: daysAgo(1),
          }))
        const before = score(of('a', 'b', paid), 'a')
        const after = score([...of('a', 'b', paid + returned), ...of('b', 'a', returned)], 'a')
        expect(after).toEqual(before)
      }),
    )
  })

  it('that failed raises no part of any score', () => {
    compare(
      payment.map((each) => ({ ...each, state: 'failed' })),
      isNotRaised,
    )
  })

  it('to a new payee lowers no part of the score of its payer', () => {
    fc.assert(
      fc.property(journal, confirmed, (payments, added) => {
        const before = score(payments, added.payer)
        const after = score([...payments, { ...added, payee: 'a new payee' }], added.payer)
        for (const part of parts) expect(after[part], part).toBeGreaterThanOrEqual(before[part])
      }),
    )
  })

  it('to another payee raises the score more than to the same one', () => {
    const paid = (payee: string, index: number): CreditPayment => ({
      authorizationId: `${payee} ${index}`,
      network: 'eip155:8453',
      payer: 'a',
      payee,
      worth: 200_000_000n,
      state: 'confirmed',
      reason: null,
      createdAt: now,
    })
    const same = Array.from({ length: 20 }, (_each, index) => paid('b', index))
    const others = Array.from({ length: 20 }, (_each, index) => paid(`payee ${index}`, index))
    const of = (payments: readonly CreditPayment[]) =>
      scoreCredit(countCredit(payments).get('eip155:a') ?? factsOf(), now).score
    expect(of(others)).toBeGreaterThan(of(same) + 100)
  })
})

describe('what would raise a score', () => {
  it('raises it by as much as it says, and by nothing less', () => {
    fc.assert(
      fc.property(facts, (given) => {
        const points = scoreCredit(given, now)
        for (const { part, points: promised, action } of listImprovements(given, points, now)) {
          const count = Number(/[0-9,]+/.exec(action)?.[0]?.replaceAll(',', ''))
          const apply = (by: number) => {
            if (part === 'ageScore') return scoreCredit(given, new Date(now.getTime() + by * dayMs))
            if (part === 'volumeScore') {
              return scoreCredit(
                { ...given, cappedVolume: given.cappedVolume + BigInt(by) * 1_000_000n },
                now,
              )
            }
            const { payments, cappedPayments } = given
            return scoreCredit(
              { ...given, payments: payments + by, cappedPayments: cappedPayments + by },
              now,
            )
          }
          expect(promised).toBeGreaterThan(points.breakdown[part])
          expect(apply(count).breakdown[part]).toBe(promised)
          expect(apply(count - 1).breakdown[part]).toBeLessThan(promised)
        }
      }),
    )
  })

  it('is nothing at the top', () => {
    const best = factsOf({
      payments: 500,
      cappedPayments: 200,
      cappedVolume: 10n ** 11n,
      firstAt: daysAgo(400),
    })
    const points = scoreCredit(best, now)
    expect([points.score, listImprovements(best, points, now)]).toEqual([1_000, []])
  })

  it('and how it came about is said in sentences with figures', () => {
    const given = factsOf({
      payments: 1_200,
      volume: 2_500_500_000n,
      cappedPayments: 15,
      cappedVolume: 1_500_500_000n,
      payees: 2,
      returnedPayments: 3,
      returnedVolume: 12_500_000n,
      failures: 1,
      firstAt: daysAgo(73),
    })
    const points = scoreCredit(given, now)
    expect(explainScore(given, points)).toEqual([
      'volumeScore is 190 of 300: 1,500.50 of 2,500.50 US dollars count, at most 1,000 for each of 2 payees.',
      'frequencyScore is 130 of 250: 15 of 1,200 payments count, at most 10 for each payee.',
      "reliabilityScore is 224 of 300: 1,200 payments succeeded and 1 failed by the payer's fault; a failure weighs as " +
        'much as 5 payments, and fewer than 20 counted payments give a part of the points.',
      'ageScore is 30 of 150: the first payment is 73 days old, and 365 days give all points.',
      '12.50 US dollars, and 3 payments, do not count: they came back from the payees, directly or through one other ' +
        'wallet.',
    ])
    expect(listImprovements(given, points, now)).toEqual([
      {
        part: 'volumeScore',
        points: 215,
        action: 'Pay 2,330 US dollars more, at most 1,000 to each payee over all time.',
      },
      {
        part: 'frequencyScore',
        points: 155,
        action: 'Make 11 more payments of a cent or more, of which at most 10 to each payee count.',
      },
      {
        part: 'reliabilityScore',
        points: 253,
        action:
          'Make 2 more payments of a cent or more, of which at most 10 to each payee count, without a failure.',
      },
      { part: 'ageScore', points: 55, action: 'Wait 61 days.' },
    ])
  })
})
