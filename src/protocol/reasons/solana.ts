import type { ReasonEntry } from './reasonEntry.js'

export const solanaReasons = {
  invalid_exact_svm_payload_transaction_could_not_be_decoded: {
    message: 'The payload’s transaction is not the canonical base64 of a Solana transaction',
    remedy: 'fix_request',
  },
  invalid_exact_svm_smart_wallet_alt_resolution_not_available: {
    message: 'The transaction uses address lookup tables, which this facilitator does not support',
    remedy: 'new_payment',
  },
  invalid_exact_svm_fee_payer_not_managed_by_facilitator: {
    message: "The transaction's fee payer is not an account of this facilitator",
    remedy: 'new_payment',
  },
  invalid_exact_svm_fee_payer_mismatch: {
    message: 'extra.feePayer is not an account of this facilitator',
    remedy: 'new_payment',
  },
  invalid_exact_svm_payload_excessive_signers: {
    message: 'The transaction requires signatures other than those of the fee payer and the payer',
    remedy: 'new_payment',
  },
  invalid_exact_svm_payload_transaction_instructions_length: {
    message: 'The transaction must have three to seven instructions',
    remedy: 'new_payment',
  },
  invalid_exact_svm_payload_transaction_instructions_compute_limit_instruction: {
    message: 'The first instruction must be SetComputeUnitLimit',
    remedy: 'new_payment',
  },
  invalid_exact_svm_payload_transaction_instructions_compute_limit_instruction_too_high: {
    message: 'The compute unit limit exceeds the maximum of this facilitator',
    remedy: 'new_payment',
  },
  invalid_exact_svm_payload_transaction_instructions_compute_price_instruction: {
    message: 'The second instruction must be SetComputeUnitPrice',
    remedy: 'new_payment',
  },
  invalid_exact_svm_payload_transaction_instructions_compute_price_instruction_too_high: {
    message: 'The priority fee (compute units times price) exceeds the maximum of this facilitator',
    remedy: 'new_payment',
  },
  invalid_exact_svm_payload_no_transfer_instruction: {
    message:
      'The third instruction must be TransferChecked of SPL Token or Token-2022, with its four accounts',
    remedy: 'new_payment',
  },
  invalid_exact_svm_payload_unknown_fourth_instruction: {
    message: 'The fourth instruction is neither Memo nor Lighthouse',
    remedy: 'new_payment',
  },
  invalid_exact_svm_payload_unknown_fifth_instruction: {
    message: 'The fifth instruction is neither Memo nor Lighthouse',
    remedy: 'new_payment',
  },
  invalid_exact_svm_payload_unknown_sixth_instruction: {
    message: 'The sixth instruction is neither Memo nor Lighthouse',
    remedy: 'new_payment',
  },
  invalid_exact_svm_payload_unknown_seventh_instruction: {
    message: 'The seventh instruction is neither Memo nor Lighthouse',
    remedy: 'new_payment',
  },
  invalid_exact_svm_payload_memo_count: {
    message: 'The transaction must have one memo where extra.memo is given, and never more than one',
    remedy: 'new_payment',
  },
  invalid_exact_svm_payload_memo_mismatch: {
    message: 'The memo is not extra.memo, or is longer than 256 bytes',
    remedy: 'new_payment',
  },
  invalid_exact_svm_payload_transaction_fee_payer_transferring_funds: {
    message: 'The transaction has an instruction that references an account of this facilitator',
    remedy: 'new_payment',
  },
  invalid_exact_svm_payload_mint_mismatch: {
    message: 'The mint of the transfer differs from the asset',
    remedy: 'new_payment',
  },
  invalid_exact_svm_payload_amount_mismatch: {
    message: 'The transferred amount differs from the required amount',
    remedy: 'new_payment',
  },
  invalid_exact_svm_payload_recipient_mismatch: {
    message: 'The transfer goes to another account than the associated token account of payTo',
    remedy: 'new_payment',
  },
  invalid_exact_svm_payload_transaction_sender_ata_not_found: {
    message: 'The token account of the payer does not exist',
    remedy: 'fund_payer',
  },
  invalid_exact_svm_payload_transaction_receiver_ata_not_found: {
    message: 'The associated token account of payTo does not exist; it must be created first',
    remedy: 'retry_later',
  },
  invalid_exact_svm_payload_signature_invalid: {
    message: "The payer's signature is missing, or is not that of the tokens' owner for this transaction",
    operationalCode: 'SVC-1006',
    remedy: 'new_payment',
  },
  invalid_exact_svm_transaction_simulation_failed: {
    message: 'The transaction fails when it is simulated',
    operationalCode: 'SVC-3002',
    remedy: 'retry_later',
  },
  settle_exact_svm_block_height_exceeded: {
    message: "The transaction's blockhash has expired, or would expire before settlement",
    operationalCode: 'SVC-1011',
    remedy: 'new_payment',
  },
  invalid_exact_svm_transaction_failed: {
    message: 'The transaction is in a block but the transfer failed',
    operationalCode: 'SVC-3002',
    remedy: 'new_payment',
    isFailedOnChain: true,
  },
} as const satisfies Readonly<Record<string, ReasonEntry>>
