import type { TestProject } from 'vitest/node'
import { borrowPostgres, openTemplate, startPostgres } from './postgresServer.js'

/**
 * Gives the run one Postgres and one migrated template. `TEST_DATABASE_URL` names a server to use instead
 * of our own; its user must be allowed to create databases.
 */
export default async function globalSetup(project: TestProject): Promise<() => Promise<void>> {
  const url = process.env.TEST_DATABASE_URL
  const { provided, close } = await openTemplate(url ? borrowPostgres(url) : await startPostgres())
  project.provide('postgres', provided)
  return close
}
