import { readdirSync, readFileSync } from 'node:fs'
import { posix } from 'node:path'
import { fileURLToPath } from 'node:url'

/** The paths of test files, from the project's root. */
export interface DividedTests {
  /** Need nothing but this process. */
  readonly fast: readonly string[]
  /** Need a chain, a database, Redis or a process of their own. */
  readonly integration: readonly string[]
}

/** What no fast test imports, nor anything that it imports: processes, virtual machines of chains, the run's Postgres. */
export const slowModules: readonly string[] = [
  'node:child_process',
  'litesvm',
  '@ton/sandbox',
  '@ethereumjs/evm',
  'test/support/postgres.ts',
]

const root = fileURLToPath(new URL('../../', import.meta.url))

/** Divides the test files by what they import. What is imported for its types alone does not count. */
export const divideTests = (): DividedTests => {
  const tests = readdirSync(posix.join(root, 'test'), { recursive: true, encoding: 'utf8' })
    .map((name) => posix.join('test', name.replaceAll('\\', '/')))
    .filter((path) => path.endsWith('.test.ts'))
    .sort()
  const imports = new Map<string, readonly string[]>()
  const integration = new Set(tests.filter((test) => findSlowModule(test, imports) !== null))
  return { fast: tests.filter((test) => !integration.has(test)), integration: [...integration] }
}

/** The slow module that a file leads to; null when there is none. `imports` keeps what was read before. */
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
    // A set that grows is walked to its new end.
    for (const each of imported) reached.add(each)
  }
  return null
}

const importing =
  /^(?:import|export)\s(?!type\s)[^'"]*?from\s'([^']+)'|^import\s'([^']+)'|\bimport\('([^']+)'\)/gm

/** Packages by their names, files by their paths from the root. Parsing would take as long as all fast tests do. */
const readImports = (path: string): readonly string[] =>
  [...readFileSync(posix.join(root, path), 'utf8').matchAll(importing)].flatMap((match) => {
    const specifier = match[1] ?? match[2] ?? match[3]
    if (specifier === undefined) return []
    if (!specifier.startsWith('.')) return [/^(?:@[^/]+\/)?[^/]+/.exec(specifier)?.[0] ?? specifier]
    return [posix.join(posix.dirname(path), specifier.replace(/\.js$/, '.ts'))]
  })
