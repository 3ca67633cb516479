import { readFileSync } from 'node:fs'
import { posix } from 'node:path'
import { fileURLToPath } from 'node:url'
import { listFiles } from './listFiles.js'

/** Paths of test files, from the project root. */
interface DividedTests {
  /** Need only the test process. */
  readonly fast: readonly string[]
  /** Need a chain, a database, Redis or a separate process. */
  readonly integration: readonly string[]
}

/**
 * Modules that no fast test imports, even indirectly: processes, browsers, virtual machines of chains, the run's
 * Postgres.
 */
export const slowModules: readonly string[] = [
  'node:child_process',
  'litesvm',
  '@ton/sandbox',
  '@ethereumjs/evm',
  '@acala-network/chopsticks-core',
  '@stacks/clarinet-sdk',
  'playwright-core',
  'test/support/postgres.ts',
]

const root = fileURLToPath(new URL('../../', import.meta.url))

/** By transitive imports; type-only imports do not count. */
export const divideTests = (): DividedTests => {
  const tests = listFiles('test').filter((path) => path.endsWith('.test.ts'))
  const imports = new Map<string, readonly string[]>()
  const integration = new Set(tests.filter((test) => findSlowModule(test, imports) !== null))
  return { fast: tests.filter((test) => !integration.has(test)), integration: [...integration] }
}

/** The slow module that a file imports transitively, or null. `imports` caches parsed files. */
export const findSlowModule = (
  path: string,
  imports: Map<string, readonly string[]> = new Map(),
): string | null => {
  const reached = new Set([path])
  for (const file of reached) {
    if (slowModules.includes(file)) return file
    if (!file.endsWith('.ts')) continue
    const imported = imports.get(file) ?? readImports(file)
    imports.set(file, imported)
    // The set grows during iteration.
    for (const each of imported) reached.add(each)
  }
  return null
}

const importing =
  /^(?:import|export)\s(?!type\s)[^'"]*?from\s'([^']+)'|^import\s'([^']+)'|\bimport\('([^']+)'\)/gm

/**
 * Packages by name, files by path from the root. A regular expression, because parsing would take too long.
 */
const readImports = (path: string): readonly string[] =>
  [...readFileSync(posix.join(root, path), 'utf8').matchAll(importing)].flatMap((match) => {
    const specifier = match[1] ?? match[2] ?? match[3]
    if (specifier === undefined) return []
    if (!specifier.startsWith('.')) return [/^(?:@[^/]+\/)?[^/]+/.exec(specifier)?.[0] ?? specifier]
    return [posix.join(posix.dirname(path), specifier.replace(/\.js$/, '.ts'))]
  })
