import type { TestProject } from 'vitest/node'
import { openTemplate, startPostgres, useExistingPostgres } from './postgresServer.js'

/**
 * One server and one migrated template per run. `TEST_DATABASE_URL` selects a
 * server; its user needs CREATEDB.
 */
export default async function globalSetup(project: TestProject): Promise<() => Promise<void>> {
  const url = process.env.TEST_DATABASE_URL
  const { provided, close } = await openTemplate(url ? useExistingPostgres(url) : await startPostgres())
  project.provide('postgres', provided)
  return close
}
