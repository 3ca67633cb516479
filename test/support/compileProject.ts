import { rmSync } from 'node:fs'
import { rm, stat, symlink } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { build } from 'esbuild'
import { listFiles } from './listFiles.js'
import { listTemporaryFolders, makeTemporaryFolder } from './temporaryFolder.js'

/** The project's sources as JavaScript, in the same folder layout. */
export interface CompiledProject {
  readonly folder: string
  remove(): Promise<void>
}

const prefix = 'quittance-compiled-'
const abandonedAfterMs = 24 * 3_600_000
const root = fileURLToPath(new URL('../../', import.meta.url))
// Files that the sources read at run time, and the packages that they import.
const linked = ['node_modules', 'migrations', 'package.json'] as const

/** Compiles the programs that tests run in separate processes. */
export const compileProject = async (): Promise<CompiledProject> => {
  await sweep()
  const folder = await makeTemporaryFolder(prefix)
  // For exits without teardown, such as a second Ctrl-C.
  const removeNow = () => rmSync(folder, { recursive: true, force: true })
  process.once('exit', removeNow)
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
    remove: async () => {
      await rm(folder, { recursive: true, force: true })
      process.off('exit', removeNow)
    },
  }
}

const listSources = (): string[] =>
  ['src', 'test'].flatMap(listFiles).filter((path) => /(?<!\.test)\.ts$/.test(path))

/** Removes output of killed runs. */
const sweep = async (): Promise<void> => {
  for (const folder of await listTemporaryFolders(prefix)) {
    const { ctimeMs } = await stat(folder).catch(() => ({ ctimeMs: Number.POSITIVE_INFINITY }))
    if (Date.now() - ctimeMs > abandonedAfterMs) await rm(folder, { recursive: true, force: true })
  }
}
