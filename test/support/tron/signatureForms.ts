import { secp256k1 } from '@noble/curves/secp256k1'
import type { TronKey } from './keys.js'
import { decodeTransaction } from './transaction.js'

// The last byte of a signed transaction is v.
const lastByte = /(1b|1c)$/

/** v as 0 or 1 instead of 27 or 28. */
export const toZeroBasedRecovery = (signedTransaction: string): string =>
  signedTransaction.replace(lastByte, (v) => (v === '1b' ? '00' : '01'))

const order = 0xfffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364141n

/** The malleable twin: s replaced by order minus s, and v flipped. */
export const toHighS = (signedTransaction: string): string => {
  const s = BigInt(`0x${signedTransaction.slice(-66, -2)}`)
  const v = signedTransaction.slice(-2) === '1b' ? '1c' : '1b'
  return `${signedTransaction.slice(0, -66)}${(order - s).toString(16).padStart(64, '0')}${v}`
}

export const signWithOtherKey = (signedTransaction: string, { privateKey }: TronKey): string => {
  const signature = secp256k1.sign(decodeTransaction(signedTransaction).id, privateKey)
  const v = signature.recovery === 0 ? '1b' : '1c'
  return `${signedTransaction.slice(0, -130)}${signature.toCompactHex()}${v}`
}
