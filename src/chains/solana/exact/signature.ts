import { isValidEd25519Signature } from '../../common/ed25519.js'
import { decodeBase58 } from '../encoding/base58.js'
import type { Transaction } from './decode.js'

/** Verifies the signature of one required signer, as strictly as validators do. */
export const isSignedBy = ({ keys, signatures, message }: Transaction, signer: number): boolean => {
  const publicKey = decodeBase58(keys[signer] ?? '')
  const signature = signatures[signer]
  return (
    publicKey !== null &&
    signature !== undefined &&
    isValidEd25519Signature({ publicKey, message, signature })
  )
}
