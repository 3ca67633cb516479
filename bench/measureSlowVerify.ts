import { randomAddress } from '../test/support/evm/authorization.js'
import { type Measurement, measureLoad } from './measureLoad.js'
import type { Scale } from './options.js'
import { createPayers, signPayments } from './signPayments.js'
import { withStage } from './stage.js'
import { facilitatorColumn, figure, printTable, times, toColumns } from './table.js'
import { atMost, type Verdict } from './verdict.js'

const rpcDelayMs = 30
const payments = 120
const warmUps = 20

export const measureSlowVerify = async (scale: Scale): Promise<readonly Verdict[]> => {
  const verdicts: Verdict[] = []
  await withStage({ rpcDelayMs }, async ({ chain, ours, reference }) => {
    const table = printTable(
      `Verify with an RPC latency of ${rpcDelayMs} ms`,
      'Valid payments, each sent once, one payer per payment, one at a time.',
      [facilitatorColumn, ...toColumns('p50 ms', 'p99 ms', 'sent', 'failures')],
    )
    const results: Measurement[] = []
    for (const contender of [ours, reference]) {
      const count = warmUps + Math.ceil(payments * scale)
      const payers = await createPayers(chain, count)
      const signed = await signPayments(chain, payers, { count, payTo: randomAddress() })
      const bodies = signed.map(({ body }) => body)
      const load = { path: '/verify', connections: 1, limitMs: 20_000 } as const
      await measureLoad(contender, { ...load, bodies: bodies.slice(0, warmUps) })
      const result = await measureLoad(contender, { ...load, bodies: bodies.slice(warmUps) })
      const { p50Ms, p99Ms, sent, failures } = result
      table.row(contender.name, figure(p50Ms), figure(p99Ms), String(sent), String(failures))
      results.push(result)
    }
    const [us, them] = results
    if (us === undefined || them === undefined) return
    table.row('ratio', times(us.p50Ms, them.p50Ms), times(us.p99Ms, them.p99Ms))
    verdicts.push(
      atMost(`verify with an RPC latency of ${rpcDelayMs} ms, p50`, us.p50Ms, {
        limit: 36,
        unit: 'ms',
      }),
    )
  })
  return verdicts
}
