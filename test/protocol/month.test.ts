import { describe, expect, it } from 'vitest'
import { secondsUntilNextMonth, startOfMonth, startOfNextMonth } from '../../src/protocol/tiers.js'

describe('a month', () => {
  it.each([
    ['2026-05-17T12:00:00.000Z', '2026-05-01', '2026-06-01'],
    ['2026-05-01T00:00:00.000Z', '2026-05-01', '2026-06-01'],
    ['2026-04-30T23:59:59.999Z', '2026-04-01', '2026-05-01'],
    ['2026-12-31T23:59:59.999Z', '2026-12-01', '2027-01-01'],
    ['2028-02-29T00:00:00.000Z', '2028-02-01', '2028-03-01'],
    ['2026-06-01T01:00:00.000+02:00', '2026-05-01', '2026-06-01'],
  ])('with %s starts at %s, and the next one at %s', (at, begins, next) => {
    expect(startOfMonth(new Date(at))).toEqual(new Date(`${begins}T00:00:00Z`))
    expect(startOfNextMonth(new Date(at))).toEqual(new Date(`${next}T00:00:00Z`))
  })

  it('ends in a whole number of seconds, at least 1', () => {
    expect(secondsUntilNextMonth(new Date('2026-05-31T23:59:59.999Z'))).toBe(1)
    expect(secondsUntilNextMonth(new Date('2026-05-31T23:59:58.000Z'))).toBe(2)
    expect(secondsUntilNextMonth(new Date('2026-05-01T00:00:00.000Z'))).toBe(31 * 86_400)
  })
})
