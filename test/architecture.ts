import { existsSync } from 'node:fs'
import { posix } from 'node:path'
import { fileURLToPath } from 'node:url'
import ts from 'typescript'
import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { readCodeSpans, readTable } from './support/markdown.js'
import { readText } from './support/readText.js'
import { listNodes, locate, readSourceFiles, type SourceFile } from './support/sourceFiles.js'

const source = readSourceFiles('src')
const byPath = new Map(source.map((file) => [file.path, file]))
const guide = readText('src/README.md')

const layers = new Map(
  readTable(guide, 'may import').map(({ layer = '', 'may import': allowed = '' }) => [
    readCodeSpans(layer)[0] ?? '',
    readCodeSpans(allowed),
  ]),
)
/** A folder of a layer is one itself if it has a row. */
const layerOf = (path: string): string => {
  const [, layer = '', part = ''] = path.split('/')
  return layers.has(`${layer}/${part}`) ? `${layer}/${part}` : layer.replace(/\.ts$/, '')
}

const packages = new Map(
  readTable(guide, 'only in').map(({ package: name = '', 'only in': places = '' }) => [
    readCodeSpans(name)[0] ?? '',
    places === 'everywhere' ? [''] : readCodeSpans(places),
  ]),
)

/** Package name of an import; null for Node modules and relative paths. */
const packageOf = (specifier: string): string | null =>
  specifier.startsWith('node:') ? null : (/^(@[^/]+\/)?[^/]+/.exec(specifier)?.[0] ?? null)

const listImports = (files: readonly SourceFile[]) =>
  files.flatMap((file) => file.imports.map((each) => ({ ...each, from: file.path })))

const findNodes = (files: readonly SourceFile[], isWanted: (node: ts.Node) => boolean): readonly string[] =>
  files.flatMap((file) =>
    listNodes(file.tree)
      .filter(isWanted)
      .map((node) => `${locate(file, node)} ${node.getText(file.tree)}`),
  )

describe('layers', () => {
  it('are exactly those of the table in src/README.md', () => {
    expect([...layers.keys()].sort()).toEqual([...new Set(source.map(({ path }) => layerOf(path)))].sort())
  })

  it('import only what their row allows', () => {
    const forbidden = listImports(source).filter(({ from, target }) => {
      if (target === null) return false
      const [own, other] = [layerOf(from), layerOf(target)]
      return target.startsWith('src/') && own !== other && !layers.get(own)?.includes(other)
    })
    expect(forbidden.map(({ from, target }) => `${from} imports ${target}`)).toEqual([])
  })

  it('import nothing outside src', () => {
    const outside = listImports(source).filter(({ target }) => target !== null && !target.startsWith('src/'))
    expect(outside.map(({ from, target }) => `${from} imports ${target}`)).toEqual([])
  })

  it('import files that exist', () => {
    const missing = listImports(source).filter(({ target }) => target !== null && !byPath.has(target))
    expect(missing.map(({ from, target }) => `${from} imports ${target}`)).toEqual([])
  })

  it.each(['protocol', 'errors', 'concurrency'])('%s imports no Node module', (layer) => {
    const used = listImports(source).filter(
      ({ from, specifier }) => layerOf(from) === layer && /^node:/.test(specifier),
    )
    expect(used.map(({ from, specifier }) => `${from} imports ${specifier}`)).toEqual([])
  })

  it('have no code in ports', () => {
    const ports = source.filter(({ path }) => layerOf(path) === 'ports')
    const isDeclaration = (statement: ts.Statement) =>
      ts.isInterfaceDeclaration(statement) ||
      ts.isTypeAliasDeclaration(statement) ||
      ts.isImportDeclaration(statement)
    expect(
      ports.flatMap((file) =>
        file.tree.statements.filter((each) => !isDeclaration(each)).map((each) => locate(file, each)),
      ),
    ).toEqual([])
  })

  it('have no import cycles, including type imports', () => {
    expect(findCycles()).toEqual([])
  })
})

describe('chain families', () => {
  /** `src/chains/evm/open.ts` is in family `evm`; `chain.ts`, `common/` and `nodes/` are in none. */
  const familyOf = (path: string | null): string | null =>
    /^src\/chains\/(?!nodes\/|common\/)([^/]+)\//.exec(path ?? '')?.[1] ?? null

  it('are imported only by the list of families, and only through their manifest', () => {
    const intruders = listImports(source).filter(({ from, target }) => {
      const family = familyOf(target)
      if (family === null || family === familyOf(from)) return false
      return !(from === 'src/chains/index.ts' && target === `src/chains/${family}/index.ts`)
    })
    expect(intruders.map(({ from, target }) => `${from} imports ${target}`)).toEqual([])
  })

  it('load no package but zod while they are disabled', () => {
    const manifests = source.filter(({ path }) =>
      /^src\/chains\/([^/]+\/(index|settings|networks)|index)\.ts$/.test(path),
    )
    expect(manifests.length).toBeGreaterThan(1)
    const loaded = manifests.flatMap(({ path }) => listLoaded(path))
    const used = listImports(loaded).filter(({ isTypeOnly, isDynamic }) => !isTypeOnly && !isDynamic)
    const heavy = used.filter(({ specifier, target }) => target === null && packageOf(specifier) !== null)
    expect(
      heavy
        .map(({ from, specifier }) => `${from} imports ${specifier}`)
        .filter((line) => !/ zod$/.test(line)),
    ).toEqual([])
  })
})

describe('EVM schemes', () => {
  const folder = 'src/chains/evm/'
  const schemes = ['exact', 'permit2', 'upto']
  const ways = ['permit2/exact', 'permit2/upto']
  const findFolder = (path: string | null, folders: readonly string[]): string | null =>
    folders.find((each) => path?.startsWith(`${folder}${each}/`)) ?? null

  it.each([
    ['of different folders', schemes],
    ['by Permit2', ways],
  ])('%s import none of each other', (_name, folders) => {
    const own = listImports(source).filter(({ from }) => findFolder(from, folders) !== null)
    expect(new Set(own.map(({ from }) => findFolder(from, folders)))).toEqual(new Set(folders))
    const crossing = own.filter(({ from, target }) => {
      const other = findFolder(target, folders)
      return other !== null && other !== findFolder(from, folders)
    })
    expect(crossing.map(({ from, target }) => `${from} imports ${target}`)).toEqual([])
  })

  it('stand on folders that import none of them', () => {
    const ground = ['abi', 'contracts', 'rpc', 'signatures', 'tokens', 'transactions']
    const upward = listImports(source).filter(
      ({ from, target }) => findFolder(from, ground) !== null && findFolder(target, schemes) !== null,
    )
    expect(upward.map(({ from, target }) => `${from} imports ${target}`)).toEqual([])
  })
})

describe('the EVM transaction engine', () => {
  const folder = 'src/chains/evm/transactions/'
  const engine = source.filter(({ path }) => path.startsWith(folder))

  it('names no payment scheme, not even in a comment', () => {
    expect(engine.length).toBeGreaterThan(10)
    const words = /authorization|transfer|eip-?3009|invalid_exact/i
    expect(
      engine.flatMap(({ path, tree }) =>
        tree.text
          .split('\n')
          .flatMap((line, index) => (words.test(line) ? [`${path}:${index + 1} ${line.trim()}`] : [])),
      ),
    ).toEqual([])
  })

  it('imports nothing of a scheme: of its family only what every scheme shares', () => {
    const shared = ['abi/', 'rpc/', 'settings.ts', 'transactions/'].map((each) => `src/chains/evm/${each}`)
    const foreign = listImports(engine).filter(
      ({ target }) =>
        target?.startsWith('src/chains/evm/') === true && !shared.some((each) => target.startsWith(each)),
    )
    expect(foreign.map(({ from, target }) => `${from} imports ${target}`)).toEqual([])
  })
})

describe('packages', () => {
  const manifest = z
    .object({ dependencies: z.record(z.string(), z.string()) })
    .parse(JSON.parse(readText('package.json')))

  it('are exactly those of package.json', () => {
    expect([...packages.keys()].sort()).toEqual(Object.keys(manifest.dependencies).sort())
  })

  it('are used only where the table in src/README.md says', () => {
    const strays = listImports(source).filter(({ from, specifier, target }) => {
      const name = packageOf(specifier)
      if (target !== null || name === null) return false
      return !packages.get(name)?.some((place) => from.startsWith(`src/${place}`))
    })
    expect(strays.map(({ from, specifier }) => `${from} imports ${specifier}`)).toEqual([])
  })

  it('let compose.ts import only types of Fastify', () => {
    const compose = listImports(source).filter(({ from }) => from === 'src/compose.ts')
    expect(compose.filter(({ specifier, isTypeOnly }) => specifier === 'fastify' && !isTypeOnly)).toEqual([])
  })
})

it('what records or sends spans is loaded on demand', () => {
  const recording = ['createTracer', 'recordedSpan', 'spanExporter', 'otlp'].map(
    (name) => `src/platform/tracer/${name}.ts`,
  )
  const loading = listImports(source.filter(({ path }) => !recording.includes(path))).filter(
    ({ target, isTypeOnly }) => target !== null && recording.includes(target) && !isTypeOnly,
  )
  expect(loading.map(({ from, target, isDynamic }) => ({ from, target, isDynamic }))).toEqual([
    {
      from: 'src/compose/openResources.ts',
      target: 'src/platform/tracer/createTracer.ts',
      isDynamic: true,
    },
  ])
})

describe('every file', () => {
  it('does not read the environment, except main.ts', () => {
    const others = source.filter(({ path }) => path !== 'src/main.ts')
    const names = ['env', 'loadEnvFile']
    expect(
      findNodes(
        others,
        (node) =>
          ts.isPropertyAccessExpression(node) &&
          node.expression.getText() === 'process' &&
          names.includes(node.name.text),
      ),
    ).toEqual([])
    const imported = listImports(others).filter(({ specifier }) => specifier === 'node:process')
    expect(imported.map(({ from }) => from)).toEqual([])
  })

  it('has no `any`, no `!`, and no `as` but `as const`', () => {
    expect(findNodes(source, isUnchecked)).toEqual([])
  })

  it('suppresses no compiler error', () => {
    const silenced = source.filter(({ text }) => /@ts-(ignore|expect-error|nocheck)/.test(text))
    expect(silenced.map(({ path }) => path)).toEqual([])
  })

  it('does not use the console', () => {
    expect(
      findNodes(
        source,
        (node) => ts.isPropertyAccessExpression(node) && node.expression.getText() === 'console',
      ),
    ).toEqual([])
  })

  it('has no doc comment that only repeats the name of its export', () => {
    expect(source.flatMap((file) => listRedundantDocs(file))).toEqual([])
  })
})

describe('tests', () => {
  it('do not use `.only`', () => {
    expect(
      findNodes(
        readSourceFiles('test').filter(({ text }) => /\bonly\b/.test(text)),
        (node) =>
          ts.isPropertyAccessExpression(node) &&
          node.name.text === 'only' &&
          /^(describe|it|test|suite|bench)\b/.test(node.expression.getText()),
      ),
    ).toEqual([])
  })
})

describe('the guides', () => {
  it.each(['src/README.md', 'src/chains/README.md'])('%s names only files and folders that exist', (path) => {
    const prose = readText(path).replaceAll(/^```[\s\S]*?^```$/gm, '')
    const named = readCodeSpans(prose).filter((span) => /^[\w./-]+(\/|\.(ts|md))$/.test(span))
    expect(named.length).toBeGreaterThan(3)
    expect(named.filter((name) => !exists(name, posix.dirname(path)))).toEqual([])
  })
})

/** Paths are relative to the guide, to src, to the root, or to a chain family. */
const exists = (name: string, folder: string): boolean =>
  [folder, 'src', '.', 'src/chains/evm'].some((base) =>
    existsSync(fileURLToPath(new URL(`../${posix.join(base, name)}`, import.meta.url))),
  )

const isUnchecked = (node: ts.Node): boolean => {
  if (node.kind === ts.SyntaxKind.AnyKeyword || ts.isNonNullExpression(node)) return true
  if (ts.isTypeAssertionExpression(node)) return true
  return ts.isAsExpression(node) && node.type.getText() !== 'const'
}

const isExported = (node: ts.Node): boolean =>
  ts.canHaveModifiers(node) &&
  (ts.getModifiers(node)?.some(({ kind }) => kind === ts.SyntaxKind.ExportKeyword) ?? false)

/** Such as "The settings of a chain." for `ChainSettings`: all words except fillers are part of the name. */
const listRedundantDocs = (file: SourceFile): readonly string[] =>
  file.tree.statements.filter(isExported).flatMap((statement) => {
    const name = nameOf(statement)
    const docs = ts.getJSDocCommentsAndTags(statement).filter(ts.isJSDoc)
    const words = docs.flatMap(({ comment }) => ts.getTextOfJSDocComment(comment)?.match(/[A-Za-z]+/g) ?? [])
    const stems = words.map(stemOf).filter((stem) => !fillers.has(stem))
    const named = new Set((name.match(/[A-Z]?[a-z]+|[A-Z]+/g) ?? []).map(stemOf))
    const isRedundant = docs.length > 0 && stems.every((stem) => named.has(stem))
    return isRedundant ? [`${locate(file, statement)} ${name}`] : []
  })

const stemOf = (word: string): string => word.toLowerCase().replace(/(ies|es|s|ing|ed|e|y)$/, '')

const fillers = new Set(
  'a all an and are as build by creat for from has i in is it made need of on or return that th thi to us what which with'.split(
    ' ',
  ),
)

const nameOf = (statement: ts.Statement): string => {
  if (ts.isVariableStatement(statement))
    return statement.declarationList.declarations[0]?.name.getText() ?? ''
  if (
    ts.isFunctionDeclaration(statement) ||
    ts.isClassDeclaration(statement) ||
    ts.isInterfaceDeclaration(statement) ||
    ts.isTypeAliasDeclaration(statement) ||
    ts.isEnumDeclaration(statement)
  ) {
    return statement.name?.getText() ?? 'default'
  }
  return 'export'
}

const listLoaded = (path: string, seen: Set<string> = new Set()): readonly SourceFile[] => {
  const file = byPath.get(path)
  if (file === undefined || seen.has(path)) return []
  seen.add(path)
  const next = file.imports.filter(({ isTypeOnly, isDynamic }) => !isTypeOnly && !isDynamic)
  return [file, ...next.flatMap(({ target }) => (target === null ? [] : listLoaded(target, seen)))]
}

const findCycles = (): readonly string[] => {
  const done = new Set<string>()
  const cycles: string[] = []
  const visit = (path: string, trail: readonly string[]): void => {
    const start = trail.indexOf(path)
    if (start !== -1) {
      cycles.push([...trail.slice(start), path].join(' → '))
      return
    }
    if (done.has(path)) return
    for (const { target } of byPath.get(path)?.imports ?? []) {
      if (target !== null) visit(target, [...trail, path])
    }
    done.add(path)
  }
  for (const { path } of source) visit(path, [])
  return cycles
}
