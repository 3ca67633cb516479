import type { ReasonEntry } from './reasons/reasonEntry.js'
import { findRemedy, type Reason, reasons } from './reasons.js'

/** What the journal knows of the settlement that a refusal is about. */
export interface RefusedSettlement {
  readonly state: string
  /** The transaction that failed; null or empty if nothing was sent. */
  readonly transaction: string | null
  /** The request that was answered `success: true`, or null. */
  readonly consumedBy: string | null
  /** When the chain starts to reject the authorization; null if it has no such time. */
  readonly expiresAt: Date | null
}

/**
 * Whether the same request can never succeed. The reason alone says so, or its settlement does: it paid another request,
 * its authorization has expired, or it was executed without paying.
 */
export const isFinal = (reason: Reason, settlement: RefusedSettlement, now: Date): boolean => {
  const entry: ReasonEntry = reasons[reason]
  const { state, transaction, consumedBy, expiresAt } = settlement
  return (
    findRemedy(reason).isFinal ||
    state === 'confirmed' ||
    consumedBy !== null ||
    (expiresAt !== null && expiresAt <= now) ||
    (entry.isFinalOnceSent === true && transaction !== null && transaction !== '')
  )
}
