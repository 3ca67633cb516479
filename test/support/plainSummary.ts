import type { Reporter, TestModule, TestRunEndReason } from 'vitest/node'

/** Prints a machine-readable line at the end: `N passed, N failed`, plus `N skipped` if any. */
export default class PlainSummary implements Reporter {
  onTestRunEnd(modules: readonly TestModule[], errors: readonly unknown[], reason: TestRunEndReason): void {
    const counts = { passed: 0, failed: 0, skipped: 0 }
    for (const module of modules) {
      // A file that fails to load has no tests but is a failure.
      if (module.state() === 'failed' && module.errors().length > 0) counts.failed += 1
      for (const test of module.children.allTests()) {
        const { state } = test.result()
        if (state !== 'pending') counts[state] += 1
      }
    }
    // Unhandled errors fail the run.
    counts.failed += errors.length
    // So does a failure that prevented all tests.
    if (reason === 'failed' && counts.failed === 0) counts.failed = 1
    const skipped = counts.skipped > 0 ? `, ${counts.skipped} skipped` : ''
    // Printed after the summary of the default reporter.
    setImmediate(() => process.stdout.write(`${counts.passed} passed, ${counts.failed} failed${skipped}\n`))
  }
}
