import type { SignInModule } from '../../chain.js'
import { decodeBase58 } from '../../common/base58.js'
import { isValidEd25519Signature } from '../../common/ed25519.js'
import { readAddress } from '../encoding/keys.js'

/** The key signs the text itself; contracts have no part in it. */
export const verifySignature: SignInModule['verifySignature'] = async ({
  scheme,
  address,
  messages,
  signature,
}) => {
  if (scheme !== null && scheme !== 'siws') return { state: 'wrong_scheme' }
  if (readAddress(address) === null) return { state: 'invalid_address' }
  return messages.some((message) => isSigned({ address, message, signature }))
    ? { state: 'valid', scheme: 'siws', address }
    : { state: 'invalid' }
}

export const verifyMessage: SignInModule['verifyMessage'] = async (text) =>
  readAddress(text.address) !== null && isSigned(text)

interface SignedByKey {
  readonly address: string
  readonly message: string
  readonly signature: string
}

const isSigned = ({ address, message, signature }: SignedByKey): boolean => {
  const publicKey = decodeBase58(address)
  return (
    publicKey !== null &&
    listReadings(signature).some((bytes) =>
      isValidEd25519Signature({ publicKey, message: Buffer.from(message), signature: bytes }),
    )
  )
}

const signatureBytes = 64
const maxSignatureLength = 130

/** x402 clients send base58, t402 hex, wallets base64: some texts can be read as two of them. */
const listReadings = (text: string): readonly Buffer[] => {
  if (text.length > maxSignatureLength) return []
  const hex = /^(?:0x)?([0-9a-fA-F]{128})$/.exec(text)?.[1]
  const readings = [
    hex === undefined ? null : Buffer.from(hex, 'hex'),
    decodeBase58(text),
    /^[A-Za-z0-9+/_-]{86}(?:==)?$/.test(text) ? Buffer.from(text, 'base64') : null,
  ]
  return readings.flatMap((bytes) => (bytes?.length === signatureBytes ? [bytes] : []))
}
