import { describe, expect, it, vi } from 'vitest'
import { AppError } from '../src/errors.js'
import { listJobs, observeJobs, shareJobs, skipIdleRounds, startJobs } from '../src/jobs.js'
import { createGate } from './support/gate.js'
import { createManualClock, drainEventLoop } from './support/manualClock.js'
import { createMemoryLogger } from './support/memoryLogger.js'

const setup = () => {
  const clock = createManualClock()
  const logger = createMemoryLogger()
  let runs = 0
  const run = async () => {
    runs += 1
  }
  const job = { name: 'count', everyMs: 1_000, run }
  return { clock, logger, job, countRuns: () => runs }
}

describe('startJobs', () => {
  it('runs a job immediately and again after each interval', async () => {
    const { clock, logger, job, countRuns } = setup()
    const stop = startJobs([job], clock, logger)
    await drainEventLoop()
    expect(countRuns()).toBe(1)
    await clock.advance(999)
    expect(countRuns()).toBe(1)
    await clock.advance(1)
    expect(countRuns()).toBe(2)
    await clock.advance(1_000)
    expect(countRuns()).toBe(3)
    await stop()
  })

  it('gives each job its own interval', async () => {
    const { clock, logger, job, countRuns } = setup()
    const slow = createGate()
    const stop = startJobs([{ name: 'slow', everyMs: 1, run: () => slow.opened }, job], clock, logger)
    await clock.advance(0)
    await clock.advance(1_000)
    expect(countRuns()).toBe(2)
    slow.open()
    await stop()
  })

  it('never runs a job concurrently with itself', async () => {
    const { clock, logger } = setup()
    let running = 0
    let most = 0
    const slow = createGate()
    const run = async () => {
      running += 1
      most = Math.max(most, running)
      await slow.opened
      running -= 1
    }
    const stop = startJobs([{ name: 'slow', everyMs: 10, run }], clock, logger)
    for (let round = 0; round < 5; round++) await clock.advance(10)
    slow.open()
    await stop()
    expect(most).toBe(1)
  })

  it.each([
    ['rejects', async () => Promise.reject(new Error('broken'))],
    [
      'throws',
      () => {
        throw new Error('broken')
      },
    ],
  ])('continues a job that %s, and logs its name', async (_, run) => {
    const { clock, logger, job, countRuns } = setup()
    const stop = startJobs([{ name: 'broken', everyMs: 1_000, run }, job], clock, logger)
    await drainEventLoop()
    await clock.advance(1_000)
    await stop()
    expect(countRuns()).toBe(2)
    const said = {
      level: 'error',
      message: 'job.failed',
      fields: { job: 'broken', error: new Error('broken') },
    }
    expect(logger.lines).toEqual([said])
  })

  it('counts the failures of a job in one line every 30 s, and logs its recovery in one', async () => {
    const { clock, logger } = setup()
    let isBroken = true
    const run = async () => {
      if (isBroken) throw new Error('broken')
    }
    const stop = startJobs([{ name: 'deliver', everyMs: 500, run }], clock, logger)
    for (let round = 0; round < 70; round++) await clock.advance(500)
    isBroken = false
    for (let round = 0; round < 4; round++) await clock.advance(500)
    await stop()
    const error = new Error('broken')
    expect(logger.lines.map(({ message, fields }) => [message, fields])).toEqual([
      ['job.failed', { job: 'deliver', error }],
      ['job.failed', { job: 'deliver', error, failures: 61, forSeconds: 30 }],
      ['job.recovered', { job: 'deliver', failures: 70, forSeconds: 35 }],
    ])
  })

  it('logs one outage of a store once, however many jobs it stops, and its end when all of them run again', async () => {
    const { clock, logger } = setup()
    const down = new AppError('SERVICE_UNAVAILABLE', 'The database does not answer at the moment')
    const broken = new Set(['deliver', 'reconcile', 'purge'])
    const jobs = [...broken].map((name) => ({
      name,
      everyMs: 500,
      run: async () => {
        if (broken.has(name)) throw down
      },
    }))
    const stop = startJobs(jobs, clock, logger)
    await clock.advance(500)
    broken.delete('deliver')
    await clock.advance(500)
    expect(logger.lines).toHaveLength(1)
    broken.clear()
    await clock.advance(500)
    await stop()
    expect(logger.lines.map(({ message, fields }) => [message, fields])).toEqual([
      ['job.failed', { job: 'deliver', error: down }],
      ['job.recovered', { job: 'deliver', failures: expect.any(Number), forSeconds: expect.any(Number) }],
    ])
  })

  it('stops when running jobs have finished, and starts no more', async () => {
    const { clock, logger, job, countRuns } = setup()
    const slow = createGate()
    const stop = startJobs([{ name: 'slow', everyMs: 1, run: () => slow.opened }, job], clock, logger)
    await drainEventLoop()
    let isStopped = false
    const stopping = stop().then(() => {
      isStopped = true
    })
    await clock.advance(10_000)
    expect(isStopped).toBe(false)
    slow.open()
    await stopping
    await clock.advance(10_000)
    expect(countRuns()).toBe(1)
    expect(clock.countSleepers()).toBe(0)
  })
})

describe('shareJobs', () => {
  const stopped = new AbortController().signal
  const counted = () => {
    let rounds = 0
    const run = async () => {
      rounds += 1
    }
    return { run, count: () => rounds }
  }

  it('runs a shared job only where its lease is held, and every other job everywhere', async () => {
    const [shared, own] = [counted(), counted()]
    const holders = new Map<string, string>()
    const instances = ['a', 'b', 'c'].map((instance) =>
      shareJobs(
        [
          { name: 'reconcile', everyMs: 2_000, isShared: true, run: shared.run },
          { name: 'flush', everyMs: 1_000, run: own.run },
        ],
        {
          take: async (job) => {
            if (!holders.has(job)) holders.set(job, instance)
            return holders.get(job) === instance
          },
        },
      ),
    )
    for (let round = 0; round < 4; round += 1) {
      for (const jobs of instances) for (const { run } of jobs) await run(stopped)
    }
    expect([shared.count(), own.count()]).toEqual([4, 12])
    expect([...holders.keys()]).toEqual(['reconcile'])
  })

  it('takes a lease that outlasts the pause between two rounds', async () => {
    const asked: unknown[] = []
    const take = async (job: string, leaseMs: number) => {
      asked.push([job, leaseMs])
      return true
    }
    const { run } = counted()
    const jobs = shareJobs([{ name: 'purge', everyMs: 3_600_000, isShared: true, run }], { take })
    for (const job of jobs) await job.run(stopped)
    expect(asked).toEqual([['purge', 3_615_000]])
  })

  it('renews the lease during a long round, and no longer after it', async () => {
    vi.useFakeTimers()
    try {
      const slow = createGate()
      let taken = 0
      const take = async () => {
        taken += 1
        return true
      }
      const [job] = shareJobs([{ name: 'slow', everyMs: 1, isShared: true, run: () => slow.opened }], {
        take,
      })
      const round = job?.run(stopped)
      await vi.advanceTimersByTimeAsync(60_000)
      expect(taken).toBeGreaterThanOrEqual(10)
      slow.open()
      await round
      const during = taken
      await vi.advanceTimersByTimeAsync(60_000)
      expect(taken).toBe(during)
    } finally {
      vi.useRealTimers()
    }
  })
})

describe('skipIdleRounds', () => {
  const stopped = new AbortController().signal

  it('runs a job while there is work, once more after it, and not until there is work again', async () => {
    const { job, countRuns } = setup()
    let hasWork = true
    const [skipping] = skipIdleRounds([{ ...job, needs: 'credit' }], { mayHave: async () => hasWork })
    const runs: number[] = []
    for (const next of [true, false, false, false, true, false]) {
      hasWork = next
      await skipping?.run(stopped)
      runs.push(countRuns())
    }
    expect(runs).toEqual([1, 2, 2, 2, 3, 4])
  })

  it('asks nothing for a job that needs nothing', async () => {
    const { job, countRuns } = setup()
    const mayHave = vi.fn(async () => false)
    const [plain] = skipIdleRounds([job], { mayHave })
    for (let round = 0; round < 3; round++) await plain?.run(stopped)
    expect(countRuns()).toBe(3)
    expect(mayHave).not.toHaveBeenCalled()
  })

  it('runs a job where it is not known whether there is work', async () => {
    const { job, countRuns } = setup()
    const mayHave = async () => Promise.reject(new Error('down'))
    const [skipping] = skipIdleRounds([{ ...job, needs: 'credit' }], { mayHave })
    for (let round = 0; round < 3; round++) await skipping?.run(stopped)
    expect(countRuns()).toBe(3)
  })

  it('repeats the last round after work until it succeeds', async () => {
    const { job } = setup()
    let failures = 2
    let runs = 0
    const run = async () => {
      runs += 1
      failures -= 1
      if (failures >= 0) throw new Error('broken')
    }
    const [skipping] = skipIdleRounds([{ ...job, run, needs: 'credit' }], { mayHave: async () => false })
    for (let round = 0; round < 5; round++) await skipping?.run(stopped).catch(() => undefined)
    expect(runs).toBe(3)
  })

  it.each([
    { everyMs: 500, isShared: true, maxAgeMs: 0, what: 'of its own each time' },
    { everyMs: 2_000, isShared: true, maxAgeMs: 500, what: 'that was found for another job' },
    { everyMs: 15_000, isShared: false, maxAgeMs: 15_000, what: 'as old as its last measurement' },
  ])('gives a job every $everyMs ms an answer $what', async ({ maxAgeMs, ...settings }) => {
    const { job } = setup()
    const mayHave = vi.fn(async () => true)
    const [skipping] = skipIdleRounds([{ ...job, ...settings, needs: 'webhooks' }], { mayHave })
    await skipping?.run(stopped)
    expect(mayHave).toHaveBeenCalledWith('webhooks', maxAgeMs)
  })

  it('counts a skipped round as one that succeeded', async () => {
    const { clock, job } = setup()
    const { jobs, rounds, listStates } = observeJobs([{ ...job, needs: 'credit' }], clock)
    const [skipping] = skipIdleRounds(jobs, { mayHave: async () => false }, rounds)
    await skipping?.run(stopped)
    await clock.advance(60_000)
    await skipping?.run(stopped)
    expect(listStates()).toMatchObject([{ succeededAt: clock.now(), doneAt: clock.now(), failures: 0 }])
  })
})

describe('listJobs', () => {
  it('names the jobs of all nouns', async () => {
    const calls: string[] = []
    const job = (everyMs: number, what: string) => ({ everyMs, run: async () => void calls.push(what) })
    const jobs = listJobs([
      { jobs: { reconcile: job(2_000, 'reconcile'), purge: job(3_600_000, 'purge') } },
      { jobs: {} },
      { jobs: { deliver: job(500, 'deliver') } },
    ])
    for (const { run } of jobs) await run(new AbortController().signal)
    expect(calls).toEqual(['reconcile', 'purge', 'deliver'])
    expect(jobs.map(({ name, everyMs }) => [name, everyMs])).toEqual([
      ['reconcile', 2_000],
      ['purge', 3_600_000],
      ['deliver', 500],
    ])
  })
})

describe('observeJobs', () => {
  it('says how the runs of each job went', async () => {
    const { clock } = setup()
    const begun = clock.now()
    let isBroken = true
    const slow = createGate()
    const observed = observeJobs(
      [
        { name: 'slow', everyMs: 500, isShared: true, run: () => slow.opened },
        {
          name: 'broken',
          everyMs: 1_000,
          run: async () => {
            if (isBroken) throw new Error('broken')
          },
        },
      ],
      clock,
    )
    const unknown = { succeededAt: null, failedAt: null, runningSince: null, lastDurationMs: null }
    const idle = { ...unknown, failures: 0, failuresInAll: 0, doneAt: begun }
    expect(observed.listStates()).toEqual([
      { name: 'slow', everyMs: 500, isShared: true, ...idle },
      { name: 'broken', everyMs: 1_000, isShared: false, ...idle },
    ])
    const { signal } = new AbortController()
    const [slowJob, broken] = observed.jobs
    const running = slowJob?.run(signal)
    await expect(broken?.run(signal)).rejects.toThrow('broken')
    await expect(broken?.run(signal)).rejects.toThrow('broken')
    expect(observed.listStates()).toMatchObject([
      { runningSince: begun },
      { failedAt: begun, failures: 2, succeededAt: null, runningSince: null },
    ])
    isBroken = false
    await clock.advance(1_000)
    await broken?.run(signal)
    slow.open()
    await running
    expect(observed.listStates()).toMatchObject([
      { succeededAt: clock.now(), runningSince: null },
      { failedAt: begun, failures: 0, succeededAt: clock.now() },
    ])
  })

  it('does not count a shared job that another instance does', async () => {
    const { clock, job, countRuns } = setup()
    const observed = observeJobs([{ ...job, isShared: true }], clock)
    const [shared] = shareJobs(observed.jobs, { take: async () => false })
    await shared?.run(new AbortController().signal)
    expect(countRuns()).toBe(0)
    expect(observed.listStates()).toMatchObject([{ succeededAt: null }])
  })
})
