import { dirname, join, relative, resolve, sep } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { Plugin } from 'vitest/config'
import { compiledFolderVariable } from './program.js'

const root = fileURLToPath(new URL('../../', import.meta.url))

/** Matches what `loadCompiledSources` resolves to; vitest leaves it to Node. */
export const compiledSources: RegExp = /\/compiled-\w+\/src\//

/**
 * Imports of `src/` load the JavaScript that the run compiled, if it did. Otherwise vitest transforms each source once for
 * each of three projects, which takes a tenth of the processor time of all tests.
 */
export const loadCompiledSources = (): Plugin => {
  let isMeasured = false
  return {
    name: 'load-compiled-sources',
    enforce: 'pre',
    // Coverage is counted on what vitest transforms.
    configResolved: ({ test }) => {
      isMeasured = test?.coverage?.enabled === true
    },
    resolveId: (specifier, importer) => {
      const compiled = process.env[compiledFolderVariable]
      if (compiled === undefined || isMeasured) return null
      if (importer === undefined || !specifier.startsWith('.')) return null
      const path = relative(root, resolve(dirname(importer), specifier))
      return path.startsWith(`src${sep}`) ? join(compiled, path.replace(/\.ts$/, '.js')) : null
    },
  }
}
