import { createSettler } from './createSettler.js'
import { type GasUse, readGasUse } from './readGasUse.js'
import type { Exchange } from './runLoad.js'
import { withStage } from './stage.js'
import { facilitatorColumn, figure, printTable, times, toColumns } from './table.js'
import { atMost, type Verdict } from './verdict.js'

const bursts = [1, 10, 50, 100] as const
const fullBurst = 100
const repetitions = 4
const limitMs = 30_000

export const measureGas = async (): Promise<readonly Verdict[]> => {
  const verdicts: Verdict[] = []
  await withStage({}, async ({ chain, ours, reference }) => {
    const settle = createSettler(chain)
    const table = printTable(
      'Gas of a settlement',
      `Concurrent payments of distinct payers to a recipient with an existing balance; ${repetitions} bursts each.`,
      [
        ...toColumns('at once'),
        facilitatorColumn,
        ...toColumns('payments', 'transactions', 'gas of a payment', 'in the largest batch'),
      ],
    )
    const measure = async (contender: typeof ours, burst: number): Promise<GasUse> => {
      const exchanges: Exchange[] = []
      for (let repetition = 0; repetition < repetitions; repetition++) {
        const result = await settle(contender, { connections: burst, count: burst, limitMs })
        exchanges.push(...result.exchanges)
      }
      const use = await readGasUse(chain, exchanges)
      table.row(
        ...[String(burst), contender.name, String(use.payments), String(use.transactions)],
        ...[figure(use.gasPerPayment), `${figure(use.largest.gasPerPayment)} × ${use.largest.payments}`],
      )
      return use
    }
    const alone = await measure(reference, 1)
    for (const burst of bursts) {
      const use = await measure(ours, burst)
      table.row(String(burst), 'ratio, to one alone', '', '', times(use.gasPerPayment, alone.gasPerPayment))
      if (burst === fullBurst) {
        const bound = { limit: 48_000, unit: 'gas' }
        const { payments, gasPerPayment } = use.largest
        verdicts.push(atMost(`gas of a settlement in a batch of ${payments}`, gasPerPayment, bound))
      }
    }
  })
  return verdicts
}
