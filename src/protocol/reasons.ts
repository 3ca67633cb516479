import { authCaptureReasons } from './reasons/authCapture.js'
import { channelReasons } from './reasons/channels.js'
import { commonReasons, specificationReasons } from './reasons/common.js'
import { evmReasons } from './reasons/evm.js'
import { exactDirectReasons } from './reasons/exactDirect.js'
import { type OperationalCode, type ReasonEntry, remedies } from './reasons/reasonEntry.js'
import { solanaReasons } from './reasons/solana.js'
import { tonReasons } from './reasons/ton.js'
import { tronReasons } from './reasons/tron.js'

export { remedies }

/**
 * Refusal reasons (`invalidReason`, `errorReason`): the specification's, and established x402 names for cases that the
 * specification does not name.
 */
export const reasons = {
  ...specificationReasons,
  ...commonReasons,
  ...evmReasons,
  ...authCaptureReasons,
  ...channelReasons,
  ...solanaReasons,
  ...tonReasons,
  ...tronReasons,
  ...exactDirectReasons,
} as const

export type Reason = keyof typeof reasons

export const isReason = (text: string): text is Reason => Object.hasOwn(reasons, text)

/** Null for a text that is no reason of this version. */
export const readReason = (text: string | null): Reason | null =>
  text !== null && isReason(text) ? text : null

export const describeReason = (reason: Reason): string => reasons[reason].message

export const findRemedy = (reason: Reason) => remedies[reasons[reason].remedy]

/** Whether a settlement with this reason cost a fee. */
export const isFailedOnChain = (reason: Reason): boolean => {
  const entry: ReasonEntry = reasons[reason]
  return entry.isFailedOnChain === true
}

/** `SVC-…` code, or null. */
export const findOperationalCode = (reason: Reason): OperationalCode | null => {
  const entry: ReasonEntry = reasons[reason]
  return entry.operationalCode ?? null
}

/** What the journal knows of the settlement that a refusal is about. */
interface RefusedSettlement {
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
