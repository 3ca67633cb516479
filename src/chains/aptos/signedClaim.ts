import { createHash } from 'node:crypto'
import type { SignedClaim } from '../../schemes/exactDirect/directChain.js'
import type { Ask } from '../common/direct/node.js'
import { isValidEd25519Signature } from '../common/ed25519.js'
import { readAuthenticationKey } from './rpc.js'

/** `nonce` that wallets are asked to sign with; the text itself names the transaction. */
const claimNonce = 'exact-direct'

/**
 * Ed25519 by the key whose hash is the account's authentication key, over the full message of the wallet standard's
 * `signMessage({ message: text, nonce: 'exact-direct' })`, or over the plain text.
 */
export const isSignedBy = async (
  { account, text, signature, publicKey }: SignedClaim,
  ask: Ask,
): Promise<boolean> => {
  const key = publicKey === null ? null : readHex(publicKey, 32)
  const signed = readHex(signature, 64)
  if (key === null || signed === null) return false
  const isSigned = [`APTOS\nmessage: ${text}\nnonce: ${claimNonce}`, text].some((message) =>
    isValidEd25519Signature({ publicKey: key, message: Buffer.from(message), signature: signed }),
  )
  return isSigned && listAuthenticationKeys(key).includes(await readAuthenticationKey(ask, account))
}

/** The text must be 0x and the given number of bytes. */
const readHex = (text: string, length: number): Buffer | null =>
  new RegExp(`^(0x)?[0-9a-fA-F]{${length * 2}}$`).test(text)
    ? Buffer.from(text.replace(/^0x/, ''), 'hex')
    : null

const ed25519Scheme = Buffer.from([0])
const singleKeyScheme = Buffer.from([2])
// BCS of AnyPublicKey::Ed25519: variant 0, length 32.
const singleKeyPrefix = Buffer.from([0, 32])

/** A key authenticates as an Ed25519 account or as a single-key account. */
const listAuthenticationKeys = (key: Buffer): readonly string[] =>
  [
    [key, ed25519Scheme],
    [singleKeyPrefix, key, singleKeyScheme],
  ].map((parts) => `0x${createHash('sha3-256').update(Buffer.concat(parts)).digest('hex')}`)
