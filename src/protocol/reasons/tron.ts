import type { ReasonEntry } from './reasonEntry.js'

export const tronReasons = {
  transaction_verification_failed: {
    message: 'The signed transaction is not a single token transfer',
    remedy: 'new_payment',
  },
  invalid_hex_encoding: { message: 'The signed transaction is not hex', remedy: 'fix_request' },
  transaction_too_short: {
    message: 'The signed transaction is too short to be a transfer',
    remedy: 'fix_request',
  },
  invalid_recipient_address: {
    message: 'The recipient is not an address of this network',
    remedy: 'fix_request',
  },
  invalid_contract_address: {
    message: 'The contract is not an address of this network',
    remedy: 'fix_request',
  },
  authorization_expires_too_late: {
    message: 'The signed transaction stays valid for longer than maxTimeoutSeconds',
    remedy: 'new_payment',
  },
  fee_limit_too_high: {
    message: 'The fee limit exceeds the maximum of this facilitator',
    remedy: 'new_payment',
  },
  fee_limit_too_low: {
    message: 'The fee limit does not cover the energy of the transfer',
    remedy: 'retry_later',
  },
  invalid_exact_tron_signature: {
    message: "The signature is not the payer's, or not in canonical form",
    operationalCode: 'SVC-1006',
    remedy: 'new_payment',
  },
  transaction_already_on_chain: {
    message: 'The signed transaction is already on chain',
    operationalCode: 'SVC-3002',
    remedy: 'new_payment',
  },
  reference_block_mismatch: {
    message: 'The signed transaction does not reference a recent block of this chain',
    remedy: 'new_payment',
  },
  account_not_activated: {
    message: "The payer's account does not exist on this network",
    remedy: 'retry_later',
  },
  account_permission_mismatch: {
    message: "The payer's key alone may not sign for the payer's account",
    remedy: 'retry_later',
  },
  insufficient_balance: {
    message: "The payer's balance of the token is lower than the payment",
    operationalCode: 'SVC-3003',
    remedy: 'fund_payer',
  },
  insufficient_energy: {
    message: 'The payer has neither the energy and bandwidth for the transfer nor the TRX to pay for them',
    operationalCode: 'SVC-3003',
    remedy: 'fund_payer',
  },
  invalid_exact_tron_transaction_simulation_failed: {
    message: 'The signed transfer fails when it is simulated',
    operationalCode: 'SVC-3002',
    remedy: 'retry_later',
  },
  transfer_event_mismatch: {
    message: 'The token does not credit the recipient with the exact value',
    remedy: 'retry_later',
    isFinalOnceSent: true,
  },
} as const satisfies Readonly<Record<string, ReasonEntry>>
