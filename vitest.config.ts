import { availableParallelism } from 'node:os'
import { defineConfig } from 'vitest/config'
import { divideTests } from './test/support/divideTests.js'
import LongestFirst from './test/support/longestFirst.js'

const { fast } = divideTests()

export default defineConfig({
  test: {
    reporters: ['default', './test/support/plainSummary.ts'],
    // Child processes: a server that a test starts ends with the process that started it, not with a thread.
    pool: 'forks',
    // Not more than there are cores: suites of faults measure deadlines of some hundred milliseconds.
    maxWorkers: Math.min(Math.max(availableParallelism(), 2), 8),
    testTimeout: 20_000,
    hookTimeout: 60_000,
    sequence: { sequencer: LongestFirst },
    coverage: {
      provider: 'v8',
      include: ['src/**'],
      reporter: ['text-summary', 'html'],
    },
    projects: [
      {
        extends: true,
        test: {
          // No chain, no database, no Redis, no process of its own: files share a process, and what it has loaded.
          name: 'fast',
          include: [...fast],
          isolate: false,
          setupFiles: ['test/support/refuseProcesses.ts'],
        },
      },
      {
        extends: true,
        test: {
          name: 'integration',
          include: ['test/**/*.test.ts'],
          exclude: [...fast],
          globalSetup: ['test/support/globalSetup.ts'],
        },
      },
      {
        extends: true,
        test: {
          // What speaks SQL, once more on the oldest Postgres that is supported.
          name: 'postgres-15',
          isolate: false,
          include: ['test/stores/postgres/!(embedded)/*.test.ts'],
          globalSetup: ['test/support/globalSetup15.ts'],
        },
      },
    ],
  },
})
