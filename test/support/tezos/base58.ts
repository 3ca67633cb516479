import { blake2b } from '@noble/hashes/blake2b'
import { sha256 } from '@noble/hashes/sha2'
import { createBase58check } from '@scure/base'

const base58check = createBase58check(sha256)

const prefixes = {
  tz1: [6, 161, 159],
  tz2: [6, 161, 161],
  tz3: [6, 161, 164],
  tz4: [6, 161, 166],
  KT1: [2, 90, 121],
  block: [1, 52],
  operation: [5, 116],
  operationList: [29, 159, 109],
  context: [79, 199],
  edpk: [13, 15, 37, 217],
  edskSeed: [13, 15, 58, 7],
  edsig: [9, 245, 205, 134, 18],
} as const

export type Prefix = keyof typeof prefixes

export const encode = (prefix: Prefix, bytes: Uint8Array): string =>
  base58check.encode(Uint8Array.of(...prefixes[prefix], ...bytes))

/** Without the prefix. */
export const decode = (prefix: Prefix, text: string): Uint8Array =>
  base58check.decode(text).slice(prefixes[prefix].length)

export const blake = (bytes: Uint8Array, length = 32): Uint8Array => blake2b(bytes, { dkLen: length })

export const hashText = (prefix: Prefix, text: string): string => encode(prefix, blake(Buffer.from(text)))

export const contractOf = (name: string): string => encode('KT1', blake(Buffer.from(name), 20))

export const keyHashOf = (publicKey: Uint8Array): string => encode('tz1', blake(publicKey, 20))
