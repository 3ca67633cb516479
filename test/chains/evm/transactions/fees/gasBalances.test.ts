import fc from 'fast-check'
import { numberToHex } from 'viem'
import { describe, expect, it } from 'vitest'
import { summarizeBalanceLevels } from '../../../../../src/chains/common/readinessChecks.js'
import { createRpc } from '../../../../../src/chains/evm/rpc/rpc.js'
import {
  countSettlementsLeft,
  createGasBalances,
  createSigners,
} from '../../../../../src/chains/evm/transactions/signers.js'
import { silentLogger } from '../../../../../src/platform/logger.js'
import { Secret } from '../../../../../src/platform/secret.js'
import { createMemoryLogger } from '../../../../support/memoryLogger.js'
import { createFakeEndpoint } from '../../rpc/fakeEndpoint.js'

const reading = { fees: { type: 'legacy', gasPrice: 12n } as const, price: 10n }
const gasPerSettlement = 1_000_000n
const floor = gasPerSettlement * 12n
const perSettlement = 1_030_000n

const openBalances = () => {
  const endpoint = createFakeEndpoint('node')
  const logger = createMemoryLogger()
  const signers = createSigners([new Secret(`0x${'1a'.repeat(32)}`)])
  const balances = createGasBalances('eip155:84532', {
    rpc: createRpc('eip155:84532', [endpoint], silentLogger),
    signers,
    gasPerSettlement,
    lowBalanceSettlements: 100,
    logger,
  })
  const [signer = '0x'] = signers.addresses
  return {
    balances,
    logger,
    signer,
    measureWith: async (balance: bigint) => {
      endpoint.answer({ eth_getBalance: () => numberToHex(balance) })
      await balances.measure(reading)
    },
  }
}

describe('the number of settlements left', () => {
  it.each([
    ['0 below the required cover of a transaction', floor - 1n, 0],
    ['1 with exactly the cover', floor, 1],
    ['2 with the cost of one more', floor + perSettlement, 2],
    ['rounded down', floor + perSettlement - 1n, 1],
  ])('is %s', (_what, balance, settles) => {
    expect(countSettlementsLeft(balance, { floor, price: 10n })).toBe(settles)
  })

  it('is finite when gas is free', () => {
    expect(countSettlementsLeft(10n ** 18n, { floor: 0n, price: 0n })).toBeGreaterThan(1_000)
  })

  it('is zero exactly when the signer cannot pay, and is monotonic in the balance', () => {
    const wei = fc.bigInt({ min: 0n, max: 10n ** 24n })
    fc.assert(
      fc.property(wei, wei, wei, (balance, spent, limit) => {
        const settles = countSettlementsLeft(balance, { floor: limit, price: 7n })
        expect(settles > 0).toBe(balance >= limit)
        const left = balance > spent ? balance - spent : 0n
        expect(countSettlementsLeft(left, { floor: limit, price: 7n })).toBeLessThanOrEqual(settles)
      }),
    )
  })
})

describe('gas balances', () => {
  it('count no signer as funded before the first measurement', () => {
    const { balances, signer } = openBalances()
    expect(balances.canPay(signer)).toBe(false)
    expect(balances.list()).toEqual([])
  })

  it('log a low balance once, and its recovery once', async () => {
    const { measureWith, logger, balances, signer } = openBalances()
    const full = floor + perSettlement * 200n
    await measureWith(full)
    expect(logger.messages()).toEqual([])
    for (const balance of [floor + perSettlement, floor, 0n]) await measureWith(balance)
    expect(logger.lines).toMatchObject([
      {
        level: 'warn',
        message: 'signer.gas_low',
        fields: { network: 'eip155:84532', signer, settlementsLeft: 2 },
      },
    ])
    expect(balances.canPay(signer)).toBe(false)
    for (const balance of [full, full]) await measureWith(balance)
    expect(logger.messages()).toEqual(['signer.gas_low', 'signer.gas_recovered'])
    expect(balances.list()).toEqual([{ signer, balance: full, settlementsLeft: 201 }])
  })

  it('log a low balance at the first measurement too', async () => {
    const { measureWith, logger } = openBalances()
    await measureWith(0n)
    expect(logger.messages()).toEqual(['signer.gas_low'])
  })
})

describe('the signer of a call', () => {
  it('is one that can afford its gas at the highest price, if there is one', async () => {
    const { balances, signer, measureWith } = openBalances()
    await measureWith(floor)
    expect(balances.canAfford(signer, gasPerSettlement)).toBe(true)
    expect(balances.canAfford(signer, gasPerSettlement + 1n)).toBe(false)
  })

  it('is chosen among those that can afford it, else among all that are funded', () => {
    const signers = createSigners(['1a', '2b', '3c'].map((byte) => new Secret(`0x${byte.repeat(32)}`)))
    const [poor, , rich] = signers.addresses
    const ids = Array.from({ length: 50 }, (_, index) => `claim ${index}`)
    const listChosen = (gasCap: bigint) => {
      const chosen = ids.map((id) =>
        signers.choose(
          { id, sender: null, gasCap },
          {
            canPay: (address) => address === poor || address === rich,
            canAfford: (address, gas) => gas <= (address === rich ? 4_000_000n : 1_000_000n),
          },
        ),
      )
      return new Set(chosen.map((account) => account?.address))
    }
    expect(listChosen(4_000_000n)).toEqual(new Set([rich]))
    for (const gasCap of [1_000_000n, 5_000_000n]) {
      expect(listChosen(gasCap)).toEqual(new Set([poor, rich]))
    }
  })
})

describe('the level of all networks', () => {
  it.each([
    [[], 'none'],
    [['ok', 'ok'], 'ok'],
    [['ok', 'low'], 'low'],
    [['ok', 'empty'], 'low'],
    [['empty', 'empty'], 'empty'],
    [['ok', 'unknown'], 'unknown'],
  ] as const)('of %j is %s', (words, word) => {
    expect(summarizeBalanceLevels(words.map((balanceLevel) => ({ balanceLevel })))).toBe(word)
  })
})
