import { utils } from 'tronweb'
import { loadNativeRecoverKey } from '../../common/secp256k1.js'
import { readAddress, type TronAddress } from '../encoding/address.js'

// secp256k1's group order halved; above it a signature has a twin that means the same.
const highestLowS = 0x7fffffffffffffffffffffffffffffff5d576e7357a4501ddfe92f46681b20a0n

/** A signature in parts: the 64 bytes of r and s in hex, and which of the two keys it stands for. */
export interface SignatureParts {
  readonly rs: string
  readonly recovery: 0 | 1
}

/** The address that signed a digest; throws for parts that are nobody's signature. */
export type Recover = (digest: string, parts: SignatureParts) => TronAddress | null

/** Who signed a transaction's id, or null where that is nobody, or not in the one form that is accepted. */
export const recoverSigner = (transaction: string, signature: string): TronAddress | null => {
  const parts = splitSignature(signature)
  if (parts === null) return null
  try {
    return recover(transaction, parts)
  } catch {
    // r or s is out of range or not on the curve.
    return null
  }
}

const splitSignature = (signature: string): SignatureParts | null => {
  const [, r = '', s = '', v = ''] = /^([0-9a-f]{64})([0-9a-f]{64})(00|01|1b|1c)$/.exec(signature) ?? []
  if (v === '' || BigInt(`0x${s}`) > highestLowS) return null
  return { rs: `${r}${s}`, recovery: v === '00' || v === '1b' ? 0 : 1 }
}

/** Recovers by libsecp256k1's addon; null where none fits this machine. */
export const loadNativeRecover = (): Recover | null => {
  const recoverKey = loadNativeRecoverKey()
  if (recoverKey === null) return null
  return (digest, { rs, recovery }) => {
    const key = recoverKey(Buffer.from(digest, 'hex'), Buffer.from(rs, 'hex'), recovery)
    // The address is the end of the hash of the key without its leading byte, which says `not compressed`.
    return readAddress(`41${utils.ethersUtils.keccak256(key.subarray(1)).slice(-40)}`)
  }
}

/** The same in JavaScript, for machines that the addon was not built for. */
export const recoverInJavaScript: Recover = (digest, { rs, recovery }) =>
  readAddress(utils.crypto.ecRecover(digest, `${rs}${recovery === 0 ? '1b' : '1c'}`))

const native = loadNativeRecover()
const recover = native ?? recoverInJavaScript

/** Whether the fast implementation runs. */
export const isRecoveryNative = native !== null
