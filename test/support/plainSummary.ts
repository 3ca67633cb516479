import type { Reporter, TestModule, TestRunEndReason } from 'vitest/node'

/** Ends a run with one plain line that any tool can read: `N passed, N failed`, and `N skipped` where some were. */
export default class PlainSummary implements Reporter {
  onTestRunEnd(modules: readonly TestModule[], errors: readonly unknown[], reason: TestRunEndReason): void {
    const counts = { passed: 0, failed: 0, skipped: 0 }
    for (const module of modules) {
      // A file that cannot be loaded has no tests to count, and is a failure all the same.
      if (module.state() === 'failed' && module.errors().length > 0) counts.failed += 1
      for (const test of module.children.allTests()) {
        const { state } = test.result()
        if (state !== 'pending') counts[state] += 1
      }
    }
    // An error outside every test fails the run, so it must not look like a success here.
    counts.failed += errors.length
    // So must one that kept every test from running.
    if (reason === 'failed' && counts.failed === 0) counts.failed = 1
    const skipped = counts.skipped > 0 ? `, ${counts.skipped} skipped` : ''
    // After the summary that the default reporter prints at the same event.
    setImmediate(() => process.stdout.write(`${counts.passed} passed, ${counts.failed} failed${skipped}\n`))
  }
}
