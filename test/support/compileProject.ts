import { rm, symlink } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { build } from 'esbuild'
import { listFiles } from './listFiles.js'
import { makeTemporaryFolder } from './temporaryFolder.js'

/** The project's sources as JavaScript, in the same folder layout. */
export interface CompiledProject {
  readonly folder: string
  remove(): Promise<void>
}

const root = fileURLToPath(new URL('../../', import.meta.url))
// Files that the sources read at run time, and the packages that they import.
const linked = ['node_modules', 'migrations', 'package.json'] as const

/** Compiles the programs that tests run in separate processes. */
export const compileProject = async (): Promise<CompiledProject> => {
  const folder = await makeTemporaryFolder('compiled-')
  await build({
    absWorkingDir: root,
    entryPoints: listSources(),
    outbase: root,
    outdir: folder,
    format: 'esm',
    platform: 'node',
    sourcemap: true,
    logLevel: 'error',
  })
  for (const name of linked) await symlink(join(root, name), join(folder, name))
  return {
    folder,
    remove: () => rm(folder, { recursive: true, force: true }),
  }
}

const listSources = (): string[] =>
  ['src', 'test'].flatMap(listFiles).filter((path) => /(?<!\.test)\.ts$/.test(path))
