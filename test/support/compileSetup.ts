import type { TestProject } from 'vitest/node'
import { buildWeb } from '../../scripts/buildWeb.mjs'
import { bundlePrograms, compileProject } from './compileProject.js'
import { compiledFolderVariable } from './program.js'

/**
 * Compiles the sources once per run, for the tests and for the programs that they start, and bundles the console. Fast tests
 * start no program.
 */
export default async function compileSetup({
  name,
  vitest,
}: TestProject): Promise<(() => Promise<void>) | undefined> {
  await buildWeb()
  // In watch mode the sources change between runs.
  if (vitest.config.watch) return undefined
  const { [compiledFolderVariable]: known } = process.env
  const { folder, remove } = known === undefined ? await compileProject() : { folder: known }
  if (name !== 'fast') await bundlePrograms(folder)
  // Inherited by workers.
  process.env[compiledFolderVariable] = folder
  return remove
}
