import type { Reason } from '../../protocol/reasons.js'
import type { DirectTransfer, LookUp } from './directChain.js'

/** What the payment must be; normal forms. */
export interface Terms {
  readonly asset: string
  readonly from: string
  readonly to: string
  readonly amount: bigint
  /** Whether more than the amount is refused too. */
  readonly isExact: boolean
  /** Null: any memo, and none. */
  readonly memo: string | null
  /** Older transactions are refused. */
  readonly notBefore: Date
  /** Younger transactions are refused; null: none. */
  readonly notAfter: Date | null
}

export type Judgement =
  | { readonly state: 'paid'; readonly amount: bigint }
  | { readonly state: 'unknown'; readonly reason: 'transaction_not_found' | 'transaction_not_final' }
  | { readonly state: 'refused'; readonly reason: Reason }

// Clocks of block producers may be this far ahead of ours.
const maxClockSkewMs = 60_000

/** The only place that decides whether a transaction paid. Every transfer belongs to one asset, payer and recipient. */
export const judge = (found: LookUp, terms: Terms, now: Date): Judgement => {
  switch (found.state) {
    case 'missing':
      return { state: 'unknown', reason: 'transaction_not_found' }
    case 'pending':
      return { state: 'unknown', reason: 'transaction_not_final' }
    case 'failed':
      return { state: 'refused', reason: 'transaction_failed' }
    case 'successful':
      break
  }
  const { includedAt, transfers } = found
  // A block of the future would stay valid for longer than the terms allow.
  if (includedAt.getTime() > now.getTime() + maxClockSkewMs) {
    return { state: 'unknown', reason: 'transaction_not_final' }
  }
  if (includedAt < terms.notBefore) return { state: 'refused', reason: 'transaction_too_old' }
  if (terms.notAfter !== null && includedAt > terms.notAfter) {
    return { state: 'refused', reason: 'transaction_too_late' }
  }

  const paid = transfers.filter((transfer) => isBetween(transfer, terms.from, terms.to, terms.asset))
  if (paid.length === 0) return { state: 'refused', reason: findNearMiss(transfers, terms) }
  const counted = terms.memo === null ? paid : paid.filter(({ memo }) => memo === terms.memo)
  if (counted.length === 0) return { state: 'refused', reason: 'memo_mismatch' }
  // What the recipient sent back in the same transaction was not paid.
  const returned = transfers.filter((transfer) => isBetween(transfer, terms.to, terms.from, terms.asset))
  const amount = sum(counted) - sum(returned)
  if (amount <= 0n || amount < terms.amount) return { state: 'refused', reason: 'insufficient_amount' }
  // An amount that is unique tells payments apart only if it is paid exactly.
  if (terms.isExact && amount !== terms.amount) return { state: 'refused', reason: 'amount_mismatch' }
  return { state: 'paid', amount }
}

const isBetween = (transfer: DirectTransfer, from: string, to: string, asset: string): boolean =>
  transfer.from === from && transfer.to === to && transfer.asset === asset

const findNearMiss = (transfers: readonly DirectTransfer[], { asset, from, to }: Terms): Reason => {
  const includes = (wanted: Partial<DirectTransfer>) =>
    transfers.some(
      (transfer) =>
        (wanted.asset ?? transfer.asset) === transfer.asset &&
        (wanted.from ?? transfer.from) === transfer.from &&
        (wanted.to ?? transfer.to) === transfer.to,
    )
  if (includes({ asset, to })) return 'sender_mismatch'
  if (includes({ from, to })) return 'asset_mismatch'
  if (includes({ asset, from })) return 'recipient_mismatch'
  return 'no_matching_transfer'
}

const sum = (transfers: readonly DirectTransfer[]): bigint =>
  transfers.reduce((total, { amount }) => total + amount, 0n)
