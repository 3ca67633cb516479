import { describe, expect, it } from 'vitest'
import { countFailures } from './countFailures.js'
import { listOutcomes, type ReportedModule } from './outcomes.js'

describe('the outcomes of a run', () => {
  const reportOf = (given: {
    readonly states?: Readonly<Record<string, string>>
    readonly ofModule?: string
    readonly ofHook?: string
  }): ReportedModule => {
    const errorsOf = (message?: string) => (message === undefined ? [] : [{ message }])
    return {
      relativeModuleId: 'test/a.test.ts',
      errors: () => errorsOf(given.ofModule),
      children: {
        allTests: () =>
          Object.entries(given.states ?? {}).map(([fullName, state]) => ({
            fullName,
            result: () => ({ state, errors: state === 'failed' ? [{ message: 'expected 1 to be 2' }] : [] }),
          })),
        allSuites: () => [{ errors: () => errorsOf(given.ofHook) }],
      },
    }
  }

  it('are those of tests that ran, with the message of a failure', () => {
    const states = { 'pays once': 'passed', 'pays twice': 'failed', 'pays later': 'skipped' }
    expect(listOutcomes(reportOf({ states }))).toEqual([
      { test: 'test/a.test.ts > pays once', failure: null },
      { test: 'test/a.test.ts > pays twice', failure: 'expected 1 to be 2' },
    ])
  })

  it('say all that is known of a failure', () => {
    const { children, ...module } = reportOf({})
    const errors = [
      { message: 'Test timed out', stack: 'Error: STACK_TRACE_ERROR\n    at a.test.ts:1' },
      { message: 'not equal', stack: 'AssertionError: not equal\n    at a.test.ts:2', diff: '- 1\n+ 2' },
      { message: 'fetch failed', cause: { message: 'other side closed' } },
    ]
    const allTests = () => [{ fullName: 'pays', result: () => ({ state: 'failed', errors }) }]
    const [outcome] = listOutcomes({ ...module, children: { ...children, allTests } })
    expect(outcome?.failure?.split('\n')).toEqual([
      'Test timed out',
      'Error: STACK_TRACE_ERROR',
      '    at a.test.ts:1',
      'AssertionError: not equal',
      '    at a.test.ts:2',
      '- 1',
      '+ 2',
      'fetch failed',
      'because of other side closed',
    ])
  })

  it.each([
    ['does not load', { ofModule: 'does not load' }],
    ['fails before its tests', { states: { pays: 'skipped' }, ofHook: 'fails before its tests' }],
    ['fails after its tests', { states: { pays: 'passed' }, ofHook: 'fails after its tests' }],
  ])('have a file that %s', (failure, given) => {
    expect(listOutcomes(reportOf(given))).toContainEqual({ test: 'test/a.test.ts', failure })
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
