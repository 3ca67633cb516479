import { appendFileSync, writeFileSync } from 'node:fs'
import type { Reporter } from 'vitest/node'
import type { Outcome } from './countFailures.js'

interface Failure {
  readonly message: string
  readonly stack?: string
  /** Compares what was expected with what was there. */
  readonly diff?: string
  readonly cause?: Failure
}

/** What is read of vitest's TestModule. */
export interface ReportedModule {
  readonly relativeModuleId: string
  /** Errors outside of all tests and suites, as of a module that does not load. */
  errors(): readonly Failure[]
  readonly children: {
    allTests(): Iterable<{
      readonly fullName: string
      result(): { readonly state: string; readonly errors?: readonly Failure[] | undefined }
    }>
    /** Errors of a suite are those of its hooks. */
    allSuites(): Iterable<{ errors(): readonly Failure[] }>
  }
}

const describeFailure = ({ message, stack = '', diff = '', cause }: Failure): string => {
  // That of a test that took too long lacks the message.
  const where = stack.includes(message) ? [stack] : [message, stack]
  const why = cause === undefined ? '' : `because of ${describeFailure(cause)}`
  return [...where, diff, why].filter((part) => part !== '').join('\n')
}

const describeFailures = (failures: readonly Failure[]): string =>
  failures.map(describeFailure).join('\n') || 'no message'

/** Tests that were skipped, also because of a hook that failed, have no outcome. */
export const listOutcomes = (module: ReportedModule): readonly Outcome[] => {
  const file = module.relativeModuleId
  const ofTests = [...module.children.allTests()].flatMap((test): Outcome[] => {
    const { state, errors = [] } = test.result()
    if (state !== 'passed' && state !== 'failed') return []
    const failure = state === 'failed' ? describeFailures(errors) : null
    return [{ test: `${file} > ${test.fullName}`, failure }]
  })
  const outside = [...module.errors(), ...[...module.children.allSuites()].flatMap((suite) => suite.errors())]
  return outside.length === 0 ? ofTests : [...ofTests, { test: file, failure: describeFailures(outside) }]
}

/**
 * Writes the outcomes of each file to OUTCOMES_FILE when it ends, in a line each, so that a run that is ended before leaves what
 * it has found. Vitest's own JSON leaves out what hooks throw.
 */
export default class OutcomeReporter implements Reporter {
  readonly #file = process.env.OUTCOMES_FILE ?? ''

  onTestRunStart(): void {
    writeFileSync(this.#file, '')
  }

  onTestModuleEnd(module: ReportedModule): void {
    appendFileSync(this.#file, `${JSON.stringify(listOutcomes(module))}\n`)
  }
}
