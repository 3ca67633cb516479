import { availableParallelism } from 'node:os'
import { defineConfig } from 'vitest/config'
import { compiledSources, loadCompiledSources } from './test/support/compiledSources.js'
import { divideTests } from './test/support/divideTests.js'
import LongestFirst from './test/support/longestFirst.js'
import { isLongRun } from './test/support/longRun.js'

const { fast } = divideTests()

const processors = availableParallelism()
// They wait for blocks, deadlines and processes during half of their time.
const waiting = { maxWorkers: Math.min(3 * processors, 12), sequence: { groupOrder: 0 } }
// They compute, or wait for a database that does, and each further worker loads and optimizes every library once more.
const computing = { maxWorkers: Math.min(processors + 1, 8), sequence: { groupOrder: 1 } }

const onOldest = 'test/stores/postgres/oldest/*.test.ts'
/** Codes of errors, locks, plans and migrations, which no prepared statement shows. */
const differing = [
  'test/stores/postgres/database/{databaseErrors,growth,jobLeases,mapDatabaseErrors,migrate,plannedStatement,settlementIndexes,transaction}.test.ts',
  'test/stores/postgres/channels/channelLedger.test.ts',
  'test/stores/postgres/journal/settlementJournal.test.ts',
]

export default defineConfig({
  plugins: [loadCompiledSources()],
  test: {
    reporters: ['default', './test/support/plainSummary.ts'],
    // Child processes: a server that a test starts ends with the process that started it, not with a thread.
    pool: 'forks',
    // A worker lives through hundreds of files; a larger young generation halves what it spends on collecting garbage.
    execArgv: ['--max-semi-space-size=64'],
    // Files of one project share a process, and what it has loaded.
    isolate: false,
    // Above several waits (pollUntil), whose error says what was last seen.
    testTimeout: 300_000,
    // Some start the nodes of all families.
    hookTimeout: 300_000,
    sequence: { sequencer: LongestFirst },
    setupFiles: ['test/support/endWithRun.ts'],
    globalSetup: ['test/support/compileSetup.ts'],
    server: { deps: { external: [compiledSources] } },
    coverage: {
      provider: 'v8',
      include: ['src/**'],
      reporter: ['text-summary', 'html'],
    },
    projects: [
      {
        extends: true,
        test: {
          // No chain, no database, no Redis, no process of its own.
          name: 'fast',
          ...computing,
          include: [...fast],
          setupFiles: ['test/support/refuseProcesses.ts'],
        },
      },
      {
        extends: true,
        test: {
          name: 'integration',
          ...waiting,
          include: ['test/**/*.test.ts'],
          exclude: [...fast, onOldest, '**/node_modules/**'],
          setupFiles: ['test/support/recordStatements.ts'],
          globalSetup: ['test/support/globalSetup.ts'],
        },
      },
      {
        extends: true,
        test: {
          // The oldest Postgres that is supported: it prepares what the integration tests sent to the newest, and runs the suites
          // of what more may differ. Long runs have it run all suites of the stores.
          name: 'postgres-15',
          ...computing,
          include: isLongRun ? ['test/stores/postgres/!(embedded)/*.test.ts'] : [onOldest, ...differing],
          globalSetup: ['test/support/globalSetup15.ts'],
        },
      },
    ],
  },
})
