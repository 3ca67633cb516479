import { randomUUID } from 'node:crypto'
import type { Pool } from 'pg'
import type { SettlementJournal } from '../src/ports/settlementJournal.js'
import { migrate } from '../src/stores/postgres/database/migrate.js'
import { openPool } from '../src/stores/postgres/database/pool.js'
import { createAccountSettlements } from '../src/stores/postgres/journal/accountSettlements.js'
import { createConfirmedBlocks } from '../src/stores/postgres/journal/confirmedBlocks.js'
import { createIdempotencyStore } from '../src/stores/postgres/journal/idempotencyStore.js'
import { createSettlementJournal } from '../src/stores/postgres/journal/settlementJournal.js'
import { createSettlementOverview } from '../src/stores/postgres/journal/settlementOverview.js'
import { createQuotas } from '../src/stores/postgres/quota/quotas.js'
import { createStatistics } from '../src/stores/postgres/statistics/statistics.js'
import { createWebhookOutbox } from '../src/stores/postgres/webhooks/webhookOutbox.js'
import { claimOf } from '../test/support/claimOf.js'
import { addInstance } from '../test/support/instances.js'
import { fillJournal, requireDisk } from './fillJournal.js'
import { measureSettlementCost } from './measureSettlementCost.js'
import type { Scale } from './options.js'
import { startDatabase } from './startDatabase.js'
import { figure, printTable, toColumns } from './table.js'
import { atMost, type Verdict } from './verdict.js'

const sizes: readonly number[] = [10_000, 100_000, 1_000_000]
const quickSizes: readonly number[] = [2_000, 20_000, 200_000]
const rounds = 400
const warmUps = 100
const costRounds = 5_000

type Statement = readonly [name: string, run: (at: number) => Promise<unknown>]

/** Times every hot statement at several sizes of the journal: none may become slower. */
export const measureGrowth = async (scale: Scale): Promise<readonly Verdict[]> => {
  const more = Number(process.env.BENCH_GROWTH_ROWS ?? 0)
  const counts = [...(scale < 1 ? quickSizes : sizes), ...(more > 0 ? [more] : [])]
  await requireDisk(Math.max(...counts))
  const database = await startDatabase()
  const pool = openPool({
    url: database.url,
    maxConnections: 1,
    onError: () => undefined,
    // For filling.
    statementTimeoutMs: 600_000,
  })
  try {
    await migrate(pool, new URL('../migrations/', import.meta.url))
    const statements = await listStatements(pool)
    const table = printTable(
      'Growth',
      `First decile of ${Math.ceil(rounds * scale)} in ms, one connection, by settlements in the journal.`,
      [
        { name: 'statement', width: 34 },
        ...toColumns(...counts.map((count) => count.toLocaleString('en')), 'growth'),
      ],
    )
    const measured = new Map<string, number[]>()
    let rows = 0
    for (const count of counts) {
      await fillJournal(pool, rows, count)
      rows = count
      for (const [name, run] of statements) {
        const decile = await timeDecile(run, Math.ceil(rounds * scale))
        measured.set(name, [...(measured.get(name) ?? []), decile])
      }
    }
    for (const [name, deciles] of measured) {
      table.row(name, ...deciles.map(figure), `${figure(growthOf(deciles))} ×`)
    }
    return [
      ...[...measured].map(([name, deciles]) =>
        atMost(`growth of: ${name}`, growthOf(deciles), { limit: 1.2, unit: '×' }),
      ),
      // In the full journal: there, a new index entry seldom meets a page that was written before.
      ...(await measureSettlementCost(pool, Math.ceil(costRounds * scale))),
    ]
  } finally {
    await pool.end()
    await database.stop()
  }
}

const growthOf = (deciles: readonly number[]): number => (deciles.at(-1) ?? 0) / (deciles[0] ?? 1)

/** Other work on the machine changes the first decile less than the median. */
const timeDecile = async (run: (at: number) => Promise<unknown>, count: number): Promise<number> => {
  const times: number[] = []
  for (let at = 0; at < warmUps + count; at += 1) {
    const startedAt = performance.now()
    await run(at)
    if (at >= warmUps) times.push(performance.now() - startedAt)
  }
  return times.toSorted((left, right) => left - right)[Math.floor(times.length / 10)] ?? Number.NaN
}

const listStatements = async (pool: Pool): Promise<readonly Statement[]> => {
  const instance = await addInstance(pool)
  const journal = createSettlementJournal(pool, instance)
  const accounts = createAccountSettlements(pool)
  const overview = createSettlementOverview(pool)
  const outbox = createWebhookOutbox(pool)
  const idempotency = createIdempotencyStore(pool, instance)
  const claimed: string[] = []
  const lease = { limit: 128, limitPerAccount: 4, except: [], leaseMs: 30_000 }
  return [
    [
      'claim',
      async (at) => {
        // The rounds of a size use what was claimed at that size.
        if (at === 0) claimed.length = 0
        claimed.push(await claim(journal))
      },
    ],
    [
      'record',
      (at) => journal.recorderFor(claimed[at] ?? '').record({ transaction: claimed[at] ?? '', bytes: '0x' }),
    ],
    ['close', (at) => journal.close(claimed[at] ?? '', closingOf(claimed[at] ?? ''))],
    [
      'claim and fail',
      async () =>
        await journal.close(await claim(journal), { state: 'failed', reason: 'insufficient_funds' }),
    ],
    ['find by id', () => journal.find(randomUUID())],
    ['find by transaction', () => journal.listByTransaction('eip155:84532', `0x${randomUUID()}`)],
    ['reconcile: orphaned settlements', () => journal.listOrphaned(200)],
    ['reorg check: unfinal blocks', () => createConfirmedBlocks(pool).list(500)],
    ['metrics: open settlements', () => overview.countOpen()],
    ['/stats/settlements', () => createStatistics(pool).countSettlements()],
    ['dashboard: newest', () => accounts.list({ accountId: 'account 2', limit: 50 })],
    ['dashboard: failed', () => accounts.list({ accountId: 'account 2', limit: 50, status: 'failed' })],
    [
      'dashboard: one network',
      () => accounts.list({ accountId: 'account 2', limit: 50, network: 'solana:devnet' }),
    ],
    ['dashboard: usage', () => createQuotas(pool).listDays('account 2', 7, new Date())],
    [
      'operators: failed, one network',
      () => overview.list({ status: 'failed', network: 'solana:devnet', limit: 50 }),
    ],
    [
      'webhook poll: nothing due',
      async (at) => {
        if (at === 0) await endDeliveries(pool)
        await outbox.leaseDue(lease)
      },
    ],
    ['purge: nothing expired', async () => void (await Promise.all([outbox.purge(), idempotency.purge()]))],
  ]
}

/** The events of the rounds before would be work for the poll. */
const endDeliveries = async (pool: Pool): Promise<void> => {
  await pool.query("update webhook_deliveries set state = 'failed', due_at = null where state = 'waiting'")
  await pool.query('vacuum webhook_deliveries')
}

const claim = async (journal: SettlementJournal): Promise<string> =>
  (await journal.claim(claimOf({ caller: 'account 2' })))?.id ?? ''

const closingOf = (transaction: string) =>
  ({
    state: 'confirmed',
    transaction,
    block: { number: 2_000_000_001n, hash: `0x${'1'.repeat(64)}` },
  }) as const
