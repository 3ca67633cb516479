import { describe, expect, it } from 'vitest'
import type { Receipt } from '../../../../../src/chains/evm/rpc/wireShapes.js'
import type { Fees } from '../../../../../src/chains/evm/transactions/fees/fees.js'
import { costOf } from '../../../../../src/chains/evm/transactions/fees/gasBudget.js'

const receiptOf = (changes: Partial<Receipt>): Receipt => ({
  transactionHash: '0x01',
  blockHash: '0x02',
  blockNumber: 3n,
  status: true,
  logs: [],
  gasUsed: 80_000n,
  effectiveGasPrice: 11n,
  l1Fee: null,
  ...changes,
})
/** A base fee of 10 and a tip of 1. */
const dynamic: Fees = { type: 'eip1559', maxFeePerGas: 21n, maxPriorityFeePerGas: 1n }
const offered = { gas: 100_000n, fees: dynamic }

describe('what a transaction cost', () => {
  it('is what its receipt says, with the data of a rollup', () => {
    expect(costOf(receiptOf({}), offered)).toBe(880_000n)
    expect(costOf(receiptOf({ l1Fee: 5n }), offered)).toBe(880_005n)
    expect(costOf(receiptOf({ gasUsed: null }), offered)).toBeNull()
  })

  it('is at least half of its limit, at half the base fee and the tip, whatever a node says', () => {
    expect(costOf(receiptOf({ gasUsed: 0n, effectiveGasPrice: 0n }), offered)).toBe(50_000n * 6n)
    const legacy = { gas: 30_000n, fees: { type: 'legacy', gasPrice: 12n } } as const
    expect(costOf(receiptOf({ gasUsed: 1n, effectiveGasPrice: 1n }), legacy)).toBe(21_000n * 12n)
  })
})
