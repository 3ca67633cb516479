import { randomBytes } from 'node:crypto'
import { secp256k1 } from '@noble/curves/secp256k1'
import { sha256 } from '@noble/hashes/sha2'
import { keccak_256 } from '@noble/hashes/sha3'
import { createBase58check } from '@scure/base'

export interface TronKey {
  readonly privateKey: string
  /** Base58check. */
  readonly address: string
  /** 21 bytes in hex, starting with `41`. */
  readonly hexAddress: string
}

const base58check = createBase58check(sha256)

/** Without prefix. */
export const toHex = (bytes: Uint8Array): string => Buffer.from(bytes).toString('hex')

/** With or without `0x`. */
export const fromHex = (hex: string): Uint8Array =>
  Uint8Array.from(Buffer.from(hex.replace(/^0x/, ''), 'hex'))

export const toBase58 = (hexAddress: string): string => base58check.encode(fromHex(hexAddress))

/** From either form. */
export const toHexAddress = (address: string): string =>
  address.startsWith('T') ? toHex(base58check.decode(address)) : address.toLowerCase()

const addressOf = (publicKey: Uint8Array): string =>
  `41${toHex(keccak_256(publicKey.subarray(1))).slice(-40)}`

export const createTronKey = (privateKey = randomBytes(32).toString('hex')): TronKey => {
  const hexAddress = addressOf(secp256k1.getPublicKey(privateKey, false))
  return { privateKey, hexAddress, address: toBase58(hexAddress) }
}

/** Null for an invalid signature. */
export const recoverHexAddress = (digest: string, signature: string): string | null => {
  try {
    const recovery = Number.parseInt(signature.slice(128, 130), 16) % 27
    const parts = secp256k1.Signature.fromCompact(signature.slice(0, 128)).addRecoveryBit(recovery)
    return addressOf(parts.recoverPublicKey(digest).toRawBytes(false))
  } catch {
    return null
  }
}

export const hashHex = (hex: string): string => toHex(sha256(fromHex(hex)))

export const selectorOf = (signature: string): string =>
  toHex(keccak_256(new TextEncoder().encode(signature))).slice(0, 8)
