import { describe } from 'vitest'

/* One file, so that one process parses the sources once: TypeScript takes four seconds of processor time for all of them. */

describe('the architecture', async () => {
  await import('./architecture.js')
})

describe('clocks', async () => {
  await import('./clocks.js')
})

describe('fast and integration tests', async () => {
  await import('./support.test/divideTests.js')
})

describe('the log', async () => {
  await import('./platform/sentences.js')
  await import('./platform/logLines.js')
})
