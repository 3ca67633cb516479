import { expect, it } from 'vitest'
import type { BackfillBatch } from '../../../src/ports/backfills.js'
import { createUpgrade } from '../../../src/usecases/upgrade/index.js'
import { createManualClock, drainEventLoop } from '../../support/manualClock.js'
import { createMemoryLogger } from '../../support/memoryLogger.js'

const more: BackfillBatch = { name: 'fill', isFinished: false }

/** Each batch takes as long as the database needs for it. */
const createRun = (batches: readonly (BackfillBatch | null)[], batchMs: number) => {
  const clock = createManualClock()
  const logger = createMemoryLogger()
  const stop = new AbortController()
  let at = 0
  const runBatch = async (): Promise<BackfillBatch | null> => {
    const batch = batches[at] ?? null
    at += 1
    await clock.advance(batchMs)
    return batch
  }
  const { runBackfills } = createUpgrade({ backfills: { runBatch }, clock, logger }).jobs
  const ended = runBackfills.run(stop.signal)
  return { clock, logger, ended, stop: () => stop.abort(), count: () => at }
}

it('pauses after a batch for three times as long as it took, and ends when nothing is left', async () => {
  const run = createRun([more, { ...more, isFinished: true }, null], 100)
  await drainEventLoop()
  expect(run.count()).toBe(1)
  await run.clock.advance(299)
  expect(run.count()).toBe(1)
  await run.clock.advance(1)
  await drainEventLoop()
  expect(run.count()).toBe(2)
  expect(run.logger.lines).toMatchObject([{ message: 'database.backfilled', fields: { backfill: 'fill' } }])

  await run.clock.advance(300)
  await run.ended
  expect(run.count()).toBe(3)
})

it('ends its round before another instance would take the job over', async () => {
  const run = createRun(
    Array.from({ length: 10 }, () => more),
    100_000,
  )
  await drainEventLoop()
  await run.clock.advance(300_000)
  await run.ended
  expect(run.count()).toBe(1)
})

it('ends between two batches when the service stops', async () => {
  const run = createRun([more, more], 100)
  await drainEventLoop()
  run.stop()
  await run.ended
  expect(run.count()).toBe(1)
})
