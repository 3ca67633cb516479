import {
  type Channel,
  depositOnChain,
  planChannel,
  voucherBody,
} from '../test/chains/evm/channels/channelScene.js'
import type { LocalChain } from '../test/support/evm/localChain.js'
import { compareLoads, printLoadTable } from './compareLoads.js'
import { createPayer } from './createPayer.js'
import type { Contender } from './launch.js'
import { type Measurement, measureLoad } from './measureLoad.js'
import type { Scale } from './options.js'
import { printMemory } from './printMemory.js'
import { withStage } from './stage.js'
import { atLeast, atMost, noFailures, type Verdict } from './verdict.js'

const connectionCounts = [1, 64] as const
const channelCount = 128
const price = 1_000n
const balance = 1_000_000_000n
const rowMs = 3_000
const warmUpMs = 1_500
const maxWarmUp = 2_000
const maxVouchers = 32_000

/** New vouchers of channels that are open: what a request costs whose payment was deposited before. */
export const measureVouchers = async (scale: Scale): Promise<readonly Verdict[]> => {
  const verdicts: Verdict[] = []
  await withStage({ hasBatchSettlement: true }, async ({ chain, ours, reference, limit }) => {
    const vouchers = await openChannels(chain)
    const run = async (contender: Contender, connections: number): Promise<Measurement> => {
      const load = (bodies: readonly string[], limitMs: number): Promise<Measurement> =>
        measureLoad(contender, { path: '/verify', bodies, connections, limitMs })
      const { perSecond } = await load(await vouchers.sign(maxWarmUp), warmUpMs * scale)
      const expected = Math.ceil((perSecond * 1.2 * rowMs * scale) / 1_000)
      const first = await vouchers.sign(channelCount)
      const bodies = await vouchers.sign(Math.min(maxVouchers, Math.max(expected, connections * 2)))
      // Signing takes longer than channels are known for. They are in use, as those of paying clients are.
      await load(first, warmUpMs)
      return await load(bodies, 2 * rowMs)
    }
    // Warm-up: otherwise the first row includes JIT compilation.
    for (const contender of [ours, reference, limit]) await run(contender, 16)
    const table = printLoadTable(
      'Vouchers',
      `/verify of new vouchers of ${channelCount} channels, each sent once.`,
    )
    const contenders = { ours, others: [reference, limit] }
    for (const connections of connectionCounts) {
      const { us } = await compareLoads(table, connections, contenders, (contender) =>
        run(contender, connections),
      )
      verdicts.push(noFailures(`vouchers at ${connections} connections`, us))
      if (connections !== 64) continue
      verdicts.push(
        atLeast('vouchers of one core', 1_000 / us.cpuMsPerRequest, { limit: 5_000, unit: 'a second' }),
        atMost('vouchers at 64 connections, p99', us.p99Ms, { limit: 30, unit: 'ms' }),
      )
    }
    printMemory([ours, reference])
  })
  return verdicts
}

/** Signs vouchers of the channels in turn, each with a higher ceiling. */
const openChannels = async (chain: LocalChain) => {
  const channels: Channel[] = []
  for (let count = 0; count < channelCount; count += 1) {
    const channel = planChannel(chain, { voucherKey: createPayer(), price })
    await depositOnChain(channel, balance)
    channels.push(channel)
  }
  let ceiling = 0n
  return {
    sign: async (count: number): Promise<readonly string[]> => {
      const bodies: string[] = []
      while (bodies.length < count) {
        ceiling += price
        for (const channel of channels.slice(0, count - bodies.length)) {
          bodies.push(JSON.stringify(await voucherBody(channel, ceiling)))
        }
      }
      return bodies
    },
  }
}
