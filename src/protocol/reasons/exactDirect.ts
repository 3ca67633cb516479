import type { ReasonEntry } from './reasonEntry.js'

/** They refuse payments that the client made itself and proves by a transaction hash. */
export const exactDirectReasons = {
  transaction_not_found: {
    message: 'The chain does not know the transaction yet, or the hash is wrong',
    remedy: 'retry_later',
  },
  transaction_not_final: {
    message: 'The transaction is not final yet; ask again, do not pay again',
    remedy: 'retry_later',
  },
  transaction_too_old: {
    message: 'The transaction is older than maxTimeoutSeconds, than the intent, or than the offer',
    operationalCode: 'SVC-1011',
    remedy: 'new_payment',
  },
  transaction_too_late: {
    message: 'The transaction is younger than the end of the intent',
    remedy: 'new_payment',
  },
  no_matching_transfer: {
    message: 'The transaction transfers nothing of the asset from the payer to payTo',
    remedy: 'new_payment',
  },
  sender_mismatch: {
    message: 'The transfer to payTo was made by another account than the payer',
    remedy: 'new_payment',
  },
  memo_mismatch: { message: 'The transfer does not carry the required memo', remedy: 'new_payment' },
  offer_unknown: {
    message: 'The requirements name no unique amount that was issued and has not expired',
    remedy: 'fix_request',
  },
  claim_not_permitted: {
    message: 'This caller may not claim payments to the recipient',
    remedy: 'fix_request',
  },
  invalid_claim_signature: {
    message: "The claim is not signed by the payer's key for this payment",
    operationalCode: 'SVC-1006',
    remedy: 'fix_request',
  },
} as const satisfies Readonly<Record<string, ReasonEntry>>
