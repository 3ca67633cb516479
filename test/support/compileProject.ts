import { existsSync } from 'node:fs'
import { chmod, mkdir, rm, symlink, writeFile } from 'node:fs/promises'
import { isBuiltin } from 'node:module'
import { basename, join } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { build, type Plugin, transform } from 'esbuild'
import { listFiles } from './listFiles.js'
import { bundleParameters, scriptOf } from './runBundle.js'
import { makeTemporaryFolder } from './temporaryFolder.js'

/** The project's sources as JavaScript, in the same folder layout. */
interface CompiledProject {
  readonly folder: string
  remove(): Promise<void>
}

const root = fileURLToPath(new URL('../../', import.meta.url))
// Files that the sources read or import at run time, and their packages.
const linked = ['node_modules', 'migrations', 'openapi', 'scripts', 'web', 'package.json'] as const

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
    loader: { '.json': 'copy' },
    sourcemap: true,
    logLevel: 'error',
  })
  for (const name of linked) await symlink(join(root, name), join(folder, name))
  return {
    folder,
    remove: () => rm(folder, { recursive: true, force: true }),
  }
}

/** A program as Node runs it. */
export const stripTypes = async (program: string): Promise<string> =>
  (await transform(program, { loader: 'ts', target: 'esnext' })).code

// They find files relative to their own.
const loaded = /^(?:pino|@fastify\/swagger-ui)(?:\/|$)/
const anyFile = /^/

const loadOthers: Plugin = {
  name: 'load-others',
  setup: ({ onLoad, onResolve }) => {
    onResolve({ filter: /^[^./]/ }, ({ path, kind }) =>
      kind !== 'entry-point' && (isBuiltin(path) || loaded.test(path))
        ? { path, namespace: 'loaded' }
        : undefined,
    )
    onLoad({ filter: anyFile, namespace: 'loaded' }, ({ path }) => ({
      contents: `module.exports = loadModule(${JSON.stringify(path)})`,
    }))
  },
}

/** What tests start most often. */
const bundledPrograms = ['src/main', 'test/demo/buy']

/**
 * Replaces programs by ones that run the same code, with its packages, as one script: Node takes most of the processor time
 * of a start to find thousands of small files and to compile them, and can keep what it compiled of a script. The scripts
 * are as deep as the folders of `src`, so that what the sources read relative to themselves is found. `test/support` must be
 * in the folder.
 */
export const bundlePrograms = async (
  folder: string,
  {
    sources = root,
    programs = bundledPrograms,
  }: { readonly sources?: string; readonly programs?: readonly string[] } = {},
): Promise<void> => {
  const bundled = join(folder, 'src', 'bundled')
  if (existsSync(bundled)) return
  const { outputFiles } = await build({
    absWorkingDir: sources,
    entryPoints: programs.map((program) => `${program}.ts`),
    outbase: sources,
    outdir: folder,
    write: false,
    bundle: true,
    format: 'esm',
    platform: 'node',
    legalComments: 'none',
    define: { 'import.meta': 'moduleMeta' },
    plugins: [loadOthers],
    logLevel: 'error',
  })
  await mkdir(bundled)
  for (const { path, text } of outputFiles) await replaceProgram(path, text, bundled)
}

const replaceProgram = async (path: string, code: string, bundled: string): Promise<void> => {
  const [hashbang = ''] = /^#!.*\n/.exec(code) ?? []
  const runner = join(bundled, basename(path))
  const script = `(async function (${bundleParameters.join(', ')}) {"use strict";\n${code.slice(hashbang.length)}\n})`
  await writeFile(scriptOf(runner), script)
  await writeFile(
    runner,
    `import { runBundle } from '../../test/support/runBundle.js'\nawait runBundle(import.meta.url)\n`,
  )
  await writeFile(path, `${hashbang}import '${pathToFileURL(runner).href}'\n`)
  await chmod(path, 0o755)
}

const listSources = (): string[] =>
  ['src', 'test']
    .flatMap(listFiles)
    .filter((path) => /(?<!\.test)\.ts$|^test\/support\/contracts\/\w+\.json$/.test(path))
