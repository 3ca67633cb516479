import { chmod, readFile, rm, symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { build, type Plugin } from 'esbuild'
import { listFiles } from './listFiles.js'
import { makeTemporaryFolder } from './temporaryFolder.js'

/** The project's sources as JavaScript, in the same folder layout. */
interface CompiledProject {
  readonly folder: string
  remove(): Promise<void>
}

const root = fileURLToPath(new URL('../../', import.meta.url))
// Files that the sources read at run time, and the packages that they import.
const linked = ['node_modules', 'migrations', 'openapi', 'web', 'package.json'] as const

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
  await bundleService(folder)
  for (const name of linked) await symlink(join(root, name), join(folder, name))
  return {
    folder,
    remove: () => rm(folder, { recursive: true, force: true }),
  }
}

// Node takes longer to load their hundreds of small files than to start the rest of the service.
const inlined = /^(?:viem|ox|abitype|zod|fastify-type-provider-zod|nodemailer|@noble|@scure)(?:\/|$)/

const keepOtherPackages: Plugin = {
  name: 'keep-other-packages',
  setup: ({ onResolve }) => {
    onResolve({ filter: /^[^./]/ }, ({ path, kind }) =>
      kind === 'entry-point' || inlined.test(path) ? undefined : { path, external: true },
    )
  },
}

/**
 * Replaces `src/main.js` by one that loads a few large files, with the same code: a start takes two thirds of the processor
 * time. They are as deep as the folders of `src`, so that what the sources read relative to themselves is found.
 */
const bundleService = async (folder: string): Promise<void> => {
  await build({
    absWorkingDir: root,
    entryPoints: { 'src/bundled/main': 'src/main.ts' },
    outdir: folder,
    chunkNames: 'src/bundled/[name]-[hash]',
    bundle: true,
    splitting: true,
    format: 'esm',
    platform: 'node',
    plugins: [keepOtherPackages],
    logLevel: 'error',
  })
  const [hashbang] = (await readFile(join(root, 'src', 'main.ts'), 'utf8')).split('\n')
  await writeFile(join(folder, 'src', 'main.js'), `${hashbang}\nimport './bundled/main.js'\n`)
  await chmod(join(folder, 'src', 'main.js'), 0o755)
}

const listSources = (): string[] =>
  ['src', 'test'].flatMap(listFiles).filter((path) => /(?<!\.test)\.ts$/.test(path))
