import { createHash } from 'node:crypto'
import type { SignedClaim } from '../../schemes/exactDirect/directChain.js'
import type { Ask } from '../common/direct/node.js'
import { isValidEd25519Signature } from '../common/ed25519.js'
import { readBytes32 } from './addresses.js'
import { isFullAccessKey } from './rpc.js'

const keyPrefix = 'ed25519:'
const signatureLength = 64
const signatureForm = /^[A-Za-z0-9+/]{86}==$/

/** Wallets show it as the site that asks for the signature. */
const recipient = 'exact-direct'

/**
 * NEP-413, as wallets sign messages: ed25519, recipient `exact-direct`, the claim's sha256 as nonce, no callback URL. The
 * key must have full access to the account: keys of apps can sign messages, but cannot pay.
 */
export const isSignedBy = async (
  { account, text, signature, publicKey }: SignedClaim,
  ask: Ask,
): Promise<boolean> => {
  if (publicKey?.startsWith(keyPrefix) !== true || !signatureForm.test(signature)) return false
  const key = readBytes32(publicKey.slice(keyPrefix.length))
  const signatureBytes = Buffer.from(signature, 'base64')
  if (key === null || signatureBytes.length !== signatureLength) return false
  const nonce = createHash('sha256').update(text).digest()
  const message = hashWalletMessage({ message: text, nonce, recipient })
  if (!isValidEd25519Signature({ publicKey: key, message, signature: signatureBytes })) return false
  return await isFullAccessKey(ask, { account, publicKey })
}

// 2^31 + 413: no transaction starts with it.
const tag = 2_147_484_061

interface WalletMessage {
  readonly message: string
  /** 32 bytes. */
  readonly nonce: Uint8Array
  readonly recipient: string
}

/** What a wallet signs for `signMessage` (NEP-413): sha256 of the tag and the borsh fields, without callback URL. */
const hashWalletMessage = ({ message, nonce, recipient }: WalletMessage): Uint8Array =>
  createHash('sha256')
    .update(Buffer.concat([u32(tag), borshText(message), nonce, borshText(recipient), noCallbackUrl]))
    .digest()

const noCallbackUrl = Buffer.of(0)

const borshText = (text: string): Buffer => {
  const bytes = Buffer.from(text, 'utf8')
  return Buffer.concat([u32(bytes.length), bytes])
}

const u32 = (value: number): Buffer => {
  const bytes = Buffer.alloc(4)
  bytes.writeUInt32LE(value)
  return bytes
}
