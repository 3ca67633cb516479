import { secp256k1Verify, sr25519Verify } from '@polkadot/util-crypto'
import { isValidEd25519Signature } from '../common/ed25519.js'

export type SignatureType = 'ed25519' | 'sr25519' | 'ecdsa'

/** Variants of `MultiSignature`, in order. */
export const signatureTypes: readonly SignatureType[] = ['ed25519', 'sr25519', 'ecdsa']

/** With the recovery id of ecdsa. */
export const signatureLengths: Readonly<Record<SignatureType, number>> = {
  ed25519: 64,
  sr25519: 64,
  ecdsa: 65,
}

interface Signed {
  readonly type: SignatureType
  readonly signature: Uint8Array
  readonly message: Uint8Array
  /** For ecdsa the hash of the public key. */
  readonly accountKey: Uint8Array
}

export const isValidSignature = ({ type, signature, message, accountKey }: Signed): boolean => {
  if (signature.length !== signatureLengths[type]) return false
  switch (type) {
    case 'ed25519':
      return isValidEd25519Signature({ publicKey: accountKey, message, signature })
    case 'sr25519':
      return tryVerify(() => sr25519Verify(message, signature, accountKey))
    case 'ecdsa':
      return tryVerify(() => secp256k1Verify(message, signature, accountKey))
  }
}

/** The library throws for bytes that are no signature or no key. */
const tryVerify = (verify: () => boolean): boolean => {
  try {
    return verify()
  } catch {
    return false
  }
}
