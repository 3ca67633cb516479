import { randomUUID } from 'node:crypto'
import { beforeEach, describe, expect, it } from 'vitest'
import { composeCore } from '../../../../src/compose.js'
import { readConfig } from '../../../../src/config.js'
import { systemClock } from '../../../../src/platform/clock.js'
import { silentLogger } from '../../../../src/platform/logger.js'
import { tiers } from '../../../../src/protocol/tiers.js'
import { createSettlementJournal } from '../../../../src/stores/postgres/journal/settlementJournal.js'
import { createStatistics } from '../../../../src/stores/postgres/statistics/statistics.js'
import { claimOf } from '../../../support/claimOf.js'
import { emptyTables } from '../../../support/emptyTables.js'
import { addInstance } from '../../../support/instances.js'
import { usePatientQueues } from '../../../support/patientQueues.js'
import { useTestDatabase } from '../../../support/postgres.js'
import { findWorkDifferences } from '../../../support/workTables.js'

describe('statistics in Postgres', () => {
  usePatientQueues()
  const database = useTestDatabase()
  beforeEach(async () => {
    await emptyTables(database.pool, 'settlements', 'instances', 'request_statistics')
  })

  it('sum requests over days and instances', async () => {
    const ours = createStatistics(database.pool)
    const theirs = createStatistics(database.otherPool)
    expect(await ours.readRequests()).toEqual({ requests: 0, failures: 0, durationMs: 0 })
    const totals = { requests: 2, failures: 1, durationMs: 0.5 }
    await Promise.all(
      Array.from({ length: 20 }, (_, index) =>
        (index % 2 ? ours : theirs).addRequests({ source: randomUUID(), sequence: 1, ...totals }),
      ),
    )
    await database.pool.query("update request_statistics set day = day - interval '1 day'")
    const batch = { source: randomUUID(), sequence: 1, ...totals }
    await ours.addRequests(batch)
    // The answer was lost.
    await ours.addRequests(batch)
    expect(await theirs.readRequests()).toEqual({ requests: 42, failures: 21, durationMs: 10.5 })
  })

  it('are written on close, and available after a restart', async () => {
    const start = () =>
      composeCore(readConfig({ DATABASE_URL: database.url, SANDBOX: 'false' }), {
        clock: systemClock,
        logger: silentLogger,
        measuresProcess: false,
      })
    const first = await start()
    first.useCases.stats.countRequest({ status: 200, durationMs: 5 })
    await first.close()
    const second = await start()
    expect(await second.useCases.stats.readRequestStatistics()).toMatchObject({
      totalRequests: 1,
      avgDurationMs: 5,
    })
    await second.close()
  })

  it('count settlements by state, claims as pending', async () => {
    const journal = createSettlementJournal(database.pool, await addInstance(database.pool))
    const open = async () => (await journal.claim(claimOf()))?.id ?? ''
    await open()
    const pending = await open()
    await journal.recorderFor(pending).record({ transaction: 't', bytes: 'b' })
    await journal.close(await open(), { state: 'failed', reason: 'insufficient_funds' })
    for (let row = 0; row < 3; row += 1) {
      await journal.close(await open(), { state: 'confirmed', transaction: 't' })
    }
    const counts = await createStatistics(database.pool).countSettlements()
    expect(counts).toEqual({ confirmed: 3, failed: 1, pending: 2 })
  })

  it('equal a recount at every moment while instances settle', async () => {
    const journals = await Promise.all(
      [database.pool, database.otherPool].map(async (pool) =>
        createSettlementJournal(pool, await addInstance(pool)),
      ),
    )
    const settle = async (at: number) => {
      const [journal] = at % 2 === 0 ? journals : journals.toReversed()
      const caller = `account ${at % 3}`
      const claimed = await journal?.claim(claimOf({ caller }), { tier: tiers.enterprise, at: new Date() })
      if (at % 4 === 0) return
      const closing =
        at % 4 === 1
          ? ({ state: 'failed', reason: 'insufficient_funds' } as const)
          : ({ state: 'confirmed', transaction: `t${at}`, block: { number: 7n, hash: '0x7' } } as const)
      await journal?.close(claimed?.id ?? '', closing)
    }
    let isRunning = true
    const compare = async () => {
      const found: unknown[] = []
      for (let round = 0; isRunning || round < 3; round++) {
        // One statement: counters and recount of one snapshot.
        found.push(...(await findWorkDifferences(database.pool)))
      }
      return found
    }
    const compared = compare()
    await Promise.all(Array.from({ length: 400 }, (_, at) => settle(at)))
    isRunning = false
    expect(await compared).toEqual([])
    const counts = await createStatistics(database.pool).countSettlements()
    expect(counts).toEqual({ confirmed: 200, failed: 100, pending: 100 })
    expect(await findWorkDifferences(database.pool)).toEqual([])
  })
})
