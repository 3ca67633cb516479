import { isEd25519Signed } from '../../common/ed25519.js'
import { decodeBase58 } from '../encoding/base58.js'
import type { Transaction } from './payload.js'

/** Whether one of the accounts that must sign has signed the message, as strictly as validators see it. */
export const isSignedBy = ({ keys, signatures, message }: Transaction, signer: number): boolean => {
  const publicKey = decodeBase58(keys[signer] ?? '')
  const signature = signatures[signer]
  return publicKey !== null && signature !== undefined && isEd25519Signed({ publicKey, message, signature })
}
