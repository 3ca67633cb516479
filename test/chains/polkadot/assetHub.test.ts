import { describe } from 'vitest'

/* One file, so that one process loads the client and compiles the runtime's WebAssembly once. The hooks of each part are its own. */

describe('the contract of schemes', async () => {
  await import('./contract.js')
})

describe('signed extrinsics', async () => {
  await import('./signedExtrinsic.js')
})

describe('pitfalls', async () => {
  await import('./pitfalls.js')
})
