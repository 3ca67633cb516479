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
