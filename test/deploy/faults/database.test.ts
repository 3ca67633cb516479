import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { Core } from '../../../src/compose.js'
import { openCore } from '../../support/core.js'
import { createManualClock } from '../../support/manualClock.js'
import { pollUntil } from '../../support/pollUntil.js'
import { useTestDatabase } from '../../support/postgres.js'
import { findPromtool } from '../../support/promtool.js'
import { untilReady } from '../../support/untilReady.js'
import { expectAlert } from '../expectAlert.js'
import { type Observed, observe } from '../observe.js'
import { nameSeries, type Scrape } from '../scrape.js'

/* What happens to a database that answers, but not every statement in time. */

const promtool = (await findPromtool()) ?? ''

describe.skipIf(promtool === '')('the alert', () => {
  const database = useTestDatabase({ isSandbox: true })
  // Its time is that of the pages, which begin in 1970.
  const clock = createManualClock(new Date(0))
  let core: Core
  let service: Observed

  beforeAll(async () => {
    core = await openCore({
      databaseUrl: database.url,
      environment: { SANDBOX: 'true', DATABASE_POOL_SIZE: '6' },
      clock,
    })
    service = await observe(core, database.url)
  })
  afterAll(() => core.close())

  /** Runs a job that looks for open settlements while their table is locked, until `work` has ended. */
  const whileLocked = async (runs: number, work: (waiting: string) => Promise<void>): Promise<void> => {
    const holder = await database.pool.connect()
    try {
      await holder.query('begin; lock table open_settlements in access exclusive mode')
      const running = Array.from({ length: runs }, () =>
        service.run('reconcileSettlements').catch(() => undefined),
      )
      // The text of a statement is cut there, before it names the table. A heartbeat may wait for the lock too.
      await work(
        "datname = current_database() and wait_event_type = 'Lock' and starts_with(query, '/* find */')",
      )
      await holder.query('rollback')
      await Promise.all(running)
    } finally {
      holder.release()
    }
  }

  const waitFor = async (statement: string, rows: number, what: string): Promise<void> => {
    await pollUntil(async () => (await database.pool.query(statement)).rowCount === rows, what)
  }

  it('QuittanceStatementsSlow fires when statements take more than a second', async () => {
    const before = await service.scrape()
    const during: Scrape[] = []
    const slow = { statement: 'find' }
    const [sum, count] = ['sum', 'count'].map((part) => `quittance_statement_duration_seconds_${part}`)
    for (let round = 1; round <= 3; round += 1) {
      await whileLocked(1, (waiting) =>
        waitFor(
          `select from pg_stat_activity where ${waiting} and clock_timestamp() - query_start > interval '1.1 seconds'`,
          1,
          'a statement that waits for more than a second',
        ),
      )
      const page = await service.scrapeUntil([sum ?? '', slow], (seconds) => seconds > round)
      expect(Number(page.get(nameSeries(count ?? '', slow)))).toBeGreaterThanOrEqual(round)
      during.push(page, page)
    }
    const [first = before, ...rest] = during
    await expectAlert(promtool, 'QuittanceStatementsSlow', { before: [before], during: [first, ...rest] })
  })

  it('QuittanceStatementsTimeOut fires when six of them did, and /ready says that the database is slow', async () => {
    const errors = 'quittance_statement_errors_total'
    const labels = { statement: 'find', class: 'timeout' }
    const before = await service.scrapeUntil([errors, labels], 0)
    const checkReadiness = async () => {
      // An answer is kept for a second of this clock.
      await clock.advance(1_000)
      return await core.useCases.core.checkReadiness()
    }
    await untilReady(checkReadiness, { database: 'ok' })
    let canceled = 0
    await whileLocked(6, async (waiting) => {
      await pollUntil(async () => {
        const cancel = `select pg_cancel_backend(pid) from pg_stat_activity where ${waiting}`
        canceled += (await database.pool.query(cancel)).rowCount ?? 0
        return Number((await service.scrape()).get(nameSeries(errors, labels))) === 6
      }, 'six statements to be canceled')
    })
    expect(canceled).toBeGreaterThanOrEqual(6)
    const during = await service.scrapeUntil([errors, labels], 6)
    await untilReady(checkReadiness, { database: 'slow' })
    const ready = await service.app.inject('/ready')
    expect(ready.statusCode).toBe(200)
    expect(ready.json()).toMatchObject({ status: 'ready', checks: { database: 'slow' } })
    await expectAlert(promtool, 'QuittanceStatementsTimeOut', { before: [before], during: [during] })
  })

  it('QuittancePoolExhausted fires when more callers wait than there are connections', async () => {
    const waiting = ['quittance_pool_waiting', { pool: 'payments' }] as const
    const before = await service.scrapeUntil(waiting, 0)
    let during = before
    await whileLocked(8, async () => {
      during = await service.scrapeUntil(waiting, (callers) => callers > 0)
    })
    await expectAlert(promtool, 'QuittancePoolExhausted', { before: [before], during: [during] })
  })
})

describe.skipIf(promtool === '')('the alert of background jobs', () => {
  const database = useTestDatabase({ isSandbox: true })

  it('QuittanceJobNotDone fires when a job fails for minutes, and not while all succeed', async () => {
    const clock = createManualClock(new Date(0))
    const core = await openCore({ databaseUrl: database.url, environment: { SANDBOX: 'true' }, clock })
    const service = await observe(core, database.url)
    const failures = ['quittance_job_failures_total', { background_job: 'measureQueues' }] as const
    const { signal } = new AbortController()
    const runAll = async (): Promise<readonly string[]> => {
      const failed: string[] = []
      for (const { name, run } of core.jobs) await run(signal).catch(() => failed.push(name))
      return failed
    }
    /** A page a minute. */
    const passMinutes = async (minutes: number, expected: (failed: readonly string[]) => void) => {
      const pages: Scrape[] = []
      for (let minute = 0; minute < minutes; minute += 1) {
        expected(await runAll())
        const done = clock.now().getTime() / 1_000
        const late = ['quittance_job_done_timestamp_seconds', { background_job: 'purgeHolds' }] as const
        const page = await service.scrapeUntil(late, done)
        // A busy machine may be slow in other ways.
        pages.push(new Map([...page].filter(([series]) => series.startsWith('quittance_job_'))))
        await clock.advance(60_000)
      }
      return pages
    }
    const [first, ...others] = await passMinutes(8, (failed) => expect(failed).toEqual([]))
    await database.pool.query('alter table webhook_endpoints rename to away')
    const [begin, ...rest] = await passMinutes(8, (failed) => expect(failed).toContain('measureQueues'))
    if (first === undefined || begin === undefined) throw new Error('No pages')
    expect(Number(rest.at(-1)?.get(nameSeries(...failures)))).toBe(8)
    await expectAlert(promtool, 'QuittanceJobNotDone', {
      before: [first, ...others],
      during: [begin, ...rest],
    })
    await core.close()
  })
})
