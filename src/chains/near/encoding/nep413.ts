import { createHash } from 'node:crypto'

// 2^31 + 413: no transaction starts with it.
const tag = 2_147_484_061

interface WalletMessage {
  readonly message: string
  /** 32 bytes. */
  readonly nonce: Uint8Array
  readonly recipient: string
}

/** What a wallet signs for `signMessage` (NEP-413): sha256 of the tag and the borsh fields, without callback URL. */
export const hashWalletMessage = ({ message, nonce, recipient }: WalletMessage): Uint8Array =>
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
