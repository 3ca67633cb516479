import { describe, expect, it } from 'vitest'
import { type Rule, runRules, type Trace } from '../../../src/protocol/rules/rules.js'

const isPositive: Rule<number> = {
  name: 'required_amount',
  check: (candidate) => (candidate > 0 ? null : 'invalid_payment_amount'),
  compare: (candidate) => ({ found: candidate, expected: 'at least 1' }),
}
const isEven: Rule<number> = {
  name: 'balance',
  check: (candidate) => (candidate % 2 === 0 ? null : 'insufficient_funds'),
}

const asked: Rule<number> = {
  name: 'signature',
  check: () => {
    throw new Error('asked')
  },
}

const trace = () => {
  const noted: unknown[] = []
  const written: Trace = {
    expect: () => undefined,
    note: (...note) => void noted.push(note),
    skip: () => undefined,
    miss: () => undefined,
    hasPassed: () => false,
    addFact: () => undefined,
  }
  return { noted, written }
}

describe('runRules', () => {
  it('returns the first failure, in list order', () => {
    expect(runRules([isPositive, isEven], -1)).toBe('invalid_payment_amount')
    expect(runRules([isEven, isPositive], -1)).toBe('insufficient_funds')
  })

  it('runs no further check after a failure, and compares nothing', () => {
    const compare = () => {
      throw new Error('compared')
    }
    expect(runRules([{ ...isEven, compare }, asked], 1)).toBe('insufficient_funds')
  })

  it('returns null if every check passes, or without rules', () => {
    expect(runRules([isPositive, isEven], 2)).toBeNull()
    expect(runRules([], 1)).toBeNull()
  })

  it('runs every check with a trace, and still returns the first failure', () => {
    const { noted, written } = trace()
    expect(runRules([isPositive, isEven], -1, written)).toBe('invalid_payment_amount')
    expect(noted).toEqual([
      ['required_amount', 'invalid_payment_amount', { found: -1, expected: 'at least 1' }],
      ['balance', 'insufficient_funds', undefined],
    ])
  })
})
