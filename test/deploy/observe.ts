import type { FastifyInstance } from 'fastify'
import { type Core, composeApp } from '../../src/compose.js'
import { readConfig } from '../../src/config.js'
import { silentLogger } from '../../src/platform/logger.js'
import { environmentFor } from '../support/core.js'
import { pollUntil } from '../support/pollUntil.js'
import { nameSeries, readScrape, type Scrape } from './scrape.js'

/** A service as its operators see it: by `GET /metrics`. */
export interface Observed {
  readonly app: FastifyInstance
  scrape(): Promise<Scrape>
  /** Scrapes until a series has the value, or one that fits. */
  scrapeUntil(series: Series, fits: number | ((value: number) => boolean)): Promise<Scrape>
  /** One round of a job. */
  run(job: string): Promise<void>
}

type Series = readonly [name: string, labels?: Readonly<Record<string, string>>]

/** Its jobs run only when they are told to. */
export const observe = async (core: Core, databaseUrl: string): Promise<Observed> => {
  const app = await composeApp(readConfig(environmentFor({ databaseUrl })), core, silentLogger)
  const scrape = async () => readScrape((await app.inject('/metrics')).body)
  return {
    app,
    scrape,
    scrapeUntil: async ([name, labels], fits) => {
      const series = nameSeries(name, labels)
      const isFit = typeof fits === 'number' ? (value: number) => value === fits : fits
      return await pollUntil(
        async () => {
          const page = await scrape()
          const value = page.get(series)
          return value !== undefined && isFit(Number(value)) && page
        },
        `${series} to change`,
        async () => (await scrape()).get(series),
      )
    },
    run: async (name) => {
      const job = core.jobs.find((each) => each.name === name)
      if (job === undefined) throw new Error(`There is no job ${name}`)
      await job.run(new AbortController().signal)
    },
  }
}
