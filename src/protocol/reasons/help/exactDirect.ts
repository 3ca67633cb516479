import type { HelpTable } from '../reasonEntry.js'

export const exactDirectHelp = {
  transaction_not_found: [
    'The chain does not know the transaction yet, or the hash is wrong.',
    'Check the hash and the network, then ask again once the transaction is in a block.',
  ],
  transaction_not_final: [
    'The transaction is known and not final. /settle waits for it; /verify can be asked again.',
    'Ask again in a few seconds; do not pay again.',
  ],
  transaction_too_old: [
    "The transaction's block is older than maxTimeoutSeconds, than the intent that it is to pay, or than the offer of its unique amount.",
    'Send the proof directly after paying; this one is too old, so that a new payment is needed.',
  ],
  transaction_too_late: [
    "The transaction's block is younger than the cancellation or the expiry of the intent.",
    'Ask the payer for a new payment.',
  ],
  no_matching_transfer: [
    'The transaction has no transfer that resembles the payment.',
    'Check asset, payer and recipient of the transaction; pay again as the requirements say.',
  ],
  sender_mismatch: ['Another account than from paid payTo.', 'Send the address that paid as from.'],
  memo_mismatch: [
    'The transfer does not carry the required memo, or the recipient has stated that claims show its preimage and extra.memoPreimage is none.',
    'Pay with the memo of the requirements, and show its preimage where the recipient demands it.',
  ],
  offer_unknown: [
    'The requirements carry no unique amount with its extra.offer that was issued and has not expired.',
    'Ask POST /accepts for a new unique amount, and send its extra.offer in the requirements.',
  ],
  claim_not_permitted: [
    'This caller may not claim payments to payTo: only API keys of the project that the recipient stated may, or only callers with a key.',
    "Send the request with an API key of the recipient's project.",
  ],
  invalid_claim_signature: [
    "The signed claim, which the requirements or the recipient's statement demand, is missing, or a claim is not signed by the payer's key for this payment.",
    "Let the payer's key sign the claim for this transaction and resource.",
  ],
} as const satisfies HelpTable
