// Removes from node_modules what the service cannot load: follows the imports of dist and scripts as this version of
// Node.js resolves them, and keeps the files that they reach, with the manifests and licenses of their packages. So type
// declarations, source maps, tests, documentation, browser bundles, sources, the CommonJS or ESM twin that nothing
// imports, and packages without a reached file go, whatever they are called in the next version.
//
// Where imports cannot be followed, files stay: a package whose reached code computes a path or a specifier stays as a
// whole, except the folders and extensions below. Started by .ci/prune-modules, after the build.
import { existsSync, readdirSync, readFileSync, realpathSync, rmSync, statSync } from 'node:fs'
import { createRequire, isBuiltin } from 'node:module'
import { basename, dirname, join } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'

if (import.meta.resolve('./a', 'file:///b/c') !== 'file:///b/a') {
  process.stderr.write('error: run with --experimental-import-meta-resolve\n')
  process.exit(1)
}
const root = realpathSync('.')
const modules = join(root, 'node_modules')

/** Folders in the root of a package that only its authors use. */
const idleFolder = /^(?:\.github|benchmarks?|coverage|docs?|examples?|tests?)\//
/** TypeScript and its maps, C and C++ for compiling a native module, and prose: Node.js loads none of them. */
const idleExtension = /\.(?:[cm]?ts|map|tsbuildinfo|[ch]|cc|[ch]pp|gypi?|md|markdown|tgz)$/i
/** node-gyp-build loads only `prebuilds/<platform>-<arch>/` of this machine. */
const foreignPrebuild = new RegExp(`^prebuilds/(?!${process.platform}-${process.arch}/)`)
const license = /^(?:licen[cs]e|copying|copyright|notice)/i

const listFiles = (folder) =>
  existsSync(folder)
    ? readdirSync(folder, { recursive: true, withFileTypes: true })
        .filter((entry) => !entry.isDirectory())
        .map((entry) => join(entry.parentPath ?? entry.path, entry.name))
    : []

/** The root of the package that owns a file: its own, where the file belongs to none in node_modules. */
const packageOf = (file) => /^.*\/node_modules\/(?:@[^/]+\/)?[^/]+/.exec(file)?.[0] ?? root
const filesOf = new Map()
for (const file of listFiles(modules)) {
  const owner = packageOf(file)
  const files = filesOf.get(owner)
  if (files === undefined) filesOf.set(owner, [file])
  else files.push(file)
}

const readManifest = (folder) => JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'))
const dependenciesOf = new Map()
const listDependencies = (owner) => {
  const known = dependenciesOf.get(owner)
  if (known !== undefined) return known
  const { dependencies, optionalDependencies, peerDependencies } = readManifest(owner)
  const names = new Set(Object.keys({ ...dependencies, ...optionalDependencies, ...peerDependencies }))
  dependenciesOf.set(owner, names)
  return names
}

const reached = new Set()
const queue = []
const reach = (file) => {
  if (reached.has(file) || !file.startsWith(root) || !existsSync(file) || !statSync(file).isFile()) return
  reached.add(file)
  queue.push(file)
}
const entire = new Set()
const reachEntirely = (owner) => {
  if (entire.has(owner) || owner === root) return
  entire.add(owner)
  for (const file of filesOf.get(owner) ?? []) {
    const path = file.slice(owner.length + 1)
    if (![idleFolder, idleExtension, foreignPrebuild].some((pattern) => pattern.test(path))) reach(file)
  }
}

const orNull = (resolve) => {
  try {
    return resolve()
  } catch {
    return null
  }
}
const importSpecifier = /\b(?:from|import)\s*\(?\s*(?:\/\*.*?\*\/\s*)*(["'`])([^"'`\n$]+)\1/g
const requireSpecifier = /quire(?:\.resolve)?\s*\(\s*(["'`])([^"'`\n$]+)\1/g
const stringLiteral = /(["'`])((?:\.{1,2}\/|@?[a-z])[^"'`\n$\s]*|\.{1,2})\1/g
/** Code that names a file by more than a literal. */
const computed = [
  /\b__(?:dirname|filename)\b/,
  /\bimport\.meta\.(?:dirname|filename)\b/,
  /\bfileURLToPath\s*\(\s*import\.meta\.url/,
  /\bnew URL\s*\(\s*(?!(["'])[^"']*\1\s*,)[^,]{1,200},\s*import\.meta\.url/,
  // Not `require(false)`, of Solidity, in messages.
  /(?<![\w$.])require(?:\.resolve)?\s*\(\s*(?!["'`)\s]|true\b|false\b)/,
  /(?<![\w$.])import\s*\(\s*(?:\/\*.*?\*\/\s*)*(?!["'`)\s])/,
  /(?:quire|import)\s*\(\s*`[^`]*\$\{/,
]
/** Examples in comments import what the code does not. A line of code, also behind a banner, stays. */
const removeComments = (text) => text.replace(/^(?!.*\*\/[ \t]*\S)[ \t]*(?:\/\/|\/?\*).*$/gm, '')

const follow = (file) => {
  if (!/\.[cm]?js$/.test(file) && /\.[^/.]+$/.test(file)) return
  const text = removeComments(readFileSync(file, 'utf8'))
  const owner = packageOf(file)
  const { resolve } = createRequire(file)
  const parent = pathToFileURL(file).href
  const all = (pattern) => [...text.matchAll(pattern)].map(([, , specifier]) => specifier)
  const imports = new Set(all(importSpecifier))
  for (const specifier of imports) {
    const url = isBuiltin(specifier) ? null : orNull(() => import.meta.resolve(specifier, parent))
    if (url?.startsWith('file:')) reach(fileURLToPath(url))
  }
  // A path or the name of a dependency in any string may end in a `require` of another name, in a Worker, in `new URL`.
  const names = listDependencies(owner)
  const isOfDependency = (specifier) => names.has(/^(?:@[^/]+\/)?[^/]+/.exec(specifier)?.[0] ?? '')
  const mentioned = all(stringLiteral).filter(
    (specifier) => specifier.startsWith('.') || (!imports.has(specifier) && isOfDependency(specifier)),
  )
  for (const specifier of new Set([...all(requireSpecifier), ...mentioned])) {
    const path = isBuiltin(specifier) ? null : orNull(() => resolve(specifier))
    if (path !== null) reach(path)
    if (specifier.startsWith('.')) reach(join(dirname(file), specifier))
  }
  if (computed.some((pattern) => pattern.test(text))) reachEntirely(owner)
}

const entries = [...listFiles(join(root, 'dist')), ...listFiles(join(root, 'scripts'))]
if (!entries.some((file) => file.endsWith('.js'))) {
  process.stderr.write('error: dist has no program: build first\n')
  process.exit(1)
}
for (const file of entries) reach(file)
// The embedded database: the service finds it by the name of the platform.
for (const name of Object.keys(readManifest(root).optionalDependencies ?? {}))
  reachEntirely(join(modules, name))
for (let file = queue.pop(); file !== undefined; file = queue.pop()) follow(file)

for (const files of filesOf.values()) {
  const isUsed = files.some((file) => reached.has(file))
  for (const file of files) {
    const stays = isUsed && (basename(file) === 'package.json' || license.test(basename(file)))
    if (!stays && !reached.has(file)) rmSync(file)
  }
}
