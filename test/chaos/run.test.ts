import { describe, expect, it } from 'vitest'
import { describeFault, faultKinds } from './faults.js'
import { createRandom } from './random.js'
import { planRounds } from './run.js'

const recipients = ['0x1111111111111111111111111111111111111111'] as const
const options = { rounds: 40, paymentsPerRound: 8, windowMs: 1_000, longestFaultMs: 1_000, deepestReorg: 3 }
const plan = (seed: number) =>
  planRounds(createRandom(seed), [...recipients], { ...options, kinds: faultKinds })

describe('a chaos plan', () => {
  it('is deterministic for a seed and differs between seeds', () => {
    const summarise = (seed: number) =>
      plan(seed).map(({ name, faults, load }) => [
        name,
        faults.map(describeFault),
        load.payments.map(({ random: _random, ...payment }) => payment),
      ])
    expect(summarise(7)).toEqual(summarise(7))
    expect(summarise(7)).not.toEqual(summarise(8))
  })

  it('uses every kind of fault', () => {
    const planned = plan(7).flatMap(({ faults }) => faults.map(({ kind }) => kind))
    expect([...new Set(planned)].sort()).toEqual([...faultKinds].sort())
  })

  it('has at most one fault of a kind per round', () => {
    for (const { faults } of plan(7)) {
      expect(new Set(faults.map(({ kind }) => kind)).size).toBe(faults.length)
    }
  })
})
