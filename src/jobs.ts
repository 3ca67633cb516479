import { setMaxListeners } from 'node:events'
import type { Clock } from './ports/clock.js'
import type { Job } from './ports/job.js'
import type { Logger } from './ports/logger.js'

/** A job with the name that log lines carry. */
export interface NamedJob extends Job {
  readonly name: string
}

/** The jobs of all nouns. */
export const listJobs = (
  nouns: readonly { readonly jobs: Readonly<Record<string, Job>> }[],
): readonly NamedJob[] =>
  nouns.flatMap(({ jobs }) => Object.entries(jobs).map(([name, job]) => ({ ...job, name })))

/** Starts jobs at once; the function that it returns stops them. A job never overlaps itself, and its errors are logged. */
export const startJobs = (jobs: readonly NamedJob[], clock: Clock, logger: Logger): (() => Promise<void>) => {
  const stopped = new AbortController()
  // Every job and all its parallel work listen to this signal; Node would warn of a leak.
  setMaxListeners(0, stopped.signal)
  const repeat = async ({ name, everyMs, run }: NamedJob): Promise<void> => {
    do {
      try {
        await run(stopped.signal)
      } catch (error) {
        logger.error({ job: name, error }, 'job.failed')
      }
    } while (await clock.sleep(everyMs, stopped.signal))
  }
  const running = Promise.all(jobs.map(repeat))
  return async () => {
    stopped.abort()
    await running
  }
}
