import fc from 'fast-check'
import type { Hex } from 'viem'
import { describe, expect, it } from 'vitest'
import {
  divideIndependent,
  type Parties,
} from '../../../../../src/chains/evm/transactions/simulation/divideIndependent.js'

// Few addresses, so that they meet.
const address = fc.nat(12).map((number): Hex => `0x${number.toString(16).padStart(40, '0')}`)
const payments = fc.array(fc.record({ from: address, to: address }), { maxLength: 60 })
const parties = (payment: Parties) => payment

describe('divideIndependent', () => {
  it('loses no payment, doubles none, and keeps to the size', () => {
    fc.assert(
      fc.property(payments, fc.integer({ min: 1, max: 10 }), (all, maxSize) => {
        const batches = divideIndependent(all, parties, maxSize)
        expect(batches.every((batch) => batch.length > 0 && batch.length <= maxSize)).toBe(true)
        expect(new Set(batches.flat())).toEqual(new Set(all))
        expect(batches.flat()).toHaveLength(all.length)
      }),
    )
  })

  it('puts no two payments of one payer together, and no payer beside a payment to it', () => {
    fc.assert(
      fc.property(payments, (all) => {
        for (const batch of divideIndependent(all, parties, 50)) {
          const payers = batch.map(({ from }) => from)
          expect(new Set(payers).size).toBe(payers.length)
          for (const payment of batch) {
            const others = batch.filter((other) => other !== payment)
            expect(others.some(({ from }) => from === payment.to)).toBe(false)
          }
        }
      }),
    )
  })

  it('puts payments of different payers to one recipient together', () => {
    const to: Hex = `0x${'f'.repeat(40)}`
    const all = Array.from({ length: 50 }, (_, index) => ({
      from: `0x${index.toString(16).padStart(40, '0')}` as const,
      to,
    }))
    expect(divideIndependent(all, parties, 50)).toEqual([all])
  })
})
