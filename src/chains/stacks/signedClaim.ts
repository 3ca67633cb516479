import { createHash } from 'node:crypto'
import { publicKeyFromSignatureRsv, publicKeyToAddress } from '@stacks/transactions'
import type { SignedClaim } from '../../schemes/exactDirect/directChain.js'
import { mainnetChainId } from './settings.js'

/** r, s and the recovery id. */
const signatureForm = /^(?:0x)?([0-9a-f]{128}0[0-3])$/

const prefix = '\x17Stacks Signed Message:\n'

/**
 * `stx_signMessage` of the wallets. The key is recovered from the signature, and the account is its hash: `publicKey` is not
 * needed. Accounts with several signers sign no messages.
 */
export const isSignedBy = ({ account, text, signature }: SignedClaim, chainId: string): boolean => {
  const [, hex] = signatureForm.exec(signature.toLowerCase()) ?? []
  if (hex === undefined) return false
  const message = Buffer.from(text, 'utf8')
  const signed = Buffer.concat([Buffer.from(prefix, 'latin1'), encodeLength(message.length), message])
  const digest = createHash('sha256').update(signed).digest('hex')
  try {
    const publicKey = publicKeyFromSignatureRsv(digest, hex)
    return publicKeyToAddress(publicKey, chainId === mainnetChainId ? 'mainnet' : 'testnet') === account
  } catch {
    // r and s are no signature.
    return false
  }
}

/** Bitcoin's variable-length integer. */
const encodeLength = (length: number): Buffer => {
  if (length < 0xfd) return Buffer.from([length])
  const bytes = Buffer.alloc(5, 0xfe)
  bytes.writeUInt32LE(length, 1)
  if (length > 0xffff) return bytes
  const short = Buffer.alloc(3, 0xfd)
  short.writeUInt16LE(length, 1)
  return short
}
