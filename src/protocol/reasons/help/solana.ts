import type { HelpTable } from '../reasonEntry.js'

export const solanaHelp = {
  invalid_exact_svm_payload_transaction_could_not_be_decoded: [
    'transaction is not the canonical base64 of a Solana transaction.',
    'Send the serialized transaction in base64, with an empty signature for the fee payer.',
  ],
  invalid_exact_svm_smart_wallet_alt_resolution_not_available: [
    'The transaction uses address lookup tables.',
    'Build the transaction without address lookup tables.',
  ],
  invalid_exact_svm_fee_payer_not_managed_by_facilitator: [
    'The fee payer is not an account of this facilitator.',
    'Build the transaction with extra.feePayer of the requirements as fee payer.',
  ],
  invalid_exact_svm_fee_payer_mismatch: [
    'extra.feePayer is not an account of this facilitator.',
    'Set extra.feePayer to the one that GET /supported or POST /accepts names.',
  ],
  invalid_exact_svm_payload_excessive_signers: [
    'The required signers are not exactly the fee payer and the payer.',
    'Let only fee payer and payer sign the transaction.',
  ],
  invalid_exact_svm_payload_transaction_instructions_length: [
    'Fewer than three or more than seven instructions.',
    'Build SetComputeUnitLimit, SetComputeUnitPrice and TransferChecked, with at most four instructions behind them.',
  ],
  invalid_exact_svm_payload_transaction_instructions_compute_limit_instruction: [
    'The first instruction is not SetComputeUnitLimit.',
    'Make SetComputeUnitLimit the first instruction.',
  ],
  invalid_exact_svm_payload_transaction_instructions_compute_limit_instruction_too_high: [
    'The limit exceeds SOLANA_MAX_COMPUTE_UNITS.',
    'Lower the compute unit limit.',
  ],
  invalid_exact_svm_payload_transaction_instructions_compute_price_instruction: [
    'The second instruction is not SetComputeUnitPrice.',
    'Make SetComputeUnitPrice the second instruction.',
  ],
  invalid_exact_svm_payload_transaction_instructions_compute_price_instruction_too_high: [
    'Limit times price exceeds SOLANA_MAX_PRIORITY_FEE_LAMPORTS.',
    'Lower the compute unit price or limit, or send the request with an API key.',
  ],
  invalid_exact_svm_payload_no_transfer_instruction: [
    'The third instruction is not TransferChecked of SPL Token or Token-2022 with four accounts.',
    'Make TransferChecked the third instruction.',
  ],
  invalid_exact_svm_payload_unknown_fourth_instruction: [
    'The fourth instruction is neither a memo nor a Lighthouse assertion.',
    'Build the transaction without this instruction.',
  ],
  invalid_exact_svm_payload_unknown_fifth_instruction: [
    'The fifth instruction is neither a memo nor a Lighthouse assertion.',
    'Build the transaction without this instruction.',
  ],
  invalid_exact_svm_payload_unknown_sixth_instruction: [
    'The sixth instruction is neither a memo nor a Lighthouse assertion.',
    'Build the transaction without this instruction.',
  ],
  invalid_exact_svm_payload_unknown_seventh_instruction: [
    'The seventh instruction is unknown, or there are more than three Lighthouse assertions.',
    'Build the transaction without this instruction.',
  ],
  invalid_exact_svm_payload_memo_count: [
    'More than one memo, or none where extra.memo is set.',
    'Build the transaction with exactly one memo where extra.memo is set, and at most one elsewhere.',
  ],
  invalid_exact_svm_payload_memo_mismatch: [
    'The memo is not extra.memo, or exceeds 256 bytes.',
    'Set the memo to extra.memo of the requirements.',
  ],
  invalid_exact_svm_payload_transaction_fee_payer_transferring_funds: [
    'An instruction names an account of this facilitator.',
    'Name the fee payer in no instruction.',
  ],
  invalid_exact_svm_payload_mint_mismatch: [
    'The transfer moves another mint.',
    'Transfer the mint that the requirements name.',
  ],
  invalid_exact_svm_payload_amount_mismatch: [
    'The recipient would not receive exactly the required amount.',
    'Transfer exactly the required amount.',
  ],
  invalid_exact_svm_payload_recipient_mismatch: [
    'The destination is not the associated token account of payTo.',
    'Transfer to the associated token account of payTo, for the token program of the mint.',
  ],
  invalid_exact_svm_payload_transaction_sender_ata_not_found: [
    "The payer's token account does not exist.",
    'Fund the payer with the token, then send the same request again.',
  ],
  invalid_exact_svm_payload_transaction_receiver_ata_not_found: [
    'The token account of payTo does not exist; its owner must create it.',
    'Let the recipient create its token account, for example by receiving the token once.',
  ],
  invalid_exact_svm_payload_signature_invalid: [
    "The signature of the tokens' owner is missing or wrong.",
    'Let the owner of the tokens sign the message as the second signer.',
  ],
  invalid_exact_svm_transaction_simulation_failed: [
    'The transaction fails in simulation.',
    'Read the error in the message, and send the same request once its cause is gone.',
  ],
  settle_exact_svm_block_height_exceeded: [
    'The blockhash expired, or would before the payment could settle.',
    'Let the client build the transaction again, with a recent blockhash.',
  ],
  invalid_exact_svm_transaction_failed: [
    'The transaction is in a finalized block and the transfer failed.',
    'Ask the payer for a new payment.',
  ],
} as const satisfies HelpTable
