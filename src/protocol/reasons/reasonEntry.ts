/**
 * What the caller can do about a reason. `isFinal`: the same request can never succeed; any other reason may disappear
 * with the state of the chain, unless the settlement itself is final: `isFinal` of `reasons.ts`.
 */
export const remedies = {
  fix_request: { isFinal: true, advice: 'Correct the request or the payment requirements' },
  new_payment: { isFinal: true, advice: 'Ask the payer for a new payment' },
  fund_payer: { isFinal: false, advice: 'Fund the payer, then send the same request again' },
  retry_later: { isFinal: false, advice: 'Send the same request again once the cause is gone' },
  await_settlement: {
    isFinal: false,
    advice: 'Send the same request again, or poll the settlement; do not ask for another payment',
  },
  do_not_deliver: {
    isFinal: false,
    advice: 'Do not deliver: another request has this payment',
  },
} as const

type Remedy = keyof typeof remedies

export interface ReasonEntry {
  readonly message: string
  readonly operationalCode?: OperationalCode
  readonly remedy: Remedy
  /** A block holds the transaction, and its fee was paid, although the payment was not made. */
  readonly isFailedOnChain?: true
  /** Final for a settlement whose transaction is on chain: it consumed the authorization. */
  readonly isFinalOnceSent?: true
}

/** By reason: when it happens, and what to do. docs/errors.md says the same. */
export type HelpTable = Readonly<Record<string, readonly [explanation: string, remedy: string]>>

/** The specification's `SVC-…` codes, for dashboards and alerts; a reason or an error code says more. */
export const operationalCodes = {
  'SVC-1006': 'Invalid signature, or signed for another domain',
  'SVC-1011': 'Expired payment',
  'SVC-2004': 'No RPC endpoint of the network responds',
  'SVC-2005': 'Rate limit',
  'SVC-3002': 'Settlement failed: nonce used, transaction reverted, budget spent, or not in time',
  'SVC-3003': 'Insufficient balance',
  'SVC-4001': 'The network cannot settle, or could not be queried',
} as const

export type OperationalCode = keyof typeof operationalCodes
