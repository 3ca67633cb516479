import { type Hex, recoverAddress } from 'viem'
import { loadNativeRecoverKey } from '../../common/secp256k1.js'
import { readAddress } from '../abi/address.js'
import { keccak } from '../abi/words.js'

export interface EcdsaParts {
  readonly v: 27 | 28
  readonly r: Hex
  readonly s: Hex
}

/** The address that signed a digest, or null for an invalid signature. */
export type RecoverSigner = (digest: Hex, parts: EcdsaParts) => Promise<Hex | null>

/** Recovery by libsecp256k1's addon; null where none fits this machine. */
export const loadNativeRecover = (): RecoverSigner | null => {
  const recoverKey = loadNativeRecoverKey()
  if (recoverKey === null) return null
  return async (digest, { v, r, s }) => {
    try {
      const rs = Buffer.from(r.slice(2) + s.slice(2), 'hex')
      const publicKey = recoverKey(Buffer.from(digest.slice(2), 'hex'), rs, v - 27)
      // The last 20 bytes of the hash of the key without its prefix 04 (uncompressed).
      return readAddress(`0x${keccak(publicKey.subarray(1)).slice(-40)}`)
    } catch {
      // r or s is out of range or not on the curve.
      return null
    }
  }
}

/** Recovery in JavaScript, for machines without the addon. */
export const recoverInJavaScript: RecoverSigner = async (digest, { v, r, s }) => {
  try {
    return await recoverAddress({ hash: digest, signature: { r, s, yParity: v - 27 } })
  } catch {
    return null
  }
}

const native = loadNativeRecover()

export const isRecoveryNative = native !== null

/** The fastest recovery on this machine. */
export const recoverSigner: RecoverSigner = native ?? recoverInJavaScript
