import { describe, expect, it } from 'vitest'
import { divideTests, findSlowModule, slowModules } from '../support/divideTests.js'
import { longTests } from '../support/longestFirst.js'
import { readSourceFiles } from '../support/sourceFiles.js'

const files = new Map(
  ['src', 'test'].flatMap((folder) => readSourceFiles(folder)).map((file) => [file.path, file]),
)
const { fast, integration } = divideTests()

/** Imports of a file, as the compiler resolves them. */
const listReached = (path: string): readonly string[] => {
  const reached = new Set([path])
  for (const each of reached) {
    for (const { target, specifier, isTypeOnly } of files.get(each)?.imports ?? []) {
      if (!isTypeOnly) reached.add(target ?? specifier)
    }
  }
  return [...reached]
}

describe('the test files', () => {
  it('are either fast or integration tests', () => {
    const tests = [...files.keys()].filter((path) => path.endsWith('.test.ts'))
    expect([...fast, ...integration].sort()).toEqual(tests.sort())
  })

  it('are fast when no import starts a chain, a database, Redis or a process', () => {
    const isSlow = (path: string) => slowModules.some((slow) => path === slow || path.startsWith(`${slow}/`))
    const divided = [...fast, ...integration].map((path) => [path, !listReached(path).some(isSlow)])
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
