import { randomUUID } from 'node:crypto'
import type { QuotaCharge } from '../src/ports/quotas.js'
import type { SettlementJournal } from '../src/ports/settlementJournal.js'
import { tiers } from '../src/protocol/tiers.js'
import { migrate } from '../src/stores/postgres/database/migrate.js'
import { openPool } from '../src/stores/postgres/database/pool.js'
import { createSettlementJournal } from '../src/stores/postgres/journal/settlementJournal.js'
import { claimOf } from '../test/support/claimOf.js'
import { addInstance } from '../test/support/instances.js'
import type { Scale } from './options.js'
import { startDatabase } from './startDatabase.js'
import { figure, printTable, times, toColumns } from './table.js'
import { atLeast, type Verdict } from './verdict.js'

const claimsOneByOne = 1_500
const warmUps = 200
const atOnce = 200
const rowMs = 4_000
// Pool size of the service.
const maxConnections = 10

/** Measures the cost of a quota per claim, and the claim rate of one account. */
export const measureQuota = async (scale: Scale): Promise<readonly Verdict[]> => {
  const database = await startDatabase()
  const pool = openPool({ url: database.url, maxConnections, onError: () => undefined })
  try {
    await migrate(pool, new URL('../migrations/', import.meta.url))
    const open = async () => createSettlementJournal(pool, await addInstance(pool))
    const [journal, other] = [await open(), await open()]
    await timeClaims(journal, warmUps)

    const single = printTable('Claims one by one', 'Sequential; with and without quota in turn.', [
      ...toColumns('claim', 'p50 ms', 'p99 ms'),
    ])
    const { without, counted } = await timeClaims(journal, Math.ceil(claimsOneByOne * scale))
    single.row('no quota', figure(percentile(without, 50)), figure(percentile(without, 99)))
    single.row('quota', figure(percentile(counted, 50)), figure(percentile(counted, 99)))
    single.row('ratio', times(percentile(counted, 50), percentile(without, 50)))

    const crowd = printTable(
      'Claims of one account',
      `${atOnce} at once.`,
      toColumns('journals', 'claim', 'claims/s'),
    )
    const limitMs = rowMs * scale
    const rates: number[] = []
    for (const journals of [[journal], [journal, other]]) {
      const rate = await countClaims(journals, null, limitMs)
      const countedRate = await countClaims(journals, use(), limitMs)
      crowd.row(String(journals.length), 'no quota', figure(rate))
      crowd.row(String(journals.length), 'quota', figure(countedRate))
      rates.push(countedRate)
    }
    return [
      atLeast('claims of one account with a quota', Math.min(...rates), { limit: 1_500, unit: 'claims/s' }),
    ]
  } finally {
    await pool.end()
    await database.stop()
  }
}

const use = (): QuotaCharge => ({ tier: tiers.enterprise, at: new Date() })

const claimOnce = async (journal: SettlementJournal, quota: QuotaCharge | null): Promise<number> => {
  const claim = claimOf({ caller: 'account', authorizationId: randomUUID() })
  const startedAt = performance.now()
  await journal.claim(claim, quota)
  return performance.now() - startedAt
}

const timeClaims = async (journal: SettlementJournal, count: number) => {
  const without: number[] = []
  const counted: number[] = []
  for (let round = 0; round < count; round += 1) {
    without.push(await claimOnce(journal, null))
    counted.push(await claimOnce(journal, use()))
  }
  return { without, counted }
}

const countClaims = async (
  journals: readonly SettlementJournal[],
  quota: QuotaCharge | null,
  limitMs: number,
): Promise<number> => {
  const startedAt = performance.now()
  let claims = 0
  const claimOn = async (journal: SettlementJournal): Promise<void> => {
    while (performance.now() - startedAt < limitMs) {
      await claimOnce(journal, quota)
      claims += 1
    }
  }
  const each = atOnce / journals.length
  await Promise.all(journals.flatMap((journal) => Array.from({ length: each }, () => claimOn(journal))))
  return claims / ((performance.now() - startedAt) / 1_000)
}

const percentile = (values: readonly number[], percent: number): number => {
  const ordered = values.toSorted((left, right) => left - right)
  return ordered[Math.min(ordered.length - 1, Math.floor((ordered.length * percent) / 100))] ?? Number.NaN
}
