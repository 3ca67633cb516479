import { numberToHex } from 'viem'
import { describe, expect, it } from 'vitest'
import { createRpc } from '../../../../../src/chains/evm/rpc/rpc.js'
import {
  createFeeOracle,
  findTypicalTip,
  limitFees,
} from '../../../../../src/chains/evm/transactions/fees/fees.js'
import { RpcError } from '../../../../../src/chains/nodes/endpoint.js'
import { silentLogger } from '../../../../../src/platform/logger.js'
import { createManualClock } from '../../../../support/manualClock.js'
import { rejectionOf } from '../../../../support/rejectionOf.js'
import { createFakeEndpoint, type Script } from '../../rpc/fakeEndpoint.js'
import { eventually } from '../../scene.js'

const network = 'eip155:84532'

const history = (baseFees: readonly number[], tips: readonly number[]) => ({
  oldestBlock: '0x1',
  baseFeePerGas: baseFees.map((fee) => numberToHex(fee)),
  gasUsedRatio: tips.map(() => 0.5),
  reward: tips.map((tip) => [numberToHex(tip)]),
})
const unknownMethod = () => new RpcError(-32601, 'Method not found', null)

const openOracle = (script: Script, maxFeePerGas: bigint | null = null) => {
  const endpoint = createFakeEndpoint('node')
  endpoint.answer(script)
  const clock = createManualClock()
  const rpc = createRpc(network, [endpoint], silentLogger)
  return { endpoint, clock, oracle: createFeeOracle({ network, maxFeePerGas }, rpc, clock) }
}
const usual: Script = {
  eth_feeHistory: () => history([900, 1_000, 1_100], [10, 30]),
  eth_maxPriorityFeePerGas: () => '0x5',
}

describe('fees', () => {
  it.each<readonly [string, Script, unknown]>([
    [
      'follow the next base fee and recent tips',
      usual,
      { type: 'eip1559', maxFeePerGas: 2_230n, maxPriorityFeePerGas: 30n },
    ],
    [
      'include at least the tip that the node suggests',
      { ...usual, eth_maxPriorityFeePerGas: () => '0x64' },
      { type: 'eip1559', maxFeePerGas: 2_300n, maxPriorityFeePerGas: 100n },
    ],
    [
      'use recent tips when the node suggests none',
      { ...usual, eth_maxPriorityFeePerGas: unknownMethod },
      { type: 'eip1559', maxFeePerGas: 2_230n, maxPriorityFeePerGas: 30n },
    ],
    [
      'use the newest block when the history is empty',
      { eth_feeHistory: unknownMethod, eth_maxPriorityFeePerGas: () => '0x5' },
      { type: 'eip1559', maxFeePerGas: 2_005n, maxPriorityFeePerGas: 5n },
    ],
    [
      'use the newest block when the history request fails',
      { eth_feeHistory: () => ({ baseFeePerGas: 'many', reward: 7 }), eth_maxPriorityFeePerGas: () => '0x5' },
      { type: 'eip1559', maxFeePerGas: 2_005n, maxPriorityFeePerGas: 5n },
    ],
    [
      'are 20 % above the gas price on a chain without base fees',
      {
        eth_feeHistory: () => history([0, 0], [7]),
        eth_getBlockByNumber: () => ({ number: '0x1', hash: '0x01', timestamp: '0x1' }),
        eth_gasPrice: () => '0x64',
      },
      { type: 'legacy', gasPrice: 120n },
    ],
    [
      'use EIP-1559 when the base fee is zero',
      {
        ...usual,
        eth_feeHistory: () => history([0, 0], [7]),
        eth_getBlockByNumber: () => ({ number: '0x1', hash: '0x01', timestamp: '0x1', baseFeePerGas: '0x0' }),
      },
      { type: 'eip1559', maxFeePerGas: 7n, maxPriorityFeePerGas: 7n },
    ],
  ])('%s', async (_what, script, fees) => {
    expect(await openOracle(script).oracle.read()).toEqual(fees)
  })

  it('use the median tip of recent blocks, without empty ones', () => {
    const reward = [[1n], [500n], [3n], [0n], [2n]]
    expect(findTypicalTip({ reward, gasUsedRatio: [0.5, 0.5, 0.5, 0, 0.5] })).toBe(3n)
    expect(findTypicalTip({ reward: [[0n]], gasUsedRatio: [0] })).toBeNull()
    expect(findTypicalTip({})).toBeNull()
  })
})

describe('the oracle', () => {
  it('sends one request for concurrent reads, and none again within two seconds', async () => {
    const { oracle, endpoint, clock } = openOracle(usual)
    await Promise.all(Array.from({ length: 50 }, () => oracle.read()))
    await clock.advance(1_999)
    await oracle.read()
    expect(endpoint.count('eth_feeHistory')).toBe(1)
  })

  it('returns fees that are some seconds old and refreshes them in the background', async () => {
    const { oracle, endpoint, clock } = openOracle(usual)
    await oracle.read()
    await clock.advance(11_000)
    endpoint.answer({ eth_feeHistory: () => history([5_000], []) })
    expect(await oracle.read()).toMatchObject({ maxFeePerGas: 2_230n })
    await eventually(async () => {
      const fees = await oracle.read()
      return fees.type === 'eip1559' && fees.maxFeePerGas > 10_000n ? true : null
    })
  })

  it('does not use older fees, or fees of unknown age after the clock was set back', async () => {
    for (const milliseconds of [12_000, -1]) {
      const { oracle, endpoint, clock } = openOracle(usual)
      await oracle.read()
      await clock.advance(milliseconds)
      endpoint.answer({ eth_feeHistory: () => history([5_000], []) })
      expect(await oracle.read()).toMatchObject({ maxFeePerGas: 10_005n })
    }
  })

  it('uses known fees while the node is down, until they are too old', async () => {
    const { oracle, endpoint, clock } = openOracle(usual)
    await oracle.read()
    endpoint.answer({ '*': () => new Error('down'), eth_feeHistory: () => new Error('down') })
    endpoint.answer({ eth_maxPriorityFeePerGas: () => new Error('down') })
    endpoint.answer({ eth_getBlockByNumber: () => new Error('down') })
    await clock.advance(6_000)
    expect(await oracle.read()).toMatchObject({ maxFeePerGas: 2_230n })
    await clock.advance(6_000)
    expect(await rejectionOf(oracle.read())).toMatchObject({ operationalCode: 'SVC-2004' })
  })
})

describe('the cap', () => {
  it('is never exceeded: fees are reduced to it while it covers the next block, then null', () => {
    const market = { type: 'eip1559', baseFee: 1_000n, tip: 10n } as const
    expect(limitFees(market, 2_010n).fees).toMatchObject({ maxFeePerGas: 2_010n })
    expect(limitFees(market, 1_500n).fees).toMatchObject({ maxFeePerGas: 1_500n, maxPriorityFeePerGas: 10n })
    expect(limitFees(market, 1_010n).fees).toMatchObject({ maxFeePerGas: 1_010n, maxPriorityFeePerGas: 10n })
    expect(limitFees(market, 1_009n)).toEqual({ fees: null, price: 1_010n })
    const legacy = { type: 'legacy', gasPrice: 100n } as const
    expect(limitFees(legacy, 110n).fees).toEqual({ type: 'legacy', gasPrice: 110n })
    expect(limitFees(legacy, 99n).fees).toBeNull()
  })

  it('stops settling while gas costs more', async () => {
    const { oracle, endpoint, clock } = openOracle(usual, 1_000n)
    expect(await rejectionOf(oracle.read())).toMatchObject({
      code: 'SERVICE_UNAVAILABLE',
      operationalCode: 'SVC-4001',
    })
    endpoint.answer({ eth_feeHistory: () => history([500], []) })
    await clock.advance(2_000)
    await oracle.refresh()
    expect(await oracle.read()).toMatchObject({ maxFeePerGas: 1_000n })
  })
})
