import { defineConfig } from 'vitest/config'

/* The suite that interrupted.test.ts starts and ends. */
export default defineConfig({
  test: {
    root: import.meta.dirname,
    include: ['endless.suite.ts'],
    pool: 'forks',
    setupFiles: ['../../support/endWithRun.ts'],
    testTimeout: 0,
  },
})
