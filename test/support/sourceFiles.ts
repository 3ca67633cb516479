import { posix } from 'node:path'
import ts from 'typescript'
import { listFiles } from './listFiles.js'
import { readText } from './readText.js'

interface SourceImport {
  readonly specifier: string
  /** Path from the project root; null for packages. */
  readonly target: string | null
  readonly isTypeOnly: boolean
  /** `import()`: loaded on demand. */
  readonly isDynamic: boolean
}

export interface SourceFile {
  /** From the project root, with slashes. */
  readonly path: string
  readonly text: string
  readonly tree: ts.SourceFile
  readonly imports: readonly SourceImport[]
}

// Test files of one worker share what they parsed.
const parsed = new Map<string, SourceFile>()

export const readSourceFiles = (folder: string): readonly SourceFile[] =>
  listFiles(folder)
    .filter((path) => path.endsWith('.ts'))
    .map((path) => {
      const file = parsed.get(path) ?? parseSource(path, readText(path))
      parsed.set(path, file)
      return file
    })

/** Parsed when it is asked for: many rules need only the text of most files. */
const parseSource = (path: string, text: string): SourceFile => {
  let tree: ts.SourceFile | undefined
  let imports: readonly SourceImport[] | undefined
  return {
    path,
    text,
    get tree() {
      tree ??= ts.createSourceFile(path, text, ts.ScriptTarget.Latest, true)
      return tree
    },
    get imports() {
      imports ??= listImportNodes(this).flatMap((node) => readImport(path, node))
      return imports
    },
  }
}

const listed = new WeakMap<ts.Node, readonly ts.Node[]>()

/** A node and all below it. Each tree is walked once, because every rule reads all of them. */
export const listNodes = (node: ts.Node): readonly ts.Node[] => {
  const known = listed.get(node)
  if (known !== undefined) return known
  const nodes = [node]
  // The list grows during iteration.
  for (const each of nodes) ts.forEachChild(each, (child) => void nodes.push(child))
  listed.set(node, nodes)
  return nodes
}

/** Only `import()`, as an expression or a type, is below the top level. */
const listImportNodes = ({ text, tree }: Pick<SourceFile, 'text' | 'tree'>): readonly ts.Node[] =>
  /\bimport\s*\(/.test(text) ? listNodes(tree) : tree.statements

/** `path:line`. */
export const locate = ({ path, tree }: SourceFile, node: ts.Node): string =>
  `${path}:${tree.getLineAndCharacterOfPosition(node.getStart(tree)).line + 1}`

const readImport = (path: string, node: ts.Node): readonly SourceImport[] => {
  const build = (name: ts.Node | undefined, isTypeOnly: boolean, isDynamic = false) =>
    name !== undefined && ts.isStringLiteralLike(name)
      ? [{ specifier: name.text, target: resolve(path, name.text), isTypeOnly, isDynamic }]
      : []
  if (ts.isImportDeclaration(node)) return build(node.moduleSpecifier, isErased(node.importClause))
  if (ts.isExportDeclaration(node)) return build(node.moduleSpecifier, node.isTypeOnly)
  if (ts.isImportTypeNode(node)) {
    return build(ts.isLiteralTypeNode(node.argument) ? node.argument.literal : undefined, true)
  }
  if (ts.isCallExpression(node) && node.expression.kind === ts.SyntaxKind.ImportKeyword) {
    return build(node.arguments[0], false, true)
  }
  return []
}

const isErased = (clause: ts.ImportClause | undefined): boolean => {
  // `import 'x'` executes the file.
  if (clause === undefined) return false
  if (clause.isTypeOnly) return true
  const { name, namedBindings } = clause
  return (
    name === undefined &&
    namedBindings !== undefined &&
    ts.isNamedImports(namedBindings) &&
    namedBindings.elements.length > 0 &&
    namedBindings.elements.every(({ isTypeOnly }) => isTypeOnly)
  )
}

const resolve = (from: string, specifier: string): string | null =>
  specifier.startsWith('.') ? posix.join(posix.dirname(from), specifier.replace(/\.js$/, '.ts')) : null
