import type { TestProject } from 'vitest/node'
import { buildWeb } from '../../scripts/buildWeb.mjs'
import { compileProject } from './compileProject.js'
import { compiledFolderVariable } from './program.js'

/** Compiles the sources once per run, for the tests and for the programs that they start, and bundles the console. */
export default async function compileSetup({
  vitest,
}: TestProject): Promise<(() => Promise<void>) | undefined> {
  await buildWeb()
  // In watch mode the sources change between runs.
  if (vitest.config.watch) return undefined
  // Another project of this run has compiled them.
  if (process.env[compiledFolderVariable] !== undefined) return undefined
  const { folder, remove } = await compileProject()
  // Inherited by workers.
  process.env[compiledFolderVariable] = folder
  return remove
}
