import { createRequire } from 'node:module'
import type * as HashWasm from 'hash-wasm'
import type { Hex } from 'viem'

/*
 * The ABI encodes in words of 32 bytes. Here a word is 64 hex digits in lower case, without `0x`: calldata
 * is built by concatenation.
 */

export const numberWord = (value: bigint | number): string => value.toString(16).padStart(64, '0')

/** An address, in any letter case, as a word. */
export const addressWord = (address: Hex): string => `${addressPadding}${address.slice(2).toLowerCase()}`

const addressPadding = '0'.repeat(24)

/** Hex digits padded on the right to whole words, as `bytes` are. */
export const paddedBytes = (digits: string): string => digits.padEnd(Math.ceil(digits.length / 64) * 64, '0')

/** The tail of a `bytes` argument: its length, then its bytes. */
export const encodeBytes = (bytes: Hex): string =>
  numberWord(bytes.length / 2 - 1) + paddedBytes(bytes.slice(2))

// Journal columns hold hex that this service wrote.
export const asHex = (text: string): Hex => `0x${text.replace(/^0x/, '')}`

/** A returned word; null for a failed call and for a contract that returns nothing. */
export const readWord = (data: Hex | null | undefined): bigint | null =>
  data == null || data.length < 66 ? null : BigInt(data.slice(0, 66))

/** An argument of calldata, after the selector. */
export const wordOf = (calldata: Hex, index: number): string => {
  const at = 10 + index * 64
  return calldata.slice(at, at + 64).toLowerCase()
}

export const smaller = (left: bigint, right: bigint): bigint => (left < right ? left : right)
export const larger = (left: bigint, right: bigint): bigint => (left > right ? left : right)

// `import` is avoided: Node 20's loader of ES modules once gave this CommonJS package without its functions.
const { createKeccak }: typeof HashWasm = createRequire(import.meta.url)('hash-wasm')
// One hasher serves all: `init` to `digest` is synchronous.
const hasher = await createKeccak(256)

/** Keccak-256 of bytes, in hex; WebAssembly, ten times as fast as JavaScript. */
export const keccak = (bytes: Uint8Array | string): Hex => `0x${hasher.init().update(bytes).digest('hex')}`
