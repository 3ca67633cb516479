import { setMaxListeners } from 'node:events'
import type { Clock } from './ports/clock.js'
import type { Job } from './ports/job.js'
import type { Logger } from './ports/logger.js'

export interface NamedJob extends Job {
  readonly name: string
}

export const listJobs = (
  nouns: readonly { readonly jobs: Readonly<Record<string, Job>> }[],
): readonly NamedJob[] =>
  nouns.flatMap(({ jobs }) => Object.entries(jobs).map(([name, job]) => ({ ...job, name })))

/** Returns a function that stops all jobs and waits for them. A job never overlaps itself; its errors are logged. */
export const startJobs = (jobs: readonly NamedJob[], clock: Clock, logger: Logger): (() => Promise<void>) => {
  const stopped = new AbortController()
  // Prevents Node's leak warning: all jobs and their parallel work listen to this signal.
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
