import { secp256k1Verify, sr25519Verify } from '@polkadot/util-crypto'
import type { SignedClaim } from '../../../schemes/exactDirect/directChain.js'
import { isValidEd25519Signature } from '../../common/ed25519.js'
import { readAccountKey } from '../encoding/address.js'

/** 64 bytes, or 65 with the recovery id; wallets may put the type before them. */
const signatureForm = /^0x((?:[0-9a-fA-F]{2}){64,66})$/

const types = { 0: 'ed25519', 1: 'sr25519', 2: 'ecdsa' } as const

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
  return listReadings(Buffer.from(hex, 'hex')).some(({ type, bytes }) =>
    isValid({ type, bytes, message: wrap(text), publicKey: Buffer.from(key, 'hex') }),
  )
}

interface Reading {
  readonly type: (typeof types)[keyof typeof types]
  readonly bytes: Buffer
}

const edwardsLength = 64
const ecdsaLength = 65

const listReadings = (bytes: Buffer): readonly Reading[] => {
  const rest = bytes.subarray(1)
  switch (bytes.length) {
    case edwardsLength:
      return [
        { type: 'sr25519', bytes },
        { type: 'ed25519', bytes },
      ]
    case ecdsaLength: {
      const type = bytes[0] === 0 ? types[0] : bytes[0] === 1 ? types[1] : null
      return [{ type: 'ecdsa', bytes }, ...(type === null ? [] : [{ type, bytes: rest }])]
    }
    default:
      return bytes[0] === 2 ? [{ type: types[2], bytes: rest }] : []
  }
}

const isValid = ({
  type,
  bytes,
  message,
  publicKey,
}: Reading & { readonly message: Buffer; readonly publicKey: Buffer }): boolean => {
  switch (type) {
    case 'ed25519':
      return isValidEd25519Signature({ publicKey, message, signature: bytes })
    case 'sr25519':
      return tryVerify(() => sr25519Verify(message, bytes, publicKey))
    case 'ecdsa':
      return tryVerify(() => secp256k1Verify(message, bytes, publicKey))
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
