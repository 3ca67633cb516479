import { createHash } from 'node:crypto'
import { StrKey } from '@stellar/stellar-base'
import type { SignInModule } from '../../chain.js'
import { isValidEd25519Signature } from '../../common/ed25519.js'
import { isSignedChallenge } from './challenge.js'

/** A SEP-10 challenge, or a signature of the message itself. */
export const verifySignature: SignInModule['verifySignature'] = async (statement) => {
  const { scheme, address, messages, signature } = statement
  if (scheme !== null && scheme !== 'sep10') return { state: 'wrong_scheme' }
  if (!StrKey.isValidEd25519PublicKey(address)) return { state: 'invalid_address' }
  const isSigned =
    messages.some((message) => isSignedMessage({ address, message, signature })) ||
    isSignedChallenge(statement)
  return isSigned ? { state: 'valid', scheme: 'sep10', address } : { state: 'invalid' }
}

export const verifyMessage: SignInModule['verifyMessage'] = async (text) =>
  StrKey.isValidEd25519PublicKey(text.address) && isSignedMessage(text)

interface SignedByKey {
  readonly address: string
  readonly message: string
  readonly signature: string
}

const isSignedMessage = ({ address, message, signature }: SignedByKey): boolean => {
  const bytes = readKeySignature(signature)
  if (bytes === null) return false
  const publicKey = StrKey.decodeEd25519PublicKey(address)
  // SEP-53 signs a hash of its prefix and the message; @t402/extensions verifies the message itself.
  const forms = [
    createHash('sha256').update(`Stellar Signed Message:\n${message}`).digest(),
    Buffer.from(message),
  ]
  return forms.some((form) => isValidEd25519Signature({ publicKey, message: form, signature: bytes }))
}

const readKeySignature = (text: string): Buffer | null => {
  const hex = /^(?:0x)?([0-9a-fA-F]{128})$/.exec(text)?.[1]
  if (hex !== undefined) return Buffer.from(hex, 'hex')
  return /^[A-Za-z0-9+/_-]{86}(?:==)?$/.test(text) ? Buffer.from(text, 'base64') : null
}
