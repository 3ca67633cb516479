import type { TestProject } from 'vitest/node'
import { compileProject } from './compileProject.js'
import { openTemplate, startPostgres, useExistingPostgres } from './postgresServer.js'
import { compiledFolderVariable } from './program.js'

/**
 * One Postgres and one migrated template per run, and compiled programs for separate processes.
 * `TEST_DATABASE_URL` selects an existing server; its user must have CREATEDB.
 */
export default async function globalSetup(project: TestProject): Promise<() => Promise<void>> {
  const [removeCompiled, closePostgres] = await Promise.all([
    project.vitest.config.watch ? nothing : provideCompiled(),
    providePostgres(project),
  ])
  // A terminal that disappears. vitest itself exits on the other signals, so that exit hooks run.
  process.once('SIGHUP', () => process.exit(129))
  return async () => {
    try {
      await removeCompiled()
    } finally {
      await closePostgres()
    }
  }
}

const providePostgres = async (project: TestProject): Promise<() => Promise<void>> => {
  const url = process.env.TEST_DATABASE_URL
  const { provided, close } = await openTemplate(url ? useExistingPostgres(url) : await startPostgres())
  project.provide('postgres', provided)
  return close
}

const provideCompiled = async (): Promise<() => Promise<void>> => {
  const { folder, remove } = await compileProject()
  // Inherited by workers.
  process.env[compiledFolderVariable] = folder
  return remove
}

/** In watch mode sources change between runs; tsx always runs the current ones. */
const nothing = async (): Promise<void> => undefined
