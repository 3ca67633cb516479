import type { TestProject } from 'vitest/node'
import { findPostgres15 } from './postgres15.js'
import {
  openTemplate,
  type PostgresServer,
  readMajor,
  startPostgres,
  useExistingPostgres,
} from './postgresServer.js'

const advice = 'install postgresql-15, or set TEST_DATABASE_URL to such a server'

/**
 * Postgres 15 for the second run of the store suites: `TEST_DATABASE_URL` if it has this version, otherwise
 * our own. If unavailable the tests are skipped, or setup throws with `REQUIRE_POSTGRES_15=1`.
 */
export default async function globalSetup(project: TestProject): Promise<() => Promise<void>> {
  const server = await findServer()
  if (server === null) {
    if (process.env.REQUIRE_POSTGRES_15 === '1') {
      throw new Error(`REQUIRE_POSTGRES_15=1, but there is no Postgres 15: ${advice}`)
    }
    process.stderr.write(`\n*** store suites on Postgres 15 SKIPPED: not installed; ${advice} ***\n\n`)
    // Matches no test name, so that all tests count as skipped and no file opens a database.
    project.config.testNamePattern = /(?!)/
    return async () => undefined
  }
  const { provided, close } = await openTemplate(server)
  project.provide('postgres', provided)
  return close
}

const findServer = async (): Promise<PostgresServer | null> => {
  const url = process.env.TEST_DATABASE_URL
  if (url && (await readMajor(url)) === 15) return useExistingPostgres(url)
  const binaries = await findPostgres15()
  return binaries === null ? null : startPostgres(binaries)
}
