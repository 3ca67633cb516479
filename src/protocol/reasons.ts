import type { OperationalCode } from './operationalCodes.js'

/**
 * What the caller can do about a reason. `isFinal`: the same request can never succeed; any other reason may disappear
 * with the state of the chain, so that the same request can succeed later.
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

export type Remedy = keyof typeof remedies

/**
 * Refusal reasons (`invalidReason`, `errorReason`). First the specification's table; then established x402 names
 * for cases that the specification does not name.
 */
export const reasons = {
  invalid_payload_structure: {
    message: 'The payment payload is missing a field or has one of the wrong form',
    remedy: 'fix_request',
  },
  unsupported_scheme: { message: 'This facilitator does not support the scheme', remedy: 'fix_request' },
  network_mismatch: {
    message: 'The network of the payment differs from the requirements',
    remedy: 'fix_request',
  },
  invalid_exact_evm_payload_signature: {
    message: "The signature is not the payer's for this authorization",
    operationalCode: 'SVC-1006',
    remedy: 'new_payment',
  },
  invalid_exact_evm_payload_recipient_mismatch: {
    message: 'The recipient of the authorization is not payTo',
    remedy: 'new_payment',
  },
  invalid_exact_evm_payload_authorization_valid_before: {
    message: 'The authorization has expired, or would before it could be settled',
    operationalCode: 'SVC-1011',
    remedy: 'new_payment',
  },
  invalid_exact_evm_payload_authorization_valid_after: {
    message: 'The authorization is not valid yet',
    remedy: 'retry_later',
  },
  insufficient_funds: {
    message: "The payer's token balance is lower than the payment",
    operationalCode: 'SVC-3003',
    remedy: 'fund_payer',
  },
  invalid_exact_evm_payload_authorization_value: {
    message: 'The authorized value is lower than the amount',
    remedy: 'new_payment',
  },

  invalid_network: { message: 'This facilitator does not support the network', remedy: 'fix_request' },
  invalid_x402_version: { message: 'The protocol version must be 1 or 2', remedy: 'fix_request' },
  accepted_requirements_mismatch: {
    message: 'What the client accepted differs from the payment requirements',
    remedy: 'fix_request',
  },
  unsupported_asset: {
    message: 'This facilitator does not settle the asset on this network',
    remedy: 'fix_request',
  },
  self_payment: { message: 'The payer and the recipient are the same address', remedy: 'fix_request' },
  asset_not_deployed_contract: {
    message: 'The address of the asset has no contract code',
    remedy: 'retry_later',
  },
  unsupported_payload_type: {
    message: 'This facilitator does not settle this form of authorization',
    remedy: 'fix_request',
  },
  invalid_payment_amount: { message: 'The amount must be at least one smallest unit', remedy: 'fix_request' },
  invalid_exact_evm_nonce_already_used: {
    message: 'The authorization was used or cancelled on chain',
    operationalCode: 'SVC-3002',
    remedy: 'new_payment',
  },
  invalid_exact_evm_token_name_mismatch: {
    message: "extra.name is not the name of the token's EIP-712 domain",
    operationalCode: 'SVC-1006',
    remedy: 'fix_request',
  },
  invalid_exact_evm_token_version_mismatch: {
    message: "extra.version is not the version of the token's EIP-712 domain",
    operationalCode: 'SVC-1006',
    remedy: 'fix_request',
  },
  invalid_exact_evm_missing_eip712_domain: {
    message: "extra.name and extra.version of the token's EIP-712 domain are required",
    remedy: 'fix_request',
  },
  invalid_exact_evm_eip3009_not_supported: {
    message: 'The token has no transferWithAuthorization (EIP-3009)',
    remedy: 'fix_request',
  },
  invalid_exact_evm_payload_undeployed_smart_wallet: {
    message: "The payer's smart wallet is not deployed, and this facilitator does not deploy wallets",
    remedy: 'retry_later',
  },
  eip6492_factory_not_allowed: {
    message: "The factory of the payer's smart wallet is not on the allow-list",
    remedy: 'fix_request',
  },
  smart_wallet_deployment_failed: {
    message: "The payer's smart wallet cannot be deployed as described",
    remedy: 'retry_later',
  },
  token_paused: { message: 'The token is paused', remedy: 'retry_later' },
  account_blocked: { message: 'The token blocks the payer or the recipient', remedy: 'retry_later' },
  invalid_exact_evm_transfer_event_mismatch: {
    message: 'The token would not credit the recipient with the exact value',
    remedy: 'retry_later',
  },
  gas_limit_exceeded: {
    message: 'The gas of the transfer exceeds the maximum of this facilitator',
    remedy: 'retry_later',
  },
  invalid_exact_evm_transaction_simulation_failed: {
    message: 'The transfer fails when it is simulated',
    operationalCode: 'SVC-3002',
    remedy: 'retry_later',
  },
  invalid_exact_evm_transaction_failed: {
    message: 'The transaction was mined but the transfer failed',
    operationalCode: 'SVC-3002',
    remedy: 'retry_later',
  },

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
    message: "The transaction's fee payer is not extra.feePayer",
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
  },

  transaction_verification_failed: {
    message: 'The signed transaction is not a single token transfer',
    remedy: 'new_payment',
  },
  invalid_hex_encoding: { message: 'The signed transaction is not hex', remedy: 'fix_request' },
  transaction_too_short: {
    message: 'The signed transaction is too short to be a transfer',
    remedy: 'fix_request',
  },
  invalid_sender_address: { message: 'The payer is not an address of this network', remedy: 'fix_request' },
  invalid_recipient_address: {
    message: 'The recipient is not an address of this network',
    remedy: 'fix_request',
  },
  invalid_contract_address: {
    message: 'The contract is not an address of this network',
    remedy: 'fix_request',
  },
  asset_mismatch: {
    message: 'The asset of the signed transfer differs from the required asset',
    remedy: 'new_payment',
  },
  recipient_mismatch: { message: 'The recipient of the signed transfer is not payTo', remedy: 'new_payment' },
  insufficient_amount: { message: 'The signed amount is lower than the amount', remedy: 'new_payment' },
  authorization_expired: {
    message: 'The signed transfer has expired, or would before it could be settled',
    operationalCode: 'SVC-1011',
    remedy: 'new_payment',
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
  },
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
    message: 'The authorization is valid for longer than maxTimeoutSeconds',
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
  transaction_failed: {
    message: 'The transaction was executed on chain and the recipient was not credited',
    operationalCode: 'SVC-3002',
    remedy: 'new_payment',
  },

  duplicate_settlement: {
    message: 'This authorization was already settled for another request',
    remedy: 'do_not_deliver',
  },
  settlement_pending: {
    message: 'The transaction was sent and its outcome is not known yet; ask again, do not pay again',
    remedy: 'await_settlement',
  },
  settlement_abandoned: {
    message: 'The settlement was abandoned before anything was sent; retry the payment',
    operationalCode: 'SVC-3002',
    remedy: 'retry_later',
  },
  settlement_displaced: {
    message: 'The transaction was replaced by another one; retry the payment',
    operationalCode: 'SVC-3002',
    remedy: 'retry_later',
  },
  authorization_expired_unsettled: {
    message: 'The authorization expired on chain without having been executed',
    operationalCode: 'SVC-1011',
    remedy: 'new_payment',
  },
} as const satisfies Readonly<Record<string, ReasonEntry>>

interface ReasonEntry {
  readonly message: string
  readonly operationalCode?: OperationalCode
  readonly remedy: Remedy
}

export type Reason = keyof typeof reasons

export const isReason = (text: string): text is Reason => Object.hasOwn(reasons, text)

/** Null for a text that is no reason of this version. */
export const readReason = (text: string | null): Reason | null =>
  text !== null && isReason(text) ? text : null

export const describeReason = (reason: Reason): string => reasons[reason].message

export const findRemedy = (reason: Reason) => remedies[reasons[reason].remedy]

/** `SVC-…` code, or null. */
export const findOperationalCode = (reason: Reason): OperationalCode | null => {
  const entry: ReasonEntry = reasons[reason]
  return entry.operationalCode ?? null
}
