import { chmodSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join, relative } from 'node:path'
import { root } from './fingerprint.mjs'

/** In dist: the scripts, two levels below the root as the modules of src, so that their paths to other files hold. */
const program = 'program'
/** They find files relative to their own: these packages stay in node_modules, as native modules do. */
const external = ['pino', '@fastify/swagger-ui']

const entry = (hashbang) => `${hashbang}\nimport './${program}/main.js'\n`

// Packages of CommonJS expect `require`; no module of src has these names.
const banner = `import { createRequire as createRequireOfBundle } from 'node:module'
const require = createRequireOfBundle(import.meta.url)`

/**
 * Bundles src/main.ts with its packages to a folder. Node.js needs a third less processor time to start from few scripts than
 * from thousands of files, and V8 keeps less source text. What is imported on demand stays in scripts of its own. Functions
 * keep their names, and maps beside the scripts name the lines of src for `node --enable-source-maps`. Types are not checked.
 * Resolves to the paths of the scripts and their maps in the folder.
 */
export const bundle = async (folder) => {
  const { build } = await import('esbuild').catch(() => {
    throw new Error('dist does not match src, and esbuild is not installed: run npm ci.')
  })
  const { metafile } = await build({
    absWorkingDir: root,
    entryPoints: ['src/main.ts'],
    outdir: join(folder, program),
    chunkNames: '[name]-[hash]',
    bundle: true,
    splitting: true,
    format: 'esm',
    platform: 'node',
    target: 'node20.18',
    external,
    banner: { js: banner },
    minifySyntax: true,
    minifyWhitespace: true,
    // The line of a stack trace says something without a map.
    lineLimit: 160,
    sourcemap: true,
    sourcesContent: false,
    legalComments: 'none',
    plugins: [withoutMap],
    metafile: true,
    logLevel: 'error',
  })
  const [hashbang = ''] = readFileSync(join(root, 'src', 'main.ts'), 'utf8').split('\n')
  const main = join(folder, 'main.js')
  writeFileSync(main, entry(hashbang.startsWith('#!') ? hashbang : '#!/usr/bin/env node'))
  // The command `quittance` of the image is a link to it.
  chmodSync(main, 0o755)
  writeFileSync(join(folder, 'licenses.txt'), collectLicenses(Object.keys(metafile.inputs)))
  return Object.keys(metafile.outputs).map((path) => relative(folder, join(root, path)))
}

const emptyMap = Buffer.from(JSON.stringify({ version: 3, sources: [''], mappings: 'A' })).toString('base64')

/** Gives packages an empty map, so that esbuild leaves them out of its own. */
const withoutMap = {
  name: 'without-map',
  setup: ({ onLoad }) => {
    onLoad({ filter: /[\\/]node_modules[\\/].*\.[cm]?js$/ }, ({ path }) => ({
      contents: `${readFileSync(path, 'utf8')}\n//# sourceMappingURL=data:application/json;base64,${emptyMap}\n`,
      loader: 'js',
    }))
  },
}

/**
 * The licenses of what a bundle contains ask for their text beside it. A package without a license file states its license
 * in its package.json, and its authors there or in its README.
 */
export const collectLicenses = (inputs) => {
  const folders = new Set(
    inputs.flatMap((path) => /^.*\bnode_modules\/(?:@[^/]+\/)?[^/]+(?=\/)/.exec(path)?.[0] ?? []),
  )
  const texts = [...folders].map((folder) => {
    const from = join(root, folder)
    const { name, version, license, author } = JSON.parse(readFileSync(join(from, 'package.json'), 'utf8'))
    const files = readdirSync(from).filter((each) => /^(?:licen[cs]e|copying|copyright|notice)/i.test(each))
    const shown = files.length > 0 ? files : readdirSync(from).filter((each) => /^readme/i.test(each))
    const stated = [`License: ${license ?? 'see below'}`, `Author: ${author?.name ?? author ?? 'see below'}`]
    const parts = [
      `${name} ${version}`,
      ...(files.length > 0 ? [] : [stated.join('\n')]),
      ...shown.sort().map((each) => readFileSync(join(from, each), 'utf8').trim()),
    ]
    return `${parts.join('\n\n')}\n`
  })
  return [...new Set(texts)].sort().join('\n---\n\n')
}
