import { secp256k1 } from '@noble/curves/secp256k1'
import type { TronKey } from './keys.js'
import { decodeTransaction } from './transaction.js'

// A transaction ends in its signature, and the signature in v.
const lastByte = /(1b|1c)$/

/** The same signed transaction with v as 0 or 1 in place of 27 or 28. */
export const toZeroBasedRecovery = (signedTransaction: string): string =>
  signedTransaction.replace(lastByte, (v) => (v === '1b' ? '00' : '01'))

const order = 0xfffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364141n

/** The twin of a signed transaction: s replaced by the order minus s, and v by the other one. */
export const toHighS = (signedTransaction: string): string => {
  const s = BigInt(`0x${signedTransaction.slice(-66, -2)}`)
  const v = signedTransaction.slice(-2) === '1b' ? '1c' : '1b'
  return `${signedTransaction.slice(0, -66)}${(order - s).toString(16).padStart(64, '0')}${v}`
}

/** The same transaction signed by somebody else. */
export const signedBySomebodyElse = (signedTransaction: string, { privateKey }: TronKey): string => {
  const signature = secp256k1.sign(decodeTransaction(signedTransaction).id, privateKey)
  const v = signature.recovery === 0 ? '1b' : '1c'
  return `${signedTransaction.slice(0, -130)}${signature.toCompactHex()}${v}`
}
