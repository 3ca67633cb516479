import { describe, expect, it } from 'vitest'
import { countFailures, readOutcomes } from './countFailures.js'

const reportOf = (file: object) => JSON.stringify({ testResults: [{ name: '/p/test/a.test.ts', ...file }] })

describe('the outcomes of a run', () => {
  it('are those of tests that ran, with the message of a failure', () => {
    const assertionResults = [
      { fullName: 'pays once', status: 'passed', failureMessages: [] },
      { fullName: 'pays twice', status: 'failed', failureMessages: ['expected 1 to be 2'] },
      { fullName: 'pays later', status: 'skipped', failureMessages: [] },
    ]
    expect(readOutcomes(reportOf({ status: 'failed', message: '', assertionResults }), '/p/')).toEqual([
      { test: 'test/a.test.ts > pays once', failure: null },
      { test: 'test/a.test.ts > pays twice', failure: 'expected 1 to be 2' },
    ])
  })

  it.each([
    ['failed to load', []],
    ['failed in afterAll', [{ fullName: 'pays', status: 'passed', failureMessages: [] }]],
  ])('have a file that %s', (message, assertionResults) => {
    const outcomes = readOutcomes(reportOf({ status: 'failed', message, assertionResults }), '/p/')
    expect(outcomes).toContainEqual({ test: 'test/a.test.ts', failure: message })
  })
})

describe('the count of failures', () => {
  const pass = (test: string) => ({ test, failure: null })
  const fail = (test: string, failure: string) => ({ test, failure })

  it('has each test that ever failed, with its first failure, most failures first', () => {
    const runs = [
      [pass('f > a'), fail('f > b', 'one'), pass('f > c')],
      [fail('f > a', 'two'), fail('f > b', 'three'), pass('f > c')],
      [fail('f', 'does not load')],
    ]
    expect(countFailures(runs)).toEqual([
      { test: 'f > b', failed: 2, runs: 2, firstFailure: 'one' },
      { test: 'f', failed: 1, runs: 3, firstFailure: 'does not load' },
      { test: 'f > a', failed: 1, runs: 2, firstFailure: 'two' },
    ])
  })
})
