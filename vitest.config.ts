import { defineConfig } from 'vitest/config'

export default defineConfig({
  test: {
    reporters: ['default', './test/support/plainSummary.ts'],
    // Child processes: a server that a test starts ends with the process that started it, not with a thread.
    pool: 'forks',
    maxWorkers: 2,
    testTimeout: 20_000,
    hookTimeout: 60_000,
    coverage: {
      provider: 'v8',
      include: ['src/**'],
      reporter: ['text-summary', 'html'],
    },
    projects: [
      {
        extends: true,
        test: {
          name: 'all',
          include: ['test/**/*.test.ts'],
          globalSetup: ['test/support/globalSetup.ts'],
        },
      },
      {
        extends: true,
        test: {
          // What speaks SQL, once more on the oldest Postgres that is supported.
          name: 'postgres-15',
          include: ['test/stores/postgres/!(embedded)/*.test.ts'],
          globalSetup: ['test/support/globalSetup15.ts'],
        },
      },
    ],
  },
})
