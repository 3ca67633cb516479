import ts from 'typescript'
import { expect, it } from 'vitest'
import { listNodes, locate, readSourceFiles, type SourceFile } from './support/sourceFiles.js'

/*
 * No test waits for wall-clock time that it does not control: it waits for a condition, with pollUntil and its one limit,
 * and moves time by hand where the behaviour is about time.
 */

const minLimitMs = 60_000

/** Files that may use the clock, and why. */
const allowed: Readonly<Record<string, string>> = {
  'test/support/pollUntil.ts': 'pauses between two questions of the one wait that tests use',
  'test/support/rpcProxy.ts': 'delays answers, as a slow node does',
  'test/support/tcpProxy.ts': 'delays bytes, as a slow network does',
  'test/support/aptos/aptosChain.ts': 'answers a long poll, as a node does',
  'test/support/near/methods.ts': 'answers a long poll, as a node does',
  'test/support/webhookWorker.ts': 'is a process of its own, which delivers in rounds',
  'test/stores/redis/rateLimiter.test.ts': 'passes sleeps of the product on to the system clock',
}

// Programs of their own, which people start: a run may last as long as it says.
const otherPrograms = ['test/chaos/', 'test/demo/', 'test/stress/', 'test/mutation/']

const timerModules = new Set(['node:timers/promises', 'timers/promises', 'node:timers', 'timers'])
const pollingByVitest = new Set(['vi.waitFor', 'vi.waitUntil', 'expect.poll'])
const testFunctions = /^(it|test|describe|beforeAll|beforeEach|afterAll|afterEach)\b/

const readConstants = ({ tree }: SourceFile): ReadonlyMap<string, number> =>
  new Map(
    listNodes(tree).flatMap((node) =>
      ts.isVariableDeclaration(node) && node.initializer && ts.isNumericLiteral(node.initializer)
        ? [[node.name.getText(tree), Number(node.initializer.text)] as const]
        : [],
    ),
  )

/** The value of a literal, or of a constant of the file; null for what is computed. */
const readNumber = (node: ts.Node, constants: ReadonlyMap<string, number>): number | null => {
  if (ts.isNumericLiteral(node)) return Number(node.text)
  return ts.isIdentifier(node) ? (constants.get(node.text) ?? null) : null
}

/** The limit of a test or hook: its last argument, or the timeout of its options. */
const readLimit = ({ arguments: args }: ts.CallExpression, constants: ReadonlyMap<string, number>) => {
  const limits = args.slice(1).flatMap((arg) => {
    if (!ts.isObjectLiteralExpression(arg)) return readNumber(arg, constants) ?? []
    return arg.properties.flatMap((property) =>
      ts.isPropertyAssignment(property) && property.name.getText() === 'timeout'
        ? (readNumber(property.initializer, constants) ?? [])
        : [],
    )
  })
  return limits.at(-1) ?? null
}

const judgeCall = (
  call: ts.CallExpression,
  file: SourceFile,
  constants: ReadonlyMap<string, number>,
): string | null => {
  const callee = call.expression.getText(file.tree)
  const isTest = file.path.endsWith('.test.ts')
  if (callee === 'setTimeout') return 'a wait with setTimeout'
  if (/\.sleep$/.test(callee)) return 'a wait with sleep'
  if (pollingByVitest.has(callee)) return `${callee}, whose limit is a second`
  if (callee === 'AbortSignal.timeout') {
    const [after] = call.arguments
    const ms = after === undefined ? null : readNumber(after, constants)
    return ms !== null && ms < minLimitMs ? `a deadline of ${ms} ms` : null
  }
  if (callee === 'performance.now' && isTest) return 'a measured duration'
  if (!testFunctions.test(callee)) return null
  const limit = readLimit(call, constants)
  return limit !== null && limit < minLimitMs ? `a limit of ${limit} ms` : null
}

const listViolations = (file: SourceFile): readonly string[] => {
  const constants = readConstants(file)
  const imports = file.imports.filter(({ specifier }) => timerModules.has(specifier))
  const calls = listNodes(file.tree).flatMap((node) => {
    const problem = ts.isCallExpression(node) ? judgeCall(node, file, constants) : null
    return problem === null ? [] : [`${locate(file, node)} ${problem}`]
  })
  return [...imports.map(({ specifier }) => `${file.path} imports ${specifier}`), ...calls]
}

const files = readSourceFiles('test').filter(
  ({ path }) => !otherPrograms.some((folder) => path.startsWith(folder)),
)

it('no test waits for the clock, measures time or has a limit below a minute', () => {
  expect(files.filter(({ path }) => allowed[path] === undefined).flatMap(listViolations)).toEqual([])
})

it('every place that may use the clock does', () => {
  const unused = files.filter((file) => allowed[file.path] !== undefined && listViolations(file).length === 0)
  expect(unused.map(({ path }) => path)).toEqual([])
})
