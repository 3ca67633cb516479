import type { SignedClaim } from '../../schemes/exactDirect/directChain.js'
import { readAccountKey } from './addresses.js'
import { isValidSignature, type SignatureType, signatureTypes } from './signature.js'

/** 64 bytes, or 65 with the recovery id; wallets may put the type before them. */
const signatureForm = /^0x((?:[0-9a-fA-F]{2}){64,66})$/

/**
 * `signRaw` of the wallets (type `bytes`) signs the text between these marks, so that no signature of a text is one of an
 * extrinsic.
 */
const wrap = (text: string): Buffer => Buffer.from(`<Bytes>${text}</Bytes>`, 'utf8')

/** The account is its key, or for ecdsa the key's hash: `publicKey` is not needed. */
export const isSignedBy = ({ account, text, signature }: SignedClaim): boolean => {
  const key = readAccountKey(account)
  const [, hex] = signatureForm.exec(signature) ?? []
  if (key === null || hex === undefined) return false
  return listReadings(Buffer.from(hex, 'hex')).some((reading) =>
    isValidSignature({ ...reading, message: wrap(text), accountKey: Buffer.from(key, 'hex') }),
  )
}

interface Reading {
  readonly type: SignatureType
  readonly signature: Buffer
}

/** The lengths leave at most two. */
const listReadings = (bytes: Buffer): readonly Reading[] => {
  const type = signatureTypes[bytes[0] ?? -1]
  const typed = type === undefined ? [] : [{ type, signature: bytes.subarray(1) }]
  return [...signatureTypes.map((each) => ({ type: each, signature: bytes })), ...typed]
}
