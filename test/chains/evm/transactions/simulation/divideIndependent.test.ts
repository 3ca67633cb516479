import fc from 'fast-check'
import type { Hex } from 'viem'
import { describe, expect, it } from 'vitest'
import {
  divideIndependent,
  type Parties,
} from '../../../../../src/chains/evm/transactions/simulation/simulator.js'

// Few addresses, so that collisions occur.
const address = fc.nat(12).map((number): Hex => `0x${number.toString(16).padStart(40, '0')}`)
const calls = fc.array(fc.record({ payer: address, payTo: address }), { maxLength: 60 })
const parties = (call: Parties) => call

describe('divideIndependent', () => {
  it('keeps every call exactly once, within the size limit', () => {
    fc.assert(
      fc.property(calls, fc.integer({ min: 1, max: 10 }), (all, maxSize) => {
        const groups = divideIndependent(all, parties, maxSize)
        expect(groups.every(({ length }) => length > 0 && length <= maxSize)).toBe(true)
        expect(new Set(groups.flat())).toEqual(new Set(all))
        expect(groups.flat()).toHaveLength(all.length)
      }),
    )
  })

  it('separates calls of one payer, and a payer from calls that pay it', () => {
    fc.assert(
      fc.property(calls, (all) => {
        for (const group of divideIndependent(all, parties, 50)) {
          const payers = group.map(({ payer }) => payer)
          expect(new Set(payers).size).toBe(payers.length)
          for (const call of group) {
            const others = group.filter((other) => other !== call)
            expect(others.some(({ payer }) => payer === call.payTo)).toBe(false)
          }
        }
      }),
    )
  })

  it('groups calls of different payers to one recipient', () => {
    const payTo: Hex = `0x${'f'.repeat(40)}`
    const all = Array.from({ length: 50 }, (_, index) => ({
      payer: `0x${index.toString(16).padStart(40, '0')}` as const,
      payTo,
    }))
    expect(divideIndependent(all, parties, 50)).toEqual([all])
  })
})
