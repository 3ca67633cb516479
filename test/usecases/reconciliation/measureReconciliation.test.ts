import { expect, it, vi } from 'vitest'
import type { UnfinishedNightly } from '../../../src/ports/reconciliation.js'
import type { KindCount, NightlyRun } from '../../../src/protocol/reconciliation.js'
import { createMeasureReconciliation } from '../../../src/usecases/reconciliation/reconcileNightly.js'

const measure = async (last: NightlyRun | null, unfinished: readonly UnfinishedNightly[]) => {
  const setLastReconciliation = vi.fn()
  await createMeasureReconciliation({
    store: { findLastNightly: async () => last, listUnfinishedNightlies: async () => unfinished },
    gauges: { setLastReconciliation },
  })()
  return setLastReconciliation.mock.calls.map(([run]) => run)
}

const finished = (counts: KindCount[], unchecked = 0): NightlyRun => ({
  day: '2026-01-01',
  finishedAt: '2026-01-02T01:00:00.000Z',
  settlements: 1,
  open: 0,
  unchecked,
  waiting: 0,
  differences: 1,
  counts,
  listed: [],
})
const unfinished = (counts: readonly KindCount[], unchecked = 0, day = '2026-01-02'): UnfinishedNightly => ({
  day,
  counts,
  unchecked,
  startedAt: new Date(`${day}T02:00:00.000Z`),
})

it('measures nothing before the first run was started', async () => {
  expect(await measure(null, [])).toEqual([])
})

it('has the higher figure of the last run and those that go on', async () => {
  const last = finished([{ kind: 'event_undelivered', count: 2 }], 1)
  const present = [
    unfinished(
      [
        { kind: 'payment_missing', count: 3 },
        { kind: 'event_undelivered', count: 1 },
      ],
      4,
    ),
  ]
  expect(await measure(last, present)).toEqual([
    {
      counts: [
        { kind: 'payment_missing', count: 3 },
        { kind: 'event_undelivered', count: 2 },
      ],
      unchecked: 4,
      finishedAt: last.finishedAt,
    },
  ])
})

it('has the start of the first run until one has ended, so that one that never ends is noticed', async () => {
  const runs = [unfinished([], 0, '2026-01-02'), unfinished([], 0, '2026-01-03')]
  expect(await measure(null, runs)).toEqual([
    { counts: [], unchecked: 0, finishedAt: '2026-01-02T02:00:00.000Z' },
  ])
})
