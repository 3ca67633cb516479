import { type Hex, parseTransaction } from 'viem'
import { describe, expect, it } from 'vitest'
import type { RpcProxy } from '../../../support/rpcProxy.js'
import { shiftedClock } from '../../../support/shiftedClock.js'
import { useScene } from '../../../support/useScene.js'
import type { EngineOptions, ToySending } from '../engineScene.js'
import { eventually } from '../scene.js'
import { openToyScene } from '../toyScene.js'

/* The numbers are those of the project's list of attacks on facilitators. */

const scene = useScene(openToyScene)

const highTip = 100_000n * 1_000_000_000n
const mostTip = 3n * 1_000_000_000n

/** A node that names 100,000 gwei, as its own suggestion and as what others tip. */
const nameHighTip = (proxy: RpcProxy) => {
  const tip = `0x${highTip.toString(16)}`
  proxy.setFault('eth_maxPriorityFeePerGas', { kind: 'tamper', change: () => tip })
  proxy.setFault('eth_feeHistory', {
    kind: 'tamper',
    change: (result) =>
      typeof result === 'object' && result !== null
        ? { ...result, gasUsedRatio: Array(10).fill(0.5), reward: Array(10).fill([tip]) }
        : result,
  })
}

const listRecorded = async ({ signers }: Pick<ToySending, 'signers'>): Promise<readonly Hex[]> => {
  const { rows } = await scene.database
    .pool()
    .query('select bytes from broadcasts where signer = any($1) order by nonce, recorded_at', [
      signers.map(({ address }) => address),
    ])
  return rows.map(({ bytes }) => bytes)
}

/** Recorded, sent, and too cheap for every block from now on; replaced when the lanes are checked next. */
const getStuck = async (options: EngineOptions) => {
  const clock = shiftedClock()
  const sending = await scene.openToy({ clock, ...options })
  const { control } = scene.chain
  await control.setAutomine(false)
  const settling = sending.settle(await scene.toy.plan())
  await eventually(async () => ((await listRecorded(sending)).length > 0 ? true : null))
  const [bytes = '0x'] = await listRecorded(sending)
  const { maxFeePerGas = 0n } = parseTransaction(bytes)
  const mineExpensive = async () => {
    await control.setNextBaseFee(maxFeePerGas * 2n)
    await control.mine()
  }
  await mineExpensive()
  await sending.maintenance.check()
  await sending.maintenance.check()
  clock.shift(31_000)
  await mineExpensive()
  const end = async () => {
    await control.dropAllTransactions()
    await control.setNextBaseFee(1_000_000_000n)
    await control.mine()
    await sending.maintenance.check()
    await control.mine()
    await settling
  }
  return { sending, end }
}

describe('A44: a node that names a tip of 100,000 gwei', () => {
  it('does not make a payment cost more: it settles at a bounded tip', async () => {
    const proxy = await scene.openProxy()
    nameHighTip(proxy)
    const service = await scene.open({ rpcUrls: [proxy.url] })
    const { body, payTo } = await scene.plan()
    const { success, transaction } = await service.settle(body)
    expect(success).toBe(true)
    expect(await scene.chain.balanceOf(payTo)).toBe(10_000n)
    const { maxPriorityFeePerGas } = await scene.chain.client.getTransaction({
      hash: `0x${transaction.slice(2)}`,
    })
    expect(maxPriorityFeePerGas).toBeLessThanOrEqual(mostTip)
  })

  it('does not make a replacement cost more', async () => {
    const proxy = await scene.openProxy()
    const { sending, end } = await getStuck({ url: proxy.url })
    nameHighTip(proxy)
    await sending.maintenance.check()
    const [, replacement = '0x'] = await listRecorded(sending)
    const { maxPriorityFeePerGas = 0n } = parseTransaction(replacement)
    expect(maxPriorityFeePerGas).toBeGreaterThan(0n)
    // Twice the base fee, which is a few gwei.
    expect(maxPriorityFeePerGas).toBeLessThan(100n * 1_000_000_000n)
    proxy.clearFaults()
    await end()
  })
})

describe('A44: replacements', () => {
  const budget = (gwei: string) => ({
    [`EVM_GAS_BUDGET_GWEI_PER_HOUR_${scene.chain.chainId}`]: gwei,
  })

  it('draw from the gas budget of the network: without it nothing is replaced', async () => {
    await scene.chain.control.setNextBaseFee(1_000_000_000n)
    await scene.chain.control.mine()
    // Enough for the payment and not for a higher price.
    const { sending, end } = await getStuck({ environment: budget('1500000') })
    await sending.maintenance.check()
    expect(await listRecorded(sending)).toHaveLength(1)
    await end()
  })

  it('are made as long as the budget allows them', async () => {
    await scene.chain.control.setNextBaseFee(1_000_000_000n)
    await scene.chain.control.mine()
    const { sending, end } = await getStuck({ environment: budget('50000000') })
    await sending.maintenance.check()
    expect(await listRecorded(sending)).toHaveLength(2)
    await end()
  })
})
