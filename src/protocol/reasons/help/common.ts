import type { HelpTable } from '../reasonEntry.js'

export const commonHelp = {
  invalid_payload_structure: [
    'The payment payload lacks a field or has a malformed one; the message names it.',
    'Correct the field that the message names.',
  ],
  unsupported_scheme: [
    'The scheme is not offered, or payload and requirements name different schemes.',
    'Use a scheme that GET /supported lists for the network, in the same spelling in payload and requirements.',
  ],
  network_mismatch: [
    'Payload and requirements name different networks.',
    'Let the client sign for the network of the requirements; send the requirements that it was offered.',
  ],
  invalid_exact_evm_payload_signature: [
    "The signature is not the payer's for this authorization.",
    "Sign the EIP-712 hash of exactly these fields with the payer's key, in the token's own domain and with this chain id.",
  ],
  invalid_exact_evm_payload_recipient_mismatch: [
    'authorization.to is not payTo.',
    'Let the client sign an authorization to payTo of the requirements.',
  ],
  invalid_exact_evm_payload_authorization_valid_before: [
    'The authorization expired, or would before it could settle.',
    'Let the client sign again, with validBefore at least maxTimeoutSeconds ahead; check its clock.',
  ],
  invalid_exact_evm_payload_authorization_valid_after: [
    'The authorization is not valid yet.',
    "Send the same request once validAfter has passed; check the client's clock, or sign with validAfter 0.",
  ],
  insufficient_funds: [
    "The payer's token balance is below the payment. Scheme upto: or other authorizations that are not settled yet hold too much of the balance or the allowance; the message says how much.",
    'Fund the payer with the token on this network, then send the same request again.',
  ],
  invalid_exact_evm_payload_authorization_value: [
    'authorization.value is 0 or below the required amount.',
    'Let the client sign for at least the required amount, in smallest units.',
  ],
  invalid_network: [
    'The network is not configured on this instance.',
    'Use a network that GET /supported lists, or ask the operator to enable this one.',
  ],
  invalid_x402_version: [
    'The protocol version is not 1 or 2, or its fields disagree.',
    'Send x402Version 1 or 2, the same in the request and in the payload.',
  ],
  accepted_requirements_mismatch: [
    'accepted differs from the requirements; the message names the field.',
    'Send to /verify and /settle the requirements that the client was offered, without any change.',
  ],
  unsupported_asset: [
    'The token is not accepted on this network.',
    'Require a token that POST /accepts returns for the network, by its full address.',
  ],
  self_payment: [
    'Payer and recipient are the same address.',
    "Set payTo to the recipient's address; the payer cannot pay itself.",
  ],
  asset_not_deployed_contract: [
    'No token contract exists at the address.',
    'Check that the address is that of the token on this network, and not on another one.',
  ],
  invalid_extension: [
    'The payload has a malformed extension that this facilitator knows; the message names the field.',
    'Let the client send the extension as its specification says; the message names the field.',
  ],
  payment_identifier_required: [
    'The resource server requires a payment identifier, and the client sent none.',
    'Let the client send a payment identifier, as the requirements declare it.',
  ],
  unsupported_payload_type: [
    'This form of authorization is not supported.',
    'Let the client use a form of authorization that GET /supported names.',
  ],
  invalid_sender_address: [
    'The payer named by the payload is not an address of the network.',
    "Write the payer in the form of the network's addresses.",
  ],
  unsupported_asset_transfer_method: [
    'The payload, or extra.assetTransferMethod, is of a transfer method that this facilitator does not settle on the network, such as ERC-7710, or Permit2 where the chain lacks it; the message names it.',
    'Require a transfer method that GET /supported lists in extra.assetTransferMethods.',
  ],
  payer_mismatch: [
    'The payment is not of the payer that the intent names.',
    'Let the payer that the intent names sign the payment, or create an intent for the other payer.',
  ],
  invalid_payment_amount: ['The required amount is 0.', 'Ask for at least one smallest unit.'],
  payment_below_minimum: [
    'The payment is lower than the minimum, which the message names.',
    'Ask for a higher amount, or retry once gas is cheaper.',
  ],
  cross_check_unavailable: [
    "From the network's …_CROSS_CHECK_AMOUNT on, two nodes must confirm a payment, and this facilitator has one on the network; nothing was sent. On Polkadot also below that amount, where the payer's signature does not show the transfer. See REQUIRE_CROSS_CHECK.",
    'Ask for less than the amount from which two nodes must confirm, or ask the operator to configure a second node.',
  ],
  settle_amount_required: [
    'Scheme upto: settleAmount is missing.',
    'Send settleAmount: what is to be transferred, or 0.',
  ],
  settle_amount_above_maximum: [
    'Scheme upto: settleAmount exceeds maxAmount, or what the payer authorized.',
    'Charge at most what the payer authorized.',
  ],
  settle_amount_below_minimum: [
    'Scheme upto: settleAmount is lower than minAmount and not 0.',
    'Charge at least minAmount, or 0.',
  ],
  duplicate_settlement: [
    'The authorization already paid for another request, or is held for another caller. /verify answers it on every network for what was settled here.',
    'Do not deliver for this request. Ask the client for a new payment with a new nonce.',
  ],
  settlement_pending: [
    'A transaction was sent and its outcome is not proven yet.',
    'Send the same request again, or poll GET /v1/settlements/{id}.',
  ],
  settlement_abandoned: [
    'The settlement ended before anything was sent. The payment can be settled again.',
    'Send the same request again.',
  ],
  settlement_displaced: [
    'Another transaction used the nonce of this one. The payment can be settled again.',
    'Send the same request again.',
  ],
  authorization_expired_unsettled: [
    'The authorization expired on chain without having been executed.',
    'Ask the payer for a new payment, with more time until it expires.',
  ],
  asset_mismatch: ['The transfer moves another token.', 'Let the payer transfer the required asset.'],
  recipient_mismatch: [
    'The transfer pays another address than payTo.',
    'Let the payer transfer to payTo of the requirements.',
  ],
  amount_mismatch: [
    'The payment is of more than the required amount, and this facilitator takes exactly that (EXACT_AMOUNT=equal); under exact-direct, of more than the unique amount.',
    'Let the client pay exactly the required amount.',
  ],
  insufficient_amount: [
    'The transferred amount, less what the recipient sent back in the same transaction, is below the required amount.',
    'Let the payer transfer the required amount.',
  ],
  authorization_expired: [
    'The signed transfer expired, or would before it could settle.',
    "Let the payer sign again, with more time until it expires; check the client's clock.",
  ],
  transaction_failed: [
    'The transaction was executed and the recipient was not credited.',
    'Ask the payer for a new payment.',
  ],
  recipient_not_sponsored: [
    'The payment needs fees of the facilitator, which it pays without an API key only to recipients that its operator lists or that have settled before.',
    'Send the request with an API key, or let the payer pay its own fees.',
  ],
  payer_not_sponsored: [
    'More payments of this payer failed on the network within a day, at the cost of the facilitator, than were made. Until the day is over the payer pays its own fees.',
    'Let the payer pay its own fees, or pay from another account.',
  ],
} as const satisfies HelpTable
