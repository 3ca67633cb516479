import { randomAddress } from '../test/support/evm/authorization.js'
import type { LocalChain } from '../test/support/evm/localChain.js'
import type { Contender } from './launch.js'
import { type Measurement, measureLoad } from './measureLoad.js'
import type { Scale } from './options.js'
import { printMemory } from './printMemory.js'
import { createPayers, signPayments } from './signPayments.js'
import { withStage } from './stage.js'
import { describeConnections, facilitatorColumn, figure, printTable, times, toColumns } from './table.js'
import { atLeast, atMost, noFailures, type Verdict } from './verdict.js'

const connectionCounts = [1, 16, 64] as const
const rowMs = 3_000
const warmUpMs = 1_500
const maxWarmUp = 2_000
const maxPayments = 16_000

export const measureVerify = async (scale: Scale): Promise<readonly Verdict[]> => {
  const verdicts: Verdict[] = []
  await withStage({}, async ({ chain, ours, reference }) => {
    // Warm-up: otherwise the first row includes JIT compilation.
    for (const contender of [ours, reference]) await measure(chain, contender, { connections: 16, scale })
    const table = printTable(
      'Verify',
      'Valid payments, each sent once, one payer per payment. CPU is that of the facilitator process.',
      [
        ...toColumns('connections'),
        facilitatorColumn,
        ...toColumns('req/s', 'p50 ms', 'p99 ms', 'CPU ms/req', 'sent', 'failures'),
      ],
    )
    for (const connections of connectionCounts) {
      const us = await measure(chain, ours, { connections, scale })
      const them = await measure(chain, reference, { connections, scale })
      for (const [{ name }, result] of [[ours, us] as const, [reference, them] as const]) {
        table.row(
          String(connections),
          name,
          figure(result.perSecond),
          figure(result.p50Ms),
          figure(result.p99Ms),
          figure(result.cpuMsPerRequest),
          String(result.sent),
          String(result.failures),
        )
      }
      table.row(
        String(connections),
        'ratio',
        times(us.perSecond, them.perSecond),
        times(us.p50Ms, them.p50Ms),
        times(us.p99Ms, them.p99Ms),
        times(us.cpuMsPerRequest, them.cpuMsPerRequest),
      )
      verdicts.push(noFailures(`verify at ${describeConnections(connections)}`, us))
      if (connections === 64) verdicts.push(...judge(us, them))
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
