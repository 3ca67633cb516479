import { describe, expect, it } from 'vitest'
import { type Check, runChecks } from '../../src/schemes/checks.js'

type Rule = Check<number, string>

const isPositive: Rule = (candidate) => (candidate > 0 ? null : 'not positive')
const isEven: Rule = (candidate) => (candidate % 2 === 0 ? null : 'odd')

describe('runChecks', () => {
  it('answers the first rule that is broken, in the order of the list', () => {
    expect(runChecks([isPositive, isEven], -1)).toBe('not positive')
    expect(runChecks([isEven, isPositive], -1)).toBe('odd')
  })

  it('asks no further rule once one is broken', () => {
    const never: Rule = () => {
      throw new Error('asked')
    }
    expect(runChecks([isEven, never], 1)).toBe('odd')
  })

  it('answers null where every rule holds, and where there is none', () => {
    expect(runChecks([isPositive, isEven], 2)).toBeNull()
    expect(runChecks([], 1)).toBeNull()
  })
})
