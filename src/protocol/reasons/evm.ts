import type { ReasonEntry } from './reasonEntry.js'

export const evmReasons = {
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
    isFinalOnceSent: true,
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
    isFailedOnChain: true,
  },
  invalid_permit2_spender: {
    message: "The spender of the Permit2 authorization is not x402's proxy for the scheme",
    remedy: 'new_payment',
  },
  invalid_permit2_recipient_mismatch: {
    message: 'The recipient of the Permit2 authorization is not payTo',
    remedy: 'new_payment',
  },
  invalid_permit2_signature: {
    message: "The signature is not the payer's for this Permit2 authorization",
    operationalCode: 'SVC-1006',
    remedy: 'new_payment',
  },
  permit2_token_mismatch: {
    message: 'The token of the Permit2 authorization is not the required asset',
    remedy: 'new_payment',
  },
  permit2_amount_mismatch: {
    message: 'The amount of the Permit2 authorization is not exactly the required amount',
    remedy: 'new_payment',
  },
  permit2_deadline_expired: {
    message: 'The Permit2 authorization has expired, or would before it could be settled',
    operationalCode: 'SVC-1011',
    remedy: 'new_payment',
  },
  permit2_not_yet_valid: {
    message: 'The Permit2 authorization is not valid yet',
    remedy: 'retry_later',
  },
  permit2_invalid_nonce: {
    message: 'The nonce of the Permit2 authorization was used or invalidated on chain',
    operationalCode: 'SVC-3002',
    remedy: 'new_payment',
  },
  permit2_allowance_required: {
    message: 'The payer must approve Permit2 for the token first, by at least the amount',
    remedy: 'retry_later',
  },
  permit2_simulation_failed: {
    message: 'The transfer by Permit2 fails when it is simulated',
    operationalCode: 'SVC-3002',
    remedy: 'retry_later',
  },
  permit_not_supported: {
    message: 'The token has no permit (EIP-2612)',
    remedy: 'fix_request',
  },
  permit_dai_not_supported: {
    message: "The token has only DAI's form of permit, which cannot authorize an amount",
    remedy: 'fix_request',
  },
  permit_nonce_mismatch: {
    message: "The nonce of the permit is not the payer's current permit nonce of the token",
    remedy: 'new_payment',
  },
  invalid_permit_spender: {
    message: 'The spender of the permit is not the router of this facilitator for payTo',
    remedy: 'new_payment',
  },
  invalid_permit_signature: {
    message: "The signature is not the payer's for this permit",
    operationalCode: 'SVC-1006',
    remedy: 'new_payment',
  },
  permit_expired: {
    message: 'The permit has expired, or would before it could be settled',
    operationalCode: 'SVC-1011',
    remedy: 'new_payment',
  },
  permit_amount_mismatch: {
    message: 'The value of the permit is lower than maxAmount',
    remedy: 'new_payment',
  },
  permit_allowance_changed: {
    message:
      'The nonce of the permit was used outside this facilitator, and the allowance is not what it permits',
    remedy: 'new_payment',
  },
  permit_simulation_failed: {
    message: 'The settlement by permit fails when it is simulated',
    operationalCode: 'SVC-3002',
    remedy: 'retry_later',
  },
  invalid_upto_evm_transaction_failed: {
    message: 'The transaction was mined but the settlement failed',
    operationalCode: 'SVC-3002',
    remedy: 'retry_later',
    isFailedOnChain: true,
  },
  upto_facilitator_mismatch: {
    message: 'The facilitator of the Permit2 authorization is not this one',
    remedy: 'new_payment',
  },
  invalid_upto_evm_payload_settlement_exceeds_amount: {
    message: 'The amount to settle exceeds the permitted amount of the Permit2 authorization',
    remedy: 'fix_request',
  },
  permit2_2612_amount_mismatch: {
    message:
      'The amount of the EIP-2612 permit is not exactly the permitted amount of the Permit2 authorization',
    remedy: 'new_payment',
  },
  invalid_eip2612_extension_format: {
    message: 'The extension eip2612GasSponsoring of the payment is malformed',
    remedy: 'fix_request',
  },
  eip2612_from_mismatch: {
    message: 'The owner of the EIP-2612 permit is not the payer',
    remedy: 'new_payment',
  },
  eip2612_asset_mismatch: {
    message: 'The token of the EIP-2612 permit is not the required asset',
    remedy: 'new_payment',
  },
  eip2612_spender_not_permit2: {
    message: 'The spender of the EIP-2612 permit is not Permit2',
    remedy: 'new_payment',
  },
  eip2612_deadline_expired: {
    message: 'The EIP-2612 permit has expired, or would before the payment could be settled',
    operationalCode: 'SVC-1011',
    remedy: 'new_payment',
  },
  erc20_approval_not_sponsored: {
    message:
      'This facilitator sends no coin for an approval: no node sends approval and payment as one bundle, and the payer could spend the coin',
    remedy: 'retry_later',
  },
  router_not_deployed: {
    message: 'The router contract is not deployed on this network yet',
    remedy: 'retry_later',
  },
} as const satisfies Readonly<Record<string, ReasonEntry>>
