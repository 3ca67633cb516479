import type { TestProject } from 'vitest/node'
import { findPostgres15 } from './postgres15.js'
import {
  borrowPostgres,
  openTemplate,
  type PostgresServer,
  readMajor,
  startPostgres,
} from './postgresServer.js'

const advice = 'install postgresql-15, or set TEST_DATABASE_URL to such a server'

/**
 * Gives the second run of the store suites a Postgres 15: that of `TEST_DATABASE_URL` if it is one, else one of our
 * own. Where none can be had, its tests are skipped after one loud line, or it throws when `REQUIRE_POSTGRES_15=1`.
 */
export default async function globalSetup(project: TestProject): Promise<() => Promise<void>> {
  const server = await findServer()
  if (server === null) {
    if (process.env.REQUIRE_POSTGRES_15 === '1') {
      throw new Error(`REQUIRE_POSTGRES_15=1, but there is no Postgres 15: ${advice}`)
    }
    process.stderr.write(`\n*** store suites on Postgres 15 SKIPPED: it is not here; ${advice} ***\n\n`)
    // Matches no test: a file without one that runs opens no database, and its tests count as skipped.
    project.config.testNamePattern = /(?!)/
    return async () => undefined
  }
  const { provided, close } = await openTemplate(server)
  project.provide('postgres', provided)
  return close
}

const findServer = async (): Promise<PostgresServer | null> => {
  const url = process.env.TEST_DATABASE_URL
  if (url && (await readMajor(url)) === 15) return borrowPostgres(url)
  const binaries = await findPostgres15()
  return binaries === null ? null : startPostgres(binaries)
}
