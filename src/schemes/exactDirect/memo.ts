import { createHash, randomBytes } from 'node:crypto'
import type { PaymentRequirements } from '../../protocol/payment.js'
import type { PaymentDemands } from '../../protocol/recipients.js'

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

/** A memo is public once the transfer is on chain: only its preimage shows that the price was offered to the client. */
export const findMemoProblem = ({ extra }: PaymentRequirements, { memo }: PaymentDemands) =>
  memo && !isMemoPreimage(extra.memoPreimage)
    ? {
        reason: 'memo_mismatch' as const,
        message:
          'The recipient has stated that claims show extra.memoPreimage, of which the memo is the hash',
      }
    : null

export const readMemo = ({ memo, memoPreimage }: PaymentRequirements['extra']): string | null => {
  if (isMemoPreimage(memoPreimage)) return hashMemo(memoPreimage)
  return typeof memo === 'string' ? memo : null
}

const maxMemoLength = 256

export const findMemoContradiction = (
  carriesMemo: boolean,
  { memo, memoPreimage }: PaymentRequirements['extra'],
): string | null => {
  const named = Object.entries({ memo, memoPreimage }).find(([, value]) => value != null)?.[0]
  if (named === undefined) return null
  if (!carriesMemo) return `extra.${named}: transfers of the network carry no memo`
  if (memo != null && (typeof memo !== 'string' || memo === '' || memo.length > maxMemoLength)) {
    return `extra.memo: must be a text of 1 to ${maxMemoLength} characters`
  }
  if (memoPreimage == null) return null
  if (!isMemoPreimage(memoPreimage)) {
    return 'extra.memoPreimage: must be 32 to 128 visible ASCII characters'
  }
  return memo == null || memo === hashMemo(memoPreimage)
    ? null
    : 'extra.memo: must be the first 32 hex digits of the SHA-256 of extra.memoPreimage'
}
