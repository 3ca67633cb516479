import { setMaxListeners } from 'node:events'
import { createFailureLog } from './failureLog.js'
import type { Clock } from './ports/clock.js'
import type { Job, JobLeases, WorkFinder } from './ports/job.js'
import type { Logger } from './ports/logger.js'
import type { JobState } from './ports/operatorOverview.js'

export interface NamedJob extends Job {
  readonly name: string
}

export const listJobs = (
  nouns: readonly { readonly jobs: Readonly<Record<string, Job>> }[],
): readonly NamedJob[] =>
  nouns.flatMap(({ jobs }) => Object.entries(jobs).map(([name, job]) => ({ ...job, name })))

interface ObservedJobs {
  readonly jobs: readonly NamedJob[]
  listStates(): readonly JobState[]
  readonly rounds: RoundObserver
}

/** What happens to a round that does not run here. */
interface RoundObserver {
  /** There was nothing to do. */
  onIdle(name: string): void
  /** Another instance does the job. */
  onLeft(name: string): void
  /** It could not be read which instance does it. */
  onUnknown(name: string): void
}

/** Remembers how the runs of this process go. A shared job that another instance does is not run here. */
export const observeJobs = (jobs: readonly NamedJob[], clock: Pick<Clock, 'now'>): ObservedJobs => {
  const states = new Map<string, JobState>()
  const startedAt = clock.now()
  const changeState = (name: string, changed: Partial<JobState>): void => {
    const state = states.get(name)
    if (state !== undefined) states.set(name, { ...state, ...changed })
  }
  const countFailure = (name: string) => {
    const { failures = 0, failuresInAll = 0 } = states.get(name) ?? {}
    return { failures: failures + 1, failuresInAll: failuresInAll + 1 }
  }
  const observe = ({ run, ...job }: NamedJob): NamedJob => {
    const { name, everyMs, isShared = false } = job
    const initial: JobState = {
      name,
      everyMs,
      isShared,
      succeededAt: null,
      failedAt: null,
      failures: 0,
      runningSince: null,
      doneAt: startedAt,
      lastDurationMs: null,
      failuresInAll: 0,
    }
    states.set(name, initial)
    const change = (changed: Partial<JobState>): void => changeState(name, changed)
    return {
      ...job,
      run: async (stopped) => {
        change({ runningSince: clock.now() })
        const startedAtMs = performance.now()
        try {
          await run(stopped)
          change({ succeededAt: clock.now(), doneAt: clock.now(), failures: 0 })
        } catch (error) {
          change({
            failedAt: clock.now(),
            ...countFailure(name),
          })
          throw error
        } finally {
          change({ runningSince: null, lastDurationMs: performance.now() - startedAtMs })
        }
      },
    }
  }
  return {
    jobs: jobs.map(observe),
    listStates: () => [...states.values()],
    rounds: {
      onIdle: (name) =>
        changeState(name, { succeededAt: clock.now(), doneAt: clock.now(), failures: 0, lastDurationMs: 0 }),
      onLeft: (name) => changeState(name, { doneAt: clock.now() }),
      onUnknown: (name) => changeState(name, { failuresInAll: (states.get(name)?.failuresInAll ?? 0) + 1 }),
    },
  }
}

// Longer than the pause between the rounds of a job that may be taken over soon, and than its renewals.
const leaseMs = 15_000
const renewalMs = 5_000
// A round that takes longer may hang: then another instance may do the job as well. Its work is claimed row by row, so
// that two at once do no harm.
const maxRoundMs = 300_000

// What is found for one job is recent enough for the next ones. A job with shorter rounds has each of its own.
const maxWorkAgeMs = 500

/**
 * Skips rounds without work, but for the first one, in which a job leaves what it showed or remembered of work that is done. A
 * job runs where the database does not answer, which then is a failure of the job.
 */
export const skipIdleRounds = (
  jobs: readonly NamedJob[],
  work: WorkFinder,
  observer?: Pick<RoundObserver, 'onIdle'>,
): readonly NamedJob[] => jobs.map((job) => (job.needs === undefined ? job : skipIdle(job, work, observer)))

const skipIdle = (job: NamedJob, work: WorkFinder, observer?: Pick<RoundObserver, 'onIdle'>): NamedJob => {
  const { name, everyMs, isShared = false, needs, run } = job
  // What is measured by every instance may be as old as it would be without a new measurement.
  const maxAgeMs = isShared ? Math.min(maxWorkAgeMs, everyMs - maxWorkAgeMs) : everyMs
  let isIdle = false
  return {
    ...job,
    run: async (stopped) => {
      const isWaiting = needs === undefined || (await work.mayHave(needs, maxAgeMs).catch(() => true))
      if (!isWaiting && isIdle) return observer?.onIdle(name)
      isIdle = false
      await run(stopped)
      isIdle = !isWaiting
    },
  }
}

/** A shared job runs only where its lease is held; a lease that cannot be read skips the round. */
export const shareJobs = (
  jobs: readonly NamedJob[],
  leases: JobLeases,
  observer?: RoundObserver,
): readonly NamedJob[] =>
  jobs.map((job) => (job.isShared === true ? { ...job, run: shareRun(job, leases, observer) } : job))

const shareRun =
  ({ name, everyMs, run }: NamedJob, leases: JobLeases, observer?: RoundObserver): Job['run'] =>
  async (stopped) => {
    const take = (): Promise<boolean> => leases.take(name, everyMs + leaseMs)
    const isOurs = await take().catch((error: unknown) => {
      observer?.onUnknown(name)
      throw error
    })
    if (!isOurs) return observer?.onLeft(name)
    const givesUpAt = performance.now() + maxRoundMs
    const renewal = setInterval(() => {
      // A failed renewal is repeated before the lease expires.
      if (performance.now() < givesUpAt) take().catch(() => undefined)
    }, renewalMs)
    try {
      await run(stopped)
    } finally {
      clearInterval(renewal)
    }
  }

/** Returns a function that stops all jobs and waits for them. A job never overlaps itself; its errors are logged, and counted while they repeat. */
export const startJobs = (jobs: readonly NamedJob[], clock: Clock, logger: Logger): (() => Promise<void>) => {
  const stopped = new AbortController()
  // Prevents Node's leak warning: all jobs and their parallel work listen to this signal.
  setMaxListeners(0, stopped.signal)
  const failures = createFailureLog({
    logger,
    level: 'error',
    event: 'job.failed',
    recovered: 'job.recovered',
    now: () => clock.now().getTime(),
  })
  /** Jobs that an outage of a store stops; together they are one line of the log. */
  const stalled = new Set<string>()
  const onSuccess = (name: string): void => {
    failures.succeeded(name)
    if (stalled.delete(name) && stalled.size === 0) failures.succeeded(outage)
  }
  const onFailure = (name: string, error: unknown): void => {
    const isStalled = isOutage(error)
    if (isStalled) stalled.add(name)
    failures.failed(isStalled ? outage : name, { job: name, error })
  }
  const repeat = async ({ name, everyMs, run }: NamedJob): Promise<void> => {
    do {
      try {
        await run(stopped.signal)
        onSuccess(name)
      } catch (error) {
        onFailure(name, error)
      }
    } while (await clock.sleep(everyMs, stopped.signal))
  }
  const running = Promise.all(jobs.map(repeat))
  return async () => {
    stopped.abort()
    await running
  }
}

/** Key of the failures; no job has this name. */
const outage = 'outage'

const isOutage = (error: unknown): boolean =>
  error instanceof Error && 'code' in error && error.code === 'SERVICE_UNAVAILABLE'
