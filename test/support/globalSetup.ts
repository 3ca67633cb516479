import type { TestProject } from 'vitest/node'
import { openTemplate, startPostgres, useExistingPostgres } from './postgresServer.js'
import { startRecording } from './recordedStatements.js'

/**
 * One Postgres and one migrated template per run. `TEST_DATABASE_URL` selects an existing server; its user must have
 * CREATEDB.
 */
export default async function globalSetup(project: TestProject): Promise<() => Promise<void>> {
  // A terminal that disappears. vitest itself exits on the other signals, so that exit hooks run.
  process.once('SIGHUP', () => process.exit(129))
  const url = process.env.TEST_DATABASE_URL
  const { provided, close } = await openTemplate(url ? useExistingPostgres(url) : await startPostgres())
  project.provide('postgres', provided)
  startRecording(provided)
  return close
}
