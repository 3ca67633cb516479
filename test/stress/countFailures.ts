import { z } from 'zod'

const report = z.object({
  testResults: z.array(
    z.object({
      name: z.string(),
      status: z.string(),
      message: z.string().optional(),
      assertionResults: z.array(
        z.object({
          fullName: z.string(),
          status: z.string(),
          failureMessages: z.array(z.string()).nullish(),
        }),
      ),
    }),
  ),
})

export interface Outcome {
  /** File and title. Of a file that failed to load: the file. */
  readonly test: string
  /** Null: it passed. */
  readonly failure: string | null
}

export interface FailedTest {
  readonly test: string
  readonly failed: number
  /** Runs in which it ran to its end. */
  readonly runs: number
  readonly firstFailure: string
}

/** Reads what vitest's JSON reporter wrote. Skipped tests are left out. */
export const readOutcomes = (json: string, root: string): readonly Outcome[] =>
  report.parse(JSON.parse(json)).testResults.flatMap(({ name, status, message = '', assertionResults }) => {
    const file = name.startsWith(root) ? name.slice(root.length) : name
    const outcomes = assertionResults
      .filter((each) => each.status === 'passed' || each.status === 'failed')
      .map(
        ({ fullName, status, failureMessages }): Outcome => ({
          test: `${file} > ${fullName}`,
          failure: status === 'failed' ? (failureMessages ?? []).join('\n') || 'no message' : null,
        }),
      )
    const isFailureOfFile = status === 'failed' && outcomes.every(({ failure }) => failure === null)
    return isFailureOfFile ? [...outcomes, { test: file, failure: message || 'failed to load' }] : outcomes
  })

/** The tests that failed at least once, those that failed most often first. */
export const countFailures = (runs: readonly (readonly Outcome[])[]): readonly FailedTest[] => {
  const byTest = new Map<string, Outcome[]>()
  for (const outcome of runs.flat()) byTest.set(outcome.test, [...(byTest.get(outcome.test) ?? []), outcome])
  return [...byTest]
    .flatMap(([test, outcomes]) => {
      const failures = outcomes.flatMap(({ failure }) => failure ?? [])
      const [firstFailure] = failures
      if (firstFailure === undefined) return []
      // A file that loads has no outcome of its own.
      const ran = test.includes(' > ') ? outcomes.length : runs.length
      return [{ test, failed: failures.length, runs: ran, firstFailure }]
    })
    .sort((left, right) => right.failed - left.failed || left.test.localeCompare(right.test))
}
