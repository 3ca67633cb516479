import { utils } from 'tronweb'
import { loadNativeRecoverKey } from '../../common/secp256k1.js'
import { readAddress, type TronAddress } from '../encoding/address.js'

// Half the order of secp256k1. A higher s is the malleable twin of a lower one.
const highestLowS = 0x7fffffffffffffffffffffffffffffff5d576e7357a4501ddfe92f46681b20a0n

interface SignatureParts {
  readonly rs: string
  readonly recovery: 0 | 1
}

type Recover = (digest: string, parts: SignatureParts) => TronAddress | null

/** Null if invalid, or not in the one accepted form (65 bytes, low s, v of 0, 1, 27 or 28). */
export const recoverSigner = (transaction: string, signature: string): TronAddress | null => {
  const parts = splitSignature(signature)
  if (parts === null) return null
  try {
    return recover(transaction, parts)
  } catch {
    // r or s out of range, or not on the curve.
    return null
  }
}

const splitSignature = (signature: string): SignatureParts | null => {
  const [, r = '', s = '', v = ''] = /^([0-9a-f]{64})([0-9a-f]{64})(00|01|1b|1c)$/.exec(signature) ?? []
  if (v === '' || BigInt(`0x${s}`) > highestLowS) return null
  return { rs: `${r}${s}`, recovery: v === '00' || v === '1b' ? 0 : 1 }
}

/** Null if the native addon does not fit this machine. */
export const loadNativeRecover = (): Recover | null => {
  const recoverKey = loadNativeRecoverKey()
  if (recoverKey === null) return null
  return (digest, { rs, recovery }) => {
    const key = recoverKey(Buffer.from(digest, 'hex'), Buffer.from(rs, 'hex'), recovery)
    // Skips the prefix byte of an uncompressed key.
    return readAddress(`41${utils.ethersUtils.keccak256(key.subarray(1)).slice(-40)}`)
  }
}

export const recoverInJavaScript: Recover = (digest, { rs, recovery }) =>
  readAddress(utils.crypto.ecRecover(digest, `${rs}${recovery === 0 ? '1b' : '1c'}`))

const native = loadNativeRecover()
const recover = native ?? recoverInJavaScript

export const isRecoveryNative = native !== null
