import { createHash, randomBytes } from 'node:crypto'

// SIP-010 memos have 34 bytes: 128 bits in hex fit on every network.
const memoLength = 32
const preimageForm = /^[\x21-\x7e]{32,128}$/

/** The memo is its hash: only who was offered the price knows it. */
export const createMemoPreimage = (): string => randomBytes(32).toString('hex')

/** A short text could be guessed from the memo. */
export const isMemoPreimage = (value: unknown): value is string =>
  typeof value === 'string' && preimageForm.test(value)

/** What the transfer carries. */
export const hashMemo = (preimage: string): string =>
  createHash('sha256').update(preimage).digest('hex').slice(0, memoLength)
