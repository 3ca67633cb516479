import type { HelpTable } from '../reasonEntry.js'

export const tronHelp = {
  transaction_verification_failed: [
    'The signed transaction is not a plain token transfer, or authorization differs from it.',
    'Sign a plain TRC-20 transfer, and fill authorization from it.',
  ],
  invalid_hex_encoding: ['The signed transaction is not hex.', 'Send the signed transaction as hex.'],
  transaction_too_short: [
    'The signed transaction is too short to be a transfer.',
    'Send the whole signed transaction.',
  ],
  invalid_recipient_address: ['The recipient is not a TRON address.', 'Transfer to a TRON address.'],
  invalid_contract_address: [
    'The contract is not a TRON address.',
    'Call the contract of the token by its TRON address.',
  ],
  authorization_expires_too_late: [
    'The transaction is valid for longer than maxTimeoutSeconds.',
    'Sign with an expiration at most maxTimeoutSeconds ahead.',
  ],
  fee_limit_too_high: ['fee_limit exceeds TRON_MAX_FEE_LIMIT_<network>.', 'Lower fee_limit.'],
  fee_limit_too_low: [
    'fee_limit does not pay for the energy that the transfer needs.',
    'Raise fee_limit, then ask for a new signature.',
  ],
  invalid_exact_tron_signature: [
    "The signature is not the payer's, or not canonical.",
    "Sign the transaction's id with the payer's key.",
  ],
  transaction_already_on_chain: [
    'The signed transaction was already on chain before it was verified.',
    'Ask the payer for a new payment; the client must not broadcast it itself.',
  ],
  reference_block_mismatch: [
    'The transaction references no recent block of this chain.',
    'Build the transaction again on a recent block of this network.',
  ],
  account_not_activated: [
    "The payer's account does not exist on this network.",
    "Activate the payer's account by a transfer of TRX to it.",
  ],
  account_permission_mismatch: [
    "The signing key alone may not sign for the payer's account.",
    'Sign with a key that alone reaches the threshold of the owner permission.',
  ],
  insufficient_balance: [
    "The payer's token balance is below the payment.",
    'Fund the payer with the token, then send the same request again.',
  ],
  insufficient_energy: [
    'The payer has neither enough energy and bandwidth nor the TRX to pay for them.',
    'Fund the payer with TRX or energy, then send the same request again.',
  ],
  invalid_exact_tron_transaction_simulation_failed: [
    'The transfer fails in simulation.',
    'Check that the token transfers for the payer, then send the same request again.',
  ],
  transfer_event_mismatch: [
    'The token does not credit the recipient with exactly the value.',
    'Use a token that credits what is transferred.',
  ],
} as const satisfies HelpTable
