import { createKeccak } from 'hash-wasm'
import type { Hex } from 'viem'

// One shared hasher: `init` to `digest` is synchronous.
const hasher = await createKeccak(256)

/** Keccak-256 of bytes, in hex; WebAssembly, ten times as fast as JavaScript. */
export const keccak = (bytes: Uint8Array | string): Hex => `0x${hasher.init().update(bytes).digest('hex')}`
