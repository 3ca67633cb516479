import { describe, expect, it } from 'vitest'
import { divideTests, findSlowModule, slowModules } from '../support/divideTests.js'
import { longTests } from '../support/longestFirst.js'
import { readSourceFiles } from '../support/sourceFiles.js'

const files = new Map(
  ['src', 'test'].flatMap((folder) => readSourceFiles(folder)).map((file) => [file.path, file]),
)
const { fast, integration } = divideTests()

const isSlow = (path: string) => slowModules.some((slow) => path === slow || path.startsWith(`${slow}/`))

/** Whether a file imports a slow module, as the compiler resolves its imports. */
const reachesSlowModule = (path: string): boolean => {
  const reached = new Set([path])
  for (const each of reached) {
    if (isSlow(each)) return true
    for (const { target, specifier, isTypeOnly } of files.get(each)?.imports ?? []) {
      if (!isTypeOnly) reached.add(target ?? specifier)
    }
  }
  return false
}

describe('the test files', () => {
  it('are either fast or integration tests', () => {
    const tests = [...files.keys()].filter((path) => path.endsWith('.test.ts'))
    expect([...fast, ...integration].sort()).toEqual(tests.sort())
  })

  it('are fast when no import starts a chain, a database, Redis or a process', () => {
    const divided = [...fast, ...integration].map((path) => [path, !reachesSlowModule(path)])
    expect(divided.filter(([path, isFast]) => fast.some((each) => each === path) !== isFast)).toEqual([])
  })

  it.each([
    ['test/protocol/amount.test.ts', null],
    ['test/http/payments.test.ts', null],
    ['test/stores/postgres/lanes/signerLanes.test.ts', 'test/support/postgres.ts'],
    ['test/support.test/contracts.test.ts', 'node:child_process'],
    ['test/support.test/localSolana.test.ts', 'litesvm'],
    ['test/chains/ton/exact/decode.test.ts', '@ton/sandbox'],
    ['test/support.test/tronChain.test.ts', '@ethereumjs/evm'],
  ])('%s imports %s', (path, slow) => {
    expect(findSlowModule(path)).toBe(slow)
  })

  it('that take longest are all listed', () => {
    expect(longTests.filter((path) => !files.has(path))).toEqual([])
  })
})
