import { describe } from 'vitest'

/* One file, so that one process compiles the WebAssembly of the simulated network once. The hooks of each part are its own. */

describe('the contract of schemes', async () => {
  await import('./contract.js')
})

describe('pitfalls', async () => {
  await import('./pitfalls.js')
})
