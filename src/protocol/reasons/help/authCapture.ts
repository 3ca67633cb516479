import type { HelpTable } from '../reasonEntry.js'

export const authCaptureHelp = {
  invalid_auth_capture_evm_payload_format: [
    'The payload is no payment, capture, void or refund of auth-capture.',
    'Send the payload as the client made it; the message names the field.',
  ],
  invalid_auth_capture_evm_extra: [
    'What extra of the requirements states lacks a term of auth-capture, or contradicts the payment.',
    'Complete paymentRequirements.extra; the message names the field.',
  ],
  invalid_auth_capture_evm_unsupported_payment_flow: [
    'extra.paymentFlow is neither escrow nor authorization.',
    'Set extra.paymentFlow to escrow or to authorization.',
  ],
  invalid_auth_capture_evm_missing_receiver_authorizer: [
    'extra.receiverAuthorizer is required: without it the payment could never be captured.',
    "Set extra.receiverAuthorizer to the address of the receiver's key that signs captures.",
  ],
  invalid_auth_capture_evm_receiver_authorizer_mismatch: [
    'extra.receiverAuthorizer is a key of this facilitator, which does not sign for this caller.',
    'Settle the hold with the API key of the account that captures it; the message says what stands against it.',
  ],
  invalid_auth_capture_evm_unsupported_asset_transfer_method: [
    'extra.assetTransferMethod is neither eip3009 nor permit2.',
    'Set extra.assetTransferMethod to eip3009 or to permit2.',
  ],
  invalid_auth_capture_evm_unsupported_operator_type: [
    'extra.operatorType is not delegated: this facilitator operates payments by its own accounts only.',
    'Set extra.operatorType to delegated, or leave it out.',
  ],
  invalid_auth_capture_evm_policy: [
    'extra.policy names a contract: this facilitator enforces no policies.',
    'Leave extra.policy out.',
  ],
  invalid_auth_capture_evm_operator_not_admitted: [
    'extra.captureAuthorizer is no account of this facilitator.',
    'Copy extra.captureAuthorizer from GET /supported.',
  ],
  invalid_auth_capture_evm_payload_method_mismatch: [
    'The payload is not of the transfer method that the requirements ask for.',
    'Ask the payer for a new payment by the method of extra.assetTransferMethod.',
  ],
  invalid_auth_capture_evm_capture_deadline_expired: [
    'The capture deadline has passed, or would before the transaction is mined.',
    'Ask the payer for a new payment with a later extra.captureDeadline; capture well before it.',
  ],
  invalid_auth_capture_evm_deadline_ordering: [
    'The deadlines are not in order: authorization, capture, refund.',
    'Set extra.captureDeadline after the end of the authorization, and extra.refundDeadline not before it.',
  ],
  invalid_auth_capture_evm_authorization_expired: [
    'The authorization of the hold has expired, or would before it could be collected.',
    'Ask the payer for a new payment.',
  ],
  invalid_auth_capture_evm_authorization_not_yet_valid: [
    'The authorization of the hold is not valid yet.',
    'Ask the payer for a new payment with validAfter 0.',
  ],
  invalid_auth_capture_evm_token_collector_mismatch: [
    'The payer authorizes another contract than the token collector of the escrow.',
    'Ask the payer for a new payment to the token collector of the escrow.',
  ],
  invalid_auth_capture_evm_token_mismatch: [
    'The payer authorizes another token than the required asset.',
    'Ask the payer for a new payment in the required asset.',
  ],
  invalid_auth_capture_evm_signature: [
    "The signature is not the payer's for this payment.",
    "Check the token's EIP-712 domain in extra.name and extra.version; a signature with a high s is refused.",
  ],
  invalid_auth_capture_evm_erc6492_factory_not_allowed: [
    "The payer's wallet is not deployed, and its factory is not on the allow-list.",
    'Let the payer deploy its wallet first, or ask the operator to allow the factory.',
  ],
  invalid_auth_capture_evm_amount_mismatch: [
    'The amount is not what the payment allows.',
    'Ask for exactly what the payer signed; charge or capture at least 1 and at most that, or what is held.',
  ],
  invalid_auth_capture_evm_amount_overflow: [
    'The amount exceeds what the escrow can count.',
    'Ask for an amount below 2^120.',
  ],
  invalid_auth_capture_evm_fee: [
    'The fee or its receiver is not within the terms of the payment.',
    'State a fee between minFeeBps and maxFeeBps, and the receiver that the payment names.',
  ],
  invalid_auth_capture_evm_fee_bps: [
    'The fee exceeds 10,000 basis points.',
    'Keep fees at or below 10,000 basis points.',
  ],
  invalid_auth_capture_evm_fee_bps_range: [
    'The lowest fee of the payment exceeds its highest.',
    'Set extra.minFeeBps to at most extra.maxFeeBps.',
  ],
  invalid_auth_capture_evm_fee_bps_out_of_range: [
    'The fee is outside minFeeBps and maxFeeBps.',
    'Keep the fee between extra.minFeeBps and extra.maxFeeBps, and both at or below 10,000.',
  ],
  invalid_auth_capture_evm_fee_receiver: [
    'The receiver of the fee is not extra.feeRecipient.',
    'Set feeReceiver to extra.feeRecipient.',
  ],
  invalid_auth_capture_evm_zero_fee_receiver: [
    'The fee has no receiver.',
    'Name a feeReceiver, or state a fee of 0.',
  ],
  invalid_auth_capture_evm_salt_binding_mismatch: [
    'The salt of the payment does not bind this receiverAuthorizer.',
    'Send the saltNonce of the payment, and the receiverAuthorizer that the payer signed for.',
  ],
  invalid_auth_capture_evm_nonce_mismatch: [
    'The nonce that the payer signed is not the hash of these terms.',
    'Settle by the requirements that the payer signed for, unchanged.',
  ],
  invalid_auth_capture_evm_authorizer_signature: [
    'The signature of the receiverAuthorizer is missing, or not for this request.',
    "Sign the request by the receiverAuthorizer's key, in the domain of the captureAuthorizer.",
  ],
  invalid_auth_capture_evm_void_authorizer_signature: [
    'The void signature of the receiverAuthorizer is not for this payment.',
    'Sign the void of this payment, or leave voidAuthorizerSignature out.',
  ],
  invalid_auth_capture_evm_void_remainder_full_capture: [
    'This capture leaves nothing to be voided.',
    'Leave voidAuthorizerSignature out.',
  ],
  invalid_auth_capture_evm_void_remainder_not_offered: [
    'This facilitator does not void the rest with a capture: send the void as a request of its own.',
    'Send the capture without voidAuthorizerSignature, then a request of type void.',
  ],
  invalid_auth_capture_evm_lifecycle_not_relayed: [
    'This facilitator relays captures, voids and refunds of payments with a receiverAuthorizer only.',
    'Name the receiverAuthorizer that the payer signed for in extra.',
  ],
  invalid_auth_capture_evm_operator_mismatch: [
    'The operator of the payment is not extra.captureAuthorizer.',
    'Set extra.captureAuthorizer to the operator of the payment.',
  ],
  invalid_auth_capture_evm_insufficient_balance: [
    "The payer's balance is lower than the amount.",
    'Ask the payer to fund the account, then send the same request again.',
  ],
  invalid_auth_capture_evm_payment_already_collected: [
    'The escrow has collected this payment before.',
    'Look the payment up by its transaction; do not collect it again.',
  ],
  invalid_auth_capture_evm_token_collection_failed: [
    'The escrow did not receive the exact amount, as with tokens that take a fee.',
    'Use a token that credits what is transferred.',
  ],
  invalid_auth_capture_evm_collector: [
    'The escrow does not accept the token collector for this operation.',
    'Use the collectors of the published escrow.',
  ],
  invalid_auth_capture_evm_unexpected_payment_state: [
    'The payment is not in the state that the request expects.',
    'Read paymentState of the escrow, and sign a new request for what is held and refundable now.',
  ],
  invalid_auth_capture_evm_insufficient_authorization: [
    'The amount to capture exceeds what is held.',
    'Capture at most what is held.',
  ],
  invalid_auth_capture_evm_zero_authorization: [
    'The escrow holds nothing of the payment.',
    'Nothing is left to void: it was captured, voided or reclaimed.',
  ],
  invalid_auth_capture_evm_refund_exceeds_capture: [
    'The refund exceeds what was captured and not refunded.',
    'Refund at most what was captured and not refunded.',
  ],
  invalid_auth_capture_evm_refund_deadline_expired: [
    'The refund deadline has passed, or would before the transaction is mined.',
    'Return the money outside the escrow.',
  ],
  invalid_auth_capture_evm_refund_funding_unavailable: [
    'This facilitator does not fund refunds of this receiver.',
    'Ask the operator to list the receiver and its authorizer in EVM_REFUND_RECEIVERS and to fund refunds, or return the money outside the escrow.',
  ],
  invalid_auth_capture_evm_simulation_failed: [
    'The call of the escrow fails when it is simulated.',
    'Read the message, which quotes the revert. With Permit2 the payer must have approved Permit2 for the token.',
  ],
  invalid_auth_capture_evm_transaction_reverted: [
    'The transaction was mined, but the call of the escrow failed.',
    'Read paymentState of the escrow, then send a new request.',
  ],
} as const satisfies HelpTable
