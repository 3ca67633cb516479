export interface Outcome {
  /** File and title. Of a file that failed to load, or in a hook: the file. */
  readonly test: string
  /** Null: it passed. */
  readonly failure: string | null
}

interface FailedTest {
  readonly test: string
  readonly failed: number
  /** Runs in which it ran to its end. */
  readonly runs: number
  readonly firstFailure: string
}

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
