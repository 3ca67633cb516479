import { describe, expect, it } from 'vitest'
import { type Check, runChecks } from '../../src/schemes/checks.js'

type Rule = Check<number, string>

const isPositive: Rule = (candidate) => (candidate > 0 ? null : 'not positive')
const isEven: Rule = (candidate) => (candidate % 2 === 0 ? null : 'odd')

describe('runChecks', () => {
  it('returns the first failure, in list order', () => {
    expect(runChecks([isPositive, isEven], -1)).toBe('not positive')
    expect(runChecks([isEven, isPositive], -1)).toBe('odd')
  })

  it('runs no further check after a failure', () => {
    const never: Rule = () => {
      throw new Error('asked')
    }
    expect(runChecks([isEven, never], 1)).toBe('odd')
  })

  it('returns null if every check passes, or without checks', () => {
    expect(runChecks([isPositive, isEven], 2)).toBeNull()
    expect(runChecks([], 1)).toBeNull()
  })
})
