import type { ReasonEntry } from './reasonEntry.js'

/** The specification's own reasons of `exact`, in its order. */
export const specificationReasons = {
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
} as const satisfies Readonly<Record<string, ReasonEntry>>

export const commonReasons = {
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
  invalid_extension: {
    message: 'What the payment says of a protocol extension is malformed',
    remedy: 'new_payment',
  },
  payment_identifier_required: {
    message: 'The resource server requires a payment identifier, and the payment has none',
    remedy: 'new_payment',
  },
  unsupported_payload_type: {
    message: 'This facilitator does not settle this form of authorization',
    remedy: 'fix_request',
  },
  invalid_sender_address: { message: 'The payer is not an address of this network', remedy: 'fix_request' },
  unsupported_asset_transfer_method: {
    message: 'This facilitator does not settle this asset transfer method under the scheme exact',
    remedy: 'fix_request',
  },
  payer_mismatch: { message: 'The payment is not of the payer that was named', remedy: 'new_payment' },
  invalid_payment_amount: { message: 'The amount must be at least one smallest unit', remedy: 'fix_request' },
  // Retryable: the minimum follows the price of gas.
  payment_below_minimum: {
    message: 'The payment is lower than the minimum of this facilitator on the network',
    remedy: 'retry_later',
  },
  cross_check_unavailable: {
    message: 'The network has one node, and two must confirm the payment',
    remedy: 'retry_later',
  },
  settle_amount_required: {
    message: 'The scheme upto needs settleAmount to settle this payment',
    remedy: 'fix_request',
  },
  settle_amount_above_maximum: {
    message: 'The amount to settle exceeds the authorized maximum',
    remedy: 'fix_request',
  },
  settle_amount_below_minimum: {
    message: 'The amount to settle is lower than minAmount and not 0',
    remedy: 'fix_request',
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
  asset_mismatch: {
    message: 'The asset of the transfer differs from the required asset',
    remedy: 'new_payment',
  },
  recipient_mismatch: { message: 'The recipient of the transfer is not payTo', remedy: 'new_payment' },
  amount_mismatch: {
    message: 'The payment is of more than the amount, and must be of exactly it',
    remedy: 'new_payment',
  },
  insufficient_amount: { message: 'The transferred amount is lower than the amount', remedy: 'new_payment' },
  authorization_expired: {
    message: 'The signed transfer has expired, or would before it could be settled',
    operationalCode: 'SVC-1011',
    remedy: 'new_payment',
  },
  transaction_failed: {
    message: 'The transaction was executed on chain and the recipient was not credited',
    operationalCode: 'SVC-3002',
    remedy: 'new_payment',
    isFailedOnChain: true,
  },
  recipient_not_sponsored: {
    message: 'This facilitator does not pay the fees of payments to this recipient without an API key',
    remedy: 'fix_request',
  },
  payer_not_sponsored: {
    message: 'This facilitator does not pay the fees of this payer for a day after a payment of it failed',
    remedy: 'new_payment',
  },
} as const satisfies Readonly<Record<string, ReasonEntry>>
