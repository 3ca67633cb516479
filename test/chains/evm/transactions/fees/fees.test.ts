import { numberToHex } from 'viem'
import { describe, expect, it } from 'vitest'
import { plausibleFees } from '../../../../../src/chains/evm/networks.js'
import { createRpc } from '../../../../../src/chains/evm/rpc/rpc.js'
import type { EvmNetworkSettings } from '../../../../../src/chains/evm/settings.js'
import { createFeeOracle, limitFees } from '../../../../../src/chains/evm/transactions/fees/fees.js'
import { combineMarkets, findTypicalTip } from '../../../../../src/chains/evm/transactions/fees/market.js'
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

type Limits = Pick<EvmNetworkSettings, 'maxFeePerGas' | 'maxPriorityFeePerGas'>

const openOracle = (script: Script, limits: Partial<Limits> = {}) => {
  const endpoint = createFakeEndpoint('node')
  endpoint.answer(script)
  const clock = createManualClock()
  const rpc = createRpc(network, [endpoint], silentLogger)
  const settings = { network, maxFeePerGas: null, maxPriorityFeePerGas: null, plausibleFees, ...limits }
  return { endpoint, clock, oracle: createFeeOracle(settings, rpc, clock) }
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
    const { oracle, endpoint, clock } = openOracle(usual, { maxFeePerGas: 1_000n })
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

describe('a node that names too high a price', () => {
  const gwei = 1_000_000_000
  const namesTip = (tip: number): Script => ({
    eth_feeHistory: () => history([gwei, gwei], [tip, tip]),
    eth_maxPriorityFeePerGas: () => numberToHex(tip),
  })

  it('does not make us tip more than twice the base fee, or 3 gwei where that is less', async () => {
    const high = openOracle(namesTip(100_000 * gwei))
    expect(await high.oracle.read()).toMatchObject({ maxPriorityFeePerGas: 3n * BigInt(gwei) })
    const { oracle } = openOracle({
      ...namesTip(100_000 * gwei),
      eth_feeHistory: () => history([20 * gwei, 20 * gwei], [100_000 * gwei]),
    })
    expect(await oracle.read()).toMatchObject({ maxPriorityFeePerGas: 40n * BigInt(gwei) })
  })

  it('makes us tip as much as the operator allows', async () => {
    const { oracle } = openOracle(namesTip(60 * gwei), { maxPriorityFeePerGas: 50n * BigInt(gwei) })
    expect(await oracle.read()).toMatchObject({ maxPriorityFeePerGas: 50n * BigInt(gwei) })
  })

  it('stops the network above 100 gwei, and above ten times the median of the last hour', async () => {
    const base = (price: number): Script => ({
      eth_feeHistory: () => history([price, price], [gwei]),
      eth_maxPriorityFeePerGas: () => numberToHex(gwei),
    })
    const { oracle, endpoint, clock } = openOracle(base(101 * gwei))
    expect((await oracle.refresh()).fees).toBeNull()
    // Prices of 49 gwei for an hour: ten times as much is believed.
    endpoint.answer(base(49 * gwei))
    for (let minute = 0; minute < 60; minute++) {
      await clock.advance(60_000)
      await oracle.refresh()
    }
    endpoint.answer(base(480 * gwei))
    await clock.advance(3_000)
    expect((await oracle.refresh()).fees).not.toBeNull()
    endpoint.answer(base(510 * gwei))
    await clock.advance(3_000)
    expect((await oracle.refresh()).fees).toBeNull()
  })

  it('is outvoted by two others, and alone beside one other not paid', async () => {
    const market = (baseFee: bigint, tip: bigint) => ({ type: 'eip1559', baseFee, tip }) as const
    const [honest, similar, liar] = [market(100n, 10n), market(101n, 11n), market(9_000n, 9_000n)]
    expect(combineMarkets([liar, honest, similar])).toEqual(market(101n, 11n))
    expect(combineMarkets([liar, honest])).toEqual(market(9_000n, 10n))
    const legacy = (gasPrice: bigint) => ({ type: 'legacy', gasPrice }) as const
    expect(combineMarkets([legacy(9_000n), legacy(100n)])).toEqual(legacy(100n))
    // Hiding the base fee does not make the price a single one.
    expect(combineMarkets([legacy(9_000n), honest])).toEqual(honest)
    expect(combineMarkets([])).toBeNull()
  })

  it('is compared with the other endpoints', async () => {
    const endpoints = ['liar', 'honest', 'similar'].map(createFakeEndpoint)
    for (const endpoint of endpoints) endpoint.answer(usual)
    endpoints[0]?.answer({ ...namesTip(2 * gwei), eth_maxPriorityFeePerGas: () => numberToHex(2 * gwei) })
    const rpc = createRpc(network, endpoints, silentLogger)
    await rpc.probe()
    const settings = { network, maxFeePerGas: null, maxPriorityFeePerGas: null, plausibleFees }
    const oracle = createFeeOracle(settings, rpc, createManualClock())
    expect(await oracle.read()).toEqual({ type: 'eip1559', maxFeePerGas: 2_230n, maxPriorityFeePerGas: 30n })
  })
})
