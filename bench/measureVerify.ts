import { randomAddress } from '../test/support/evm/authorization.js'
import type { LocalChain } from '../test/support/evm/localChain.js'
import { compareLoads, printLoadTable } from './compareLoads.js'
import type { Contender } from './launch.js'
import { type Measurement, measureLoad } from './measureLoad.js'
import type { Scale } from './options.js'
import { printMemory } from './printMemory.js'
import { createPayers, signPayments } from './signPayments.js'
import { withStage } from './stage.js'
import { describeConnections } from './table.js'
import { atLeast, atMost, noFailures, type Verdict } from './verdict.js'

const connectionCounts = [1, 16, 64] as const
const rowMs = 3_000
const warmUpMs = 1_500
const maxWarmUp = 2_000
const maxPayments = 16_000

export const measureVerify = async (scale: Scale): Promise<readonly Verdict[]> => {
  const verdicts: Verdict[] = []
  await withStage({}, async ({ chain, ours, reference, limit }) => {
    // Warm-up: otherwise the first row includes JIT compilation.
    for (const contender of [ours, reference, limit])
      await measure(chain, contender, { connections: 16, scale })
    const table = printLoadTable('Verify', 'Valid payments, each sent once, one payer per payment.')
    const contenders = { ours, others: [reference, limit] }
    for (const connections of connectionCounts) {
      const { us, them } = await compareLoads(table, connections, contenders, (contender) =>
        measure(chain, contender, { connections, scale }),
      )
      verdicts.push(noFailures(`verify at ${describeConnections(connections)}`, us))
      const [toReference] = them
      if (connections === 64 && toReference !== undefined) verdicts.push(...judge(us, toReference))
    }
    printMemory([ours, reference])
  })
  return verdicts
}

const judge = (us: Measurement, them: Measurement): readonly Verdict[] => [
  atLeast('verify at 64 connections', us.perSecond / them.perSecond, { limit: 12, unit: '× the reference' }),
  atMost('verify at 64 connections, CPU of a request', us.cpuMsPerRequest, { limit: 0.25, unit: 'ms' }),
  atMost('verify at 64 connections, p99', us.p99Ms, { limit: 60, unit: 'ms' }),
]

/** Signs as many payments as the warm service is expected to verify in the time of a row. */
const measure = async (
  chain: LocalChain,
  contender: Contender,
  { connections, scale }: { readonly connections: number; readonly scale: Scale },
): Promise<Measurement> => {
  const sign = async (count: number): Promise<readonly string[]> => {
    const payments = await signPayments(chain, await createPayers(chain, count), {
      count,
      payTo: randomAddress(),
    })
    return payments.map(({ body }) => body)
  }
  const run = (bodies: readonly string[], limitMs: number): Promise<Measurement> =>
    measureLoad(contender, { path: '/verify', bodies, connections, limitMs })

  const { perSecond } = await run(await sign(maxWarmUp), warmUpMs * scale)
  const expected = Math.ceil((perSecond * 1.2 * rowMs * scale) / 1_000)
  const count = Math.min(maxPayments, Math.max(expected, connections * 2))
  return await run(await sign(count), 2 * rowMs)
}
