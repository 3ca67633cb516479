import type { HelpTable } from '../reasonEntry.js'

export const evmHelp = {
  invalid_exact_evm_nonce_already_used: [
    'The authorization was used or cancelled on chain.',
    'Ask the payer for a new payment with a new random nonce.',
  ],
  invalid_exact_evm_token_name_mismatch: [
    "extra.name is not the name of the token's EIP-712 domain.",
    "Set extra.name to the name of the token's EIP-712 domain, which POST /accepts returns.",
  ],
  invalid_exact_evm_token_version_mismatch: [
    "extra.version is not the version of the token's EIP-712 domain.",
    "Set extra.version to the version of the token's EIP-712 domain, which POST /accepts returns.",
  ],
  invalid_exact_evm_missing_eip712_domain: [
    'The token does not publish its EIP-712 domain: extra.name and extra.version are required.',
    "Set extra.name and extra.version to those of the token's EIP-712 domain.",
  ],
  invalid_exact_evm_eip3009_not_supported: [
    'The token has no transferWithAuthorization (EIP-3009).',
    'Require Permit2 for this token (extra.assetTransferMethod "permit2"), or another token.',
  ],
  invalid_exact_evm_payload_undeployed_smart_wallet: [
    "The payer's smart wallet is not deployed, and deployments are disabled.",
    'Let the payer deploy its wallet, for example by any transaction from it, then send the same request again.',
  ],
  eip6492_factory_not_allowed: [
    "The wallet's factory is not in EVM_SMART_WALLET_FACTORIES.",
    'Let the payer deploy its wallet first, or ask the operator to allow the factory.',
  ],
  smart_wallet_deployment_failed: [
    "The payer's smart wallet cannot be deployed as described.",
    'Let the payer deploy its wallet first, then send the same request again.',
  ],
  token_paused: ['The token is paused.', 'Wait until the issuer resumes the token, or pay in another one.'],
  account_blocked: [
    'The token blocks the payer or the recipient.',
    "Pay from or to another account; the token's issuer blocks this one.",
  ],
  invalid_exact_evm_transfer_event_mismatch: [
    'The token does not credit the recipient with exactly the value.',
    'Use a token that credits what is transferred; tokens with a fee on transfer are not settled.',
  ],
  gas_limit_exceeded: [
    'The transfer needs more gas than one settlement may use.',
    'Let the payer use a simpler wallet, or ask the operator to raise the limit.',
  ],
  invalid_exact_evm_transaction_simulation_failed: [
    'The transfer fails in simulation; the message quotes the revert.',
    'Read the revert that the message quotes, and send the same request once its cause is gone.',
  ],
  invalid_exact_evm_transaction_failed: [
    'The transaction was mined and the transfer failed.',
    'Send the same request again, if the authorization is still valid.',
  ],
  invalid_permit2_spender: [
    "permit2Authorization.spender is not x402's proxy for the scheme.",
    "Let the client name x402's proxy for the scheme as spender.",
  ],
  invalid_permit2_recipient_mismatch: [
    'permit2Authorization.witness.to is not payTo.',
    'Let the client sign a witness whose recipient is payTo of the requirements.',
  ],
  invalid_permit2_signature: [
    "The signature is not the payer's for this Permit2 authorization.",
    "Sign the Permit2 hash of exactly these fields with the payer's key and this chain id.",
  ],
  permit2_token_mismatch: [
    'permitted.token is not the required asset.',
    'Let the client permit the token that the requirements name.',
  ],
  permit2_amount_mismatch: [
    'permitted.amount is not exactly the required amount.',
    'Let the client permit exactly the required amount.',
  ],
  permit2_deadline_expired: [
    'The Permit2 authorization expired, or would before it could settle.',
    'Let the client sign again, with a deadline at least maxTimeoutSeconds ahead; check its clock.',
  ],
  permit2_not_yet_valid: [
    'The Permit2 authorization is not valid yet.',
    "Send the same request once validAfter has passed; check the client's clock.",
  ],
  permit2_invalid_nonce: [
    'The nonce of the Permit2 authorization was used or invalidated on chain.',
    'Ask the payer for a new payment with an unused Permit2 nonce.',
  ],
  permit2_allowance_required: [
    'The payer has not approved Permit2 for the token, or for less than the amount.',
    'Let the payer call approve(0x000000000022D473030F116dDEE9F6B43aC78BA3, amount) on the token, then send the same request again.',
  ],
  permit2_simulation_failed: [
    "The transfer by Permit2 fails in simulation, for example because the token is paused or blocks an account: Permit2 hides the token's reason.",
    'Check that the token is not paused and blocks neither account, then send the same request again.',
  ],
  permit_not_supported: [
    'Scheme upto: the token has no permit (EIP-2612).',
    'Require Permit2 (extra.assetTransferMethod "permit2"), or the scheme exact.',
  ],
  permit_dai_not_supported: [
    "Scheme upto: the token has only DAI's form of permit, which cannot authorize an amount.",
    'Require Permit2 (extra.assetTransferMethod "permit2"), or the scheme exact.',
  ],
  permit_nonce_mismatch: [
    "authorization.nonce is not the payer's current permit nonce of the token.",
    'Let the client read nonces(payer) of the token, and sign with that nonce.',
  ],
  invalid_permit_spender: [
    'authorization.spender is not a router of this facilitator for payTo.',
    'Let the client name the router of payTo as spender: GET /v1/router names it.',
  ],
  invalid_permit_signature: [
    "The signature is not the payer's for this permit.",
    "Sign the EIP-712 hash of exactly these fields with the payer's key, in the token's own domain and with this chain id.",
  ],
  permit_expired: [
    'The permit expired, or would before it could settle.',
    'Let the client sign again, with a deadline at least maxTimeoutSeconds ahead; check its clock.',
  ],
  permit_amount_mismatch: [
    'authorization.value is lower than maxAmount.',
    'Let the client permit at least maxAmount.',
  ],
  permit_allowance_changed: [
    'The nonce of the permit was used outside this facilitator, and the allowance is not what the permit permits: the payer cancelled it, or changed the allowance.',
    'Ask the payer for a new permit with its current nonce.',
  ],
  permit_simulation_failed: [
    'The settlement by permit fails in simulation; the message says why.',
    'Read the cause in the message, and send the same request once it is gone.',
  ],
  invalid_upto_evm_transaction_failed: [
    'The transaction was mined but the settlement failed.',
    'Send the same request again, if the authorization is still valid.',
  ],
  upto_facilitator_mismatch: [
    'witness.facilitator of the Permit2 authorization is not this facilitator.',
    'Let the client name extra.facilitatorAddress of GET /supported as facilitator.',
  ],
  invalid_upto_evm_payload_settlement_exceeds_amount: [
    'Permit2 under upto: the amount to settle exceeds permitted.amount.',
    'Charge at most what the payer permitted.',
  ],
  permit2_2612_amount_mismatch: [
    'amount of eip2612GasSponsoring is not exactly permitted.amount: the proxy requires it.',
    'Let the client sign the EIP-2612 permit for exactly the permitted amount.',
  ],
  invalid_eip2612_extension_format: [
    'A field of the extension eip2612GasSponsoring is malformed; signature must have 65 bytes.',
    'Send every field of eip2612GasSponsoring as its specification says; signature has 65 bytes.',
  ],
  eip2612_from_mismatch: [
    'The owner of the EIP-2612 permit is not the payer.',
    'Let the payer itself sign the EIP-2612 permit.',
  ],
  eip2612_asset_mismatch: [
    'The token of the EIP-2612 permit is not the required asset.',
    'Let the payer sign the EIP-2612 permit for the required asset.',
  ],
  eip2612_spender_not_permit2: [
    'The spender of the EIP-2612 permit is not Permit2.',
    'Let the payer sign the EIP-2612 permit for Permit2, 0x000000000022D473030F116dDEE9F6B43aC78BA3.',
  ],
  eip2612_deadline_expired: [
    'The EIP-2612 permit expired, or would before the payment could settle.',
    'Let the payer sign the EIP-2612 permit again, with a later deadline.',
  ],
  erc20_approval_not_sponsored: [
    "Permit2's allowance is missing, and the payment has only erc20ApprovalGasSponsoring. No node sends an approval and a payment as one bundle, and the payer could spend the coin that would be sent for the approval.",
    'Let the payer approve Permit2 itself, then send the same request again.',
  ],
  router_not_deployed: [
    'The router contract is not deployed on this network yet.',
    'Ask the operator to deploy the router, or require Permit2.',
  ],
} as const satisfies HelpTable
