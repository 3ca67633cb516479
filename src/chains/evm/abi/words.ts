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
