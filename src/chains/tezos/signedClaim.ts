import { getPkhfromPk, verifySignature } from '@taquito/utils'
import type { SignedClaim } from '../../schemes/exactDirect/directChain.js'

// Ed25519, secp256k1 and P-256. BLS (tz4) is left out: wallets sign no messages with it.
const keyForm = /^(?:edpk|sppk|p2pk)[1-9A-HJ-NP-Za-km-z]{50,51}$/
const signatureForm = /^(?:edsig|spsig1|p2sig|sig)[1-9A-HJ-NP-Za-km-z]{90,100}$/

/** The text as a Micheline-packed string, which wallets sign; the account's address is the hash of its key. */
export const isSignedBy = ({ account, text, signature, publicKey }: SignedClaim): boolean => {
  if (publicKey === null || !keyForm.test(publicKey) || !signatureForm.test(signature)) return false
  try {
    return getPkhfromPk(publicKey) === account && verifySignature(packString(text), publicKey, signature)
  } catch {
    return false
  }
}

// PACK of a string: version 5, tag 1, length.
const packedTag = Buffer.from([5, 1])

const packString = (text: string): Uint8Array => {
  const bytes = Buffer.from(text, 'utf8')
  const length = Buffer.alloc(4)
  length.writeUInt32BE(bytes.length)
  return Buffer.concat([packedTag, length, bytes])
}
