import type { ReasonEntry } from './reasonEntry.js'

export const tonReasons = {
  invalid_boc_format: {
    message: 'The message is not a valid bag of cells (BOC) of a payment',
    remedy: 'fix_request',
  },
  message_verification_failed: {
    message: "The message is not signed by the key of the payer's wallet",
    operationalCode: 'SVC-1006',
    remedy: 'new_payment',
  },
  invalid_exact_tvm_payload_valid_until_too_far: {
    message: 'The authorization is valid for longer than maxTimeoutSeconds, and for more than five minutes',
    remedy: 'new_payment',
  },
  authorization_mismatch: {
    message: 'The authorization does not match the signed message',
    remedy: 'new_payment',
  },
  invalid_exact_tvm_payload_amount_mismatch: {
    message: 'The signed amount is higher than the amount',
    remedy: 'new_payment',
  },
  invalid_exact_tvm_payload_w5_actions: {
    message: "The message must make the payer's wallet send exactly one plain, bounceable message",
    remedy: 'new_payment',
  },
  invalid_exact_tvm_payload_jetton_transfer: {
    message:
      'The message is not a plain jetton transfer, or its forward amount or payload is not as required',
    remedy: 'new_payment',
  },
  insufficient_ton_attached: {
    message: 'The attached TON does not cover the jetton transfer',
    remedy: 'new_payment',
  },
  invalid_exact_tvm_payload_attached_ton_amount_too_high: {
    message: 'The attached TON exceeds the maximum for a jetton transfer',
    remedy: 'new_payment',
  },
  invalid_exact_tvm_payload_invalid_code_hash: {
    message: "The payer's wallet is not of version 3R1, 3R2, 4R2 or 5R1",
    remedy: 'retry_later',
  },
  invalid_exact_tvm_payload_wallet_id_mismatch: {
    message: 'The message is for another wallet or network',
    remedy: 'new_payment',
  },
  invalid_exact_tvm_payload_signature_mode_mismatch: {
    message: "The payer's wallet does not accept signed messages",
    remedy: 'retry_later',
  },
  invalid_exact_tvm_payload_extensions_dict_mismatch: {
    message: 'This facilitator does not relay for wallets with extensions',
    remedy: 'retry_later',
  },
  account_frozen: { message: "The payer's wallet is frozen", remedy: 'retry_later' },
  wallet_not_deployed: { message: "The payer's wallet is not deployed", remedy: 'retry_later' },
  seqno_already_used: {
    message: 'The seqno of the message was already used on chain',
    operationalCode: 'SVC-3002',
    remedy: 'new_payment',
  },
  seqno_too_high: {
    message: "The seqno of the message is higher than the next seqno of the payer's wallet",
    remedy: 'retry_later',
  },
  insufficient_jetton_balance: {
    message: "The payer's jetton balance is lower than the payment",
    operationalCode: 'SVC-3003',
    remedy: 'fund_payer',
  },
  insufficient_ton_for_gas: {
    message: "The payer's wallet has too little TON to send the transfer",
    remedy: 'fund_payer',
  },
} as const satisfies Readonly<Record<string, ReasonEntry>>
