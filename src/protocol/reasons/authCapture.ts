import type { ReasonEntry } from './reasonEntry.js'

/** Of `auth-capture` on EVM. */
export const authCaptureReasons = {
  invalid_auth_capture_evm_payload_format: {
    message: 'The payload is no payment, capture, void or refund of auth-capture',
    remedy: 'fix_request',
  },
  invalid_auth_capture_evm_extra: {
    message: 'What extra of the requirements states lacks a term of auth-capture, or contradicts the payment',
    remedy: 'fix_request',
  },
  invalid_auth_capture_evm_unsupported_payment_flow: {
    message: 'extra.paymentFlow is neither escrow nor authorization',
    remedy: 'fix_request',
  },
  invalid_auth_capture_evm_missing_receiver_authorizer: {
    message: 'extra.receiverAuthorizer is required: without it the payment could never be captured',
    remedy: 'fix_request',
  },
  invalid_auth_capture_evm_receiver_authorizer_mismatch: {
    message: 'extra.receiverAuthorizer is a key of this facilitator, which does not sign for this caller',
    remedy: 'fix_request',
  },
  invalid_auth_capture_evm_unsupported_asset_transfer_method: {
    message: 'extra.assetTransferMethod is neither eip3009 nor permit2',
    remedy: 'fix_request',
  },
  invalid_auth_capture_evm_unsupported_operator_type: {
    message:
      'extra.operatorType is not delegated: this facilitator operates payments by its own accounts only',
    remedy: 'fix_request',
  },
  invalid_auth_capture_evm_policy: {
    message: 'extra.policy names a contract: this facilitator enforces no policies',
    remedy: 'fix_request',
  },
  invalid_auth_capture_evm_operator_not_admitted: {
    message: 'extra.captureAuthorizer is no account of this facilitator',
    remedy: 'fix_request',
  },
  invalid_auth_capture_evm_payload_method_mismatch: {
    message: 'The payload is not of the transfer method that the requirements ask for',
    remedy: 'new_payment',
  },
  invalid_auth_capture_evm_capture_deadline_expired: {
    message: 'The capture deadline has passed, or would before the transaction is mined',
    operationalCode: 'SVC-1011',
    remedy: 'new_payment',
  },
  invalid_auth_capture_evm_deadline_ordering: {
    message: 'The deadlines are not in order: authorization, capture, refund',
    remedy: 'fix_request',
  },
  invalid_auth_capture_evm_authorization_expired: {
    message: 'The authorization of the hold has expired, or would before it could be collected',
    operationalCode: 'SVC-1011',
    remedy: 'new_payment',
  },
  invalid_auth_capture_evm_authorization_not_yet_valid: {
    message: 'The authorization of the hold is not valid yet',
    remedy: 'new_payment',
  },
  invalid_auth_capture_evm_token_collector_mismatch: {
    message: 'The payer authorizes another contract than the token collector of the escrow',
    remedy: 'new_payment',
  },
  invalid_auth_capture_evm_token_mismatch: {
    message: 'The payer authorizes another token than the required asset',
    remedy: 'new_payment',
  },
  invalid_auth_capture_evm_signature: {
    message: "The signature is not the payer's for this payment",
    operationalCode: 'SVC-1006',
    remedy: 'new_payment',
  },
  invalid_auth_capture_evm_erc6492_factory_not_allowed: {
    message: "The payer's wallet is not deployed, and its factory is not on the allow-list",
    remedy: 'fix_request',
  },
  invalid_auth_capture_evm_amount_mismatch: {
    message: 'The amount is not what the payment allows',
    remedy: 'fix_request',
  },
  invalid_auth_capture_evm_amount_overflow: {
    message: 'The amount exceeds what the escrow can count',
    remedy: 'fix_request',
  },
  invalid_auth_capture_evm_fee: {
    message: 'The fee or its receiver is not within the terms of the payment',
    remedy: 'fix_request',
  },
  invalid_auth_capture_evm_fee_bps: { message: 'The fee exceeds 10,000 basis points', remedy: 'fix_request' },
  invalid_auth_capture_evm_fee_bps_range: {
    message: 'The lowest fee of the payment exceeds its highest',
    remedy: 'fix_request',
  },
  invalid_auth_capture_evm_fee_bps_out_of_range: {
    message: 'The fee is outside minFeeBps and maxFeeBps',
    remedy: 'fix_request',
  },
  invalid_auth_capture_evm_fee_receiver: {
    message: 'The receiver of the fee is not extra.feeRecipient',
    remedy: 'fix_request',
  },
  invalid_auth_capture_evm_zero_fee_receiver: {
    message: 'The fee has no receiver',
    remedy: 'fix_request',
  },
  invalid_auth_capture_evm_salt_binding_mismatch: {
    message: 'The salt of the payment does not bind this receiverAuthorizer',
    remedy: 'fix_request',
  },
  invalid_auth_capture_evm_nonce_mismatch: {
    message: 'The nonce that the payer signed is not the hash of these terms',
    remedy: 'new_payment',
  },
  invalid_auth_capture_evm_authorizer_signature: {
    message: 'The signature of the receiverAuthorizer is missing, or not for this request',
    operationalCode: 'SVC-1006',
    remedy: 'fix_request',
  },
  invalid_auth_capture_evm_void_authorizer_signature: {
    message: 'The void signature of the receiverAuthorizer is not for this payment',
    operationalCode: 'SVC-1006',
    remedy: 'fix_request',
  },
  invalid_auth_capture_evm_void_remainder_full_capture: {
    message: 'This capture leaves nothing to be voided',
    remedy: 'fix_request',
  },
  invalid_auth_capture_evm_void_remainder_not_offered: {
    message: 'This facilitator does not void the rest with a capture: send the void as a request of its own',
    remedy: 'fix_request',
  },
  invalid_auth_capture_evm_lifecycle_not_relayed: {
    message: 'This facilitator relays captures, voids and refunds of payments with a receiverAuthorizer only',
    remedy: 'fix_request',
  },
  invalid_auth_capture_evm_operator_mismatch: {
    message: 'The operator of the payment is not extra.captureAuthorizer',
    remedy: 'fix_request',
  },
  invalid_auth_capture_evm_insufficient_balance: {
    message: "The payer's balance is lower than the amount",
    operationalCode: 'SVC-3003',
    remedy: 'fund_payer',
  },
  invalid_auth_capture_evm_payment_already_collected: {
    message: 'The escrow has collected this payment before',
    operationalCode: 'SVC-3002',
    remedy: 'new_payment',
  },
  invalid_auth_capture_evm_token_collection_failed: {
    message: 'The escrow did not receive the exact amount, as with tokens that take a fee',
    remedy: 'fix_request',
  },
  invalid_auth_capture_evm_collector: {
    message: 'The escrow does not accept the token collector for this operation',
    remedy: 'fix_request',
  },
  invalid_auth_capture_evm_unexpected_payment_state: {
    message: 'The payment is not in the state that the request expects',
    remedy: 'fix_request',
  },
  invalid_auth_capture_evm_insufficient_authorization: {
    message: 'The amount to capture exceeds what is held',
    remedy: 'fix_request',
  },
  invalid_auth_capture_evm_zero_authorization: {
    message: 'The escrow holds nothing of the payment',
    remedy: 'fix_request',
  },
  invalid_auth_capture_evm_refund_exceeds_capture: {
    message: 'The refund exceeds what was captured and not refunded',
    remedy: 'fix_request',
  },
  invalid_auth_capture_evm_refund_deadline_expired: {
    message: 'The refund deadline has passed, or would before the transaction is mined',
    operationalCode: 'SVC-1011',
    remedy: 'fix_request',
  },
  invalid_auth_capture_evm_refund_funding_unavailable: {
    message: 'This facilitator does not fund refunds of this receiver',
    remedy: 'retry_later',
  },
  invalid_auth_capture_evm_simulation_failed: {
    message: 'The call of the escrow fails when it is simulated',
    operationalCode: 'SVC-3002',
    remedy: 'retry_later',
  },
  invalid_auth_capture_evm_transaction_reverted: {
    message: 'The transaction was mined, but the call of the escrow failed',
    operationalCode: 'SVC-3002',
    remedy: 'retry_later',
    isFailedOnChain: true,
  },
} as const satisfies Readonly<Record<string, ReasonEntry>>
