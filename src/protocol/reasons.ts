/**
 * Refusal reasons (`invalidReason`, `errorReason`). First the specification's table; then established x402 names
 * for cases that the specification does not name.
 */
export const reasons = {
  invalid_payload_structure: {
    message: 'The payment payload is missing a field or has one of the wrong form',
  },
  unsupported_scheme: { message: 'This facilitator does not support the scheme' },
  network_mismatch: { message: 'The network of the payment differs from the requirements' },
  invalid_exact_evm_payload_signature: {
    message: "The signature is not the payer's for this authorization",
    operationalCode: 'SVC-1006',
  },
  invalid_exact_evm_payload_recipient_mismatch: {
    message: 'The recipient of the authorization is not payTo',
  },
  invalid_exact_evm_payload_authorization_valid_before: {
    message: 'The authorization has expired, or would before it could be settled',
    operationalCode: 'SVC-1011',
  },
  invalid_exact_evm_payload_authorization_valid_after: { message: 'The authorization is not valid yet' },
  insufficient_funds: {
    message: "The payer's token balance is lower than the payment",
    operationalCode: 'SVC-3003',
  },
  invalid_exact_evm_payload_authorization_value: { message: 'The authorized value is lower than the amount' },

  invalid_network: { message: 'This facilitator does not support the network' },
  invalid_x402_version: { message: 'The protocol version must be 1 or 2' },
  accepted_requirements_mismatch: {
    message: 'What the client accepted differs from the payment requirements',
  },
  unsupported_asset: { message: 'This facilitator does not settle the asset on this network' },
  self_payment: { message: 'The payer and the recipient are the same address' },
  asset_not_deployed_contract: { message: 'The address of the asset has no contract code' },
  unsupported_payload_type: { message: 'This facilitator does not settle this form of authorization' },
  invalid_exact_evm_nonce_already_used: {
    message: 'The authorization was used or cancelled on chain',
    operationalCode: 'SVC-3002',
  },
  invalid_exact_evm_token_name_mismatch: {
    message: "extra.name is not the name of the token's EIP-712 domain",
    operationalCode: 'SVC-1006',
  },
  invalid_exact_evm_token_version_mismatch: {
    message: "extra.version is not the version of the token's EIP-712 domain",
    operationalCode: 'SVC-1006',
  },
  invalid_exact_evm_missing_eip712_domain: {
    message: "extra.name and extra.version of the token's EIP-712 domain are required",
  },
  invalid_exact_evm_eip3009_not_supported: {
    message: 'The token has no transferWithAuthorization (EIP-3009)',
  },
  invalid_exact_evm_payload_undeployed_smart_wallet: {
    message: "The payer's smart wallet is not deployed, and this facilitator does not deploy wallets",
  },
  eip6492_factory_not_allowed: {
    message: "The factory of the payer's smart wallet is not on the allow-list",
  },
  smart_wallet_deployment_failed: { message: "The payer's smart wallet cannot be deployed as described" },
  token_paused: { message: 'The token is paused' },
  account_blocked: { message: 'The token blocks the payer or the recipient' },
  invalid_exact_evm_transfer_event_mismatch: {
    message: 'The token would not credit the recipient with the exact value',
  },
  gas_limit_exceeded: {
    message: 'The gas of the transfer exceeds the maximum of this facilitator',
  },
  invalid_exact_evm_transaction_simulation_failed: {
    message: 'The transfer fails when it is simulated',
    operationalCode: 'SVC-3002',
  },
  invalid_exact_evm_transaction_failed: {
    message: 'The transaction was mined but the transfer failed',
    operationalCode: 'SVC-3002',
  },

  invalid_exact_svm_payload_transaction_could_not_be_decoded: {
    message: 'The payload’s transaction is not the canonical base64 of a Solana transaction',
  },
  invalid_exact_svm_smart_wallet_alt_resolution_not_available: {
    message: 'The transaction uses address lookup tables, which this facilitator does not support',
  },
  invalid_exact_svm_fee_payer_not_managed_by_facilitator: {
    message: "The transaction's fee payer is not an account of this facilitator",
  },
  invalid_exact_svm_fee_payer_mismatch: {
    message: "The transaction's fee payer is not extra.feePayer",
  },
  invalid_exact_svm_payload_excessive_signers: {
    message: 'The transaction requires signatures other than those of the fee payer and the payer',
  },
  invalid_exact_svm_payload_transaction_instructions_length: {
    message: 'The transaction must have three to seven instructions',
  },
  invalid_exact_svm_payload_transaction_instructions_compute_limit_instruction: {
    message: 'The first instruction must be SetComputeUnitLimit',
  },
  invalid_exact_svm_payload_transaction_instructions_compute_limit_instruction_too_high: {
    message: 'The compute unit limit exceeds the maximum of this facilitator',
  },
  invalid_exact_svm_payload_transaction_instructions_compute_price_instruction: {
    message: 'The second instruction must be SetComputeUnitPrice',
  },
  invalid_exact_svm_payload_transaction_instructions_compute_price_instruction_too_high: {
    message: 'The priority fee (compute units times price) exceeds the maximum of this facilitator',
  },
  invalid_exact_svm_payload_no_transfer_instruction: {
    message:
      'The third instruction must be TransferChecked of SPL Token or Token-2022, with its four accounts',
  },
  invalid_exact_svm_payload_unknown_fourth_instruction: {
    message: 'The fourth instruction is neither Memo nor Lighthouse',
  },
  invalid_exact_svm_payload_unknown_fifth_instruction: {
    message: 'The fifth instruction is neither Memo nor Lighthouse',
  },
  invalid_exact_svm_payload_unknown_sixth_instruction: {
    message: 'The sixth instruction is neither Memo nor Lighthouse',
  },
  invalid_exact_svm_payload_unknown_seventh_instruction: {
    message: 'The seventh instruction is neither Memo nor Lighthouse',
  },
  invalid_exact_svm_payload_memo_count: {
    message: 'The transaction must have one memo where extra.memo is given, and never more than one',
  },
  invalid_exact_svm_payload_memo_mismatch: {
    message: 'The memo is not extra.memo, or is longer than 256 bytes',
  },
  invalid_exact_svm_payload_transaction_fee_payer_transferring_funds: {
    message: 'The transaction has an instruction that references an account of this facilitator',
  },
  invalid_exact_svm_payload_mint_mismatch: { message: 'The mint of the transfer differs from the asset' },
  invalid_exact_svm_payload_amount_mismatch: {
    message: 'The transferred amount differs from the required amount',
  },
  invalid_exact_svm_payload_recipient_mismatch: {
    message: 'The transfer goes to another account than the associated token account of payTo',
  },
  invalid_exact_svm_payload_transaction_sender_ata_not_found: {
    message: 'The token account of the payer does not exist',
  },
  invalid_exact_svm_payload_transaction_receiver_ata_not_found: {
    message: 'The associated token account of payTo does not exist; it must be created first',
  },
  invalid_exact_svm_payload_signature_invalid: {
    message: "The payer's signature is missing, or is not that of the tokens' owner for this transaction",
    operationalCode: 'SVC-1006',
  },
  invalid_exact_svm_transaction_simulation_failed: {
    message: 'The transaction fails when it is simulated',
    operationalCode: 'SVC-3002',
  },
  settle_exact_svm_block_height_exceeded: {
    message: "The transaction's blockhash has expired, or would expire before settlement",
    operationalCode: 'SVC-1011',
  },
  invalid_exact_svm_transaction_failed: {
    message: 'The transaction is in a block but the transfer failed',
    operationalCode: 'SVC-3002',
  },

  transaction_verification_failed: {
    message: 'The signed transaction is not a single token transfer',
  },
  invalid_hex_encoding: { message: 'The signed transaction is not hex' },
  transaction_too_short: { message: 'The signed transaction is too short to be a transfer' },
  invalid_sender_address: { message: 'The payer is not an address of this network' },
  invalid_recipient_address: { message: 'The recipient is not an address of this network' },
  invalid_contract_address: { message: 'The contract is not an address of this network' },
  asset_mismatch: { message: 'The asset of the signed transfer differs from the required asset' },
  recipient_mismatch: { message: 'The recipient of the signed transfer is not payTo' },
  insufficient_amount: { message: 'The signed amount is lower than the amount' },
  authorization_expired: {
    message: 'The signed transfer has expired, or would before it could be settled',
    operationalCode: 'SVC-1011',
  },
  authorization_expires_too_late: {
    message: 'The signed transaction stays valid for longer than maxTimeoutSeconds',
  },
  fee_limit_too_high: { message: 'The fee limit exceeds the maximum of this facilitator' },
  fee_limit_too_low: { message: 'The fee limit does not cover the energy of the transfer' },
  invalid_exact_tron_signature: {
    message: "The signature is not the payer's, or not in canonical form",
    operationalCode: 'SVC-1006',
  },
  transaction_already_on_chain: {
    message: 'The signed transaction is already on chain',
    operationalCode: 'SVC-3002',
  },
  reference_block_mismatch: {
    message: 'The signed transaction does not reference a recent block of this chain',
  },
  account_not_activated: { message: "The payer's account does not exist on this network" },
  account_permission_mismatch: { message: "The payer's key alone may not sign for the payer's account" },
  insufficient_balance: {
    message: "The payer's balance of the token is lower than the payment",
    operationalCode: 'SVC-3003',
  },
  insufficient_energy: {
    message: 'The payer has neither the energy and bandwidth for the transfer nor the TRX to pay for them',
    operationalCode: 'SVC-3003',
  },
  invalid_exact_tron_transaction_simulation_failed: {
    message: 'The signed transfer fails when it is simulated',
    operationalCode: 'SVC-3002',
  },
  transfer_event_mismatch: { message: 'The token does not credit the recipient with the exact value' },
  invalid_boc_format: { message: 'The message is not a valid bag of cells (BOC) of a payment' },
  message_verification_failed: {
    message: "The message is not signed by the key of the payer's wallet",
    operationalCode: 'SVC-1006',
  },
  invalid_exact_tvm_payload_valid_until_too_far: {
    message: 'The authorization is valid for longer than maxTimeoutSeconds',
  },
  authorization_mismatch: { message: 'The authorization does not match the signed message' },
  invalid_exact_tvm_payload_amount_mismatch: { message: 'The signed amount is higher than the amount' },
  invalid_exact_tvm_payload_w5_actions: {
    message: "The message must make the payer's wallet send exactly one plain, bounceable message",
  },
  invalid_exact_tvm_payload_jetton_transfer: {
    message:
      'The message is not a plain jetton transfer, or its forward amount or payload is not as required',
  },
  insufficient_ton_attached: {
    message: 'The attached TON does not cover the jetton transfer',
  },
  invalid_exact_tvm_payload_attached_ton_amount_too_high: {
    message: 'The attached TON exceeds the maximum for a jetton transfer',
  },
  invalid_exact_tvm_payload_invalid_code_hash: {
    message: "The payer's wallet is not of version 3R1, 3R2, 4R2 or 5R1",
  },
  invalid_exact_tvm_payload_wallet_id_mismatch: { message: 'The message is for another wallet or network' },
  invalid_exact_tvm_payload_signature_mode_mismatch: {
    message: "The payer's wallet does not accept signed messages",
  },
  invalid_exact_tvm_payload_extensions_dict_mismatch: {
    message: 'This facilitator does not relay for wallets with extensions',
  },
  account_frozen: { message: "The payer's wallet is frozen" },
  wallet_not_deployed: { message: "The payer's wallet is not deployed" },
  seqno_already_used: {
    message: 'The seqno of the message was already used on chain',
    operationalCode: 'SVC-3002',
  },
  seqno_too_high: { message: "The seqno of the message is higher than the next seqno of the payer's wallet" },
  insufficient_jetton_balance: {
    message: "The payer's jetton balance is lower than the payment",
    operationalCode: 'SVC-3003',
  },
  insufficient_ton_for_gas: { message: "The payer's wallet has too little TON to send the transfer" },
  transaction_failed: {
    message: 'The transaction was executed on chain and the recipient was not credited',
    operationalCode: 'SVC-3002',
  },

  duplicate_settlement: { message: 'This authorization was already settled for another request' },
  settlement_pending: {
    message: 'The transaction was sent and its outcome is not known yet; ask again, do not pay again',
  },
  settlement_abandoned: {
    message: 'The settlement was abandoned before anything was sent; retry the payment',
    operationalCode: 'SVC-3002',
  },
  settlement_displaced: {
    message: 'The transaction was replaced by another one; retry the payment',
    operationalCode: 'SVC-3002',
  },
  authorization_expired_unsettled: {
    message: 'The authorization expired on chain without having been executed',
    operationalCode: 'SVC-1011',
  },
} as const satisfies Readonly<Record<string, { message: string; operationalCode?: string }>>

export type Reason = keyof typeof reasons

export const describeReason = (reason: Reason): string => reasons[reason].message

/** `SVC-…` code, or null. */
export const findOperationalCode = (reason: Reason): string | null => {
  const entry: { message: string; operationalCode?: string } = reasons[reason]
  return entry.operationalCode ?? null
}
