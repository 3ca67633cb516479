import type { Hex } from 'viem'
import { signatureForm } from './signature.js'

// In characters; wallets of several owners concatenate their signatures.
const maxSignatureLength = 2 + 2 * 8_192

/** Signatures of a key have these lengths, without and with EIP-2098, in characters. */
export const keySignatureLengths: readonly number[] = [2 + 2 * 65, 2 + 2 * 64]

/** Reads the signature of a message or typed data, in lower case; null for anything else. */
export const readSignatureText = (text: string): Hex | null =>
  text.length <= maxSignatureLength && signatureForm.test(text) ? `0x${text.slice(2).toLowerCase()}` : null
