import type { ReasonEntry } from './reasonEntry.js'

/** Of `batch-settlement` on EVM. */
export const channelReasons = {
  invalid_batch_settlement_evm_payload_type: {
    message: 'The payload is of a type that this endpoint does not take, or of none',
    remedy: 'fix_request',
  },
  invalid_batch_settlement_evm_deposit_payload: {
    message: 'The deposit of the payload is malformed',
    remedy: 'fix_request',
  },
  invalid_batch_settlement_evm_voucher_payload: {
    message: 'The voucher of the payload is malformed',
    remedy: 'fix_request',
  },
  invalid_batch_settlement_evm_refund_payload: {
    message: 'The refund of the payload is malformed, or lacks what the server adds before it is settled',
    remedy: 'fix_request',
  },
  invalid_batch_settlement_evm_claim_payload: {
    message: 'The claim of the payload is malformed, or has too many rows',
    remedy: 'fix_request',
  },
  invalid_batch_settlement_evm_settle_payload: {
    message: 'The sweep of the payload is malformed',
    remedy: 'fix_request',
  },
  invalid_batch_settlement_evm_channel_id_mismatch: {
    message: 'The channel id is not the hash of the channel on this network',
    remedy: 'new_payment',
  },
  invalid_batch_settlement_evm_receiver_mismatch: {
    message: 'The receiver of the channel is not payTo of the requirements',
    remedy: 'fix_request',
  },
  invalid_batch_settlement_evm_receiver_authorizer_mismatch: {
    message:
      'The receiverAuthorizer of the channel is not the one of the requirements, or does not sign for this caller',
    remedy: 'fix_request',
  },
  invalid_batch_settlement_evm_token_mismatch: {
    message: 'The token of the channel, or of the authorization, is not the required asset',
    remedy: 'new_payment',
  },
  invalid_batch_settlement_evm_withdraw_delay_mismatch: {
    message: 'The withdrawDelay of the channel is not extra.withdrawDelay',
    remedy: 'new_payment',
  },
  invalid_batch_settlement_evm_withdraw_delay_out_of_range: {
    message: 'The withdrawDelay of the channel is not between 900 and 2592000 seconds',
    remedy: 'fix_request',
  },
  invalid_batch_settlement_evm_erc3009_authorization_required: {
    message: 'The deposit carries no ERC-3009 authorization, which the requirements ask for',
    remedy: 'new_payment',
  },
  invalid_batch_settlement_evm_permit2_authorization_required: {
    message: 'The deposit carries no Permit2 authorization, which the requirements ask for',
    remedy: 'new_payment',
  },
  invalid_batch_settlement_evm_missing_eip712_domain: {
    message: "The requirements lack the token's EIP-712 domain",
    remedy: 'fix_request',
  },
  invalid_batch_settlement_evm_payload_authorization_valid_before: {
    message: 'The authorization of the deposit has expired, or would before it could be settled',
    operationalCode: 'SVC-1011',
    remedy: 'new_payment',
  },
  invalid_batch_settlement_evm_payload_authorization_valid_after: {
    message: 'The authorization of the deposit is not valid yet',
    remedy: 'new_payment',
  },
  invalid_batch_settlement_evm_eip6492_factory_not_allowed: {
    message: "The wallet of the payer is not deployed, and its factory is not on this facilitator's list",
    remedy: 'fix_request',
  },
  invalid_batch_settlement_evm_receive_authorization_signature: {
    message: "The signature of the deposit is not the payer's for this channel",
    operationalCode: 'SVC-1006',
    remedy: 'new_payment',
  },
  invalid_batch_settlement_evm_permit2_invalid_signature: {
    message: "The Permit2 signature of the deposit is not the payer's for this channel",
    operationalCode: 'SVC-1006',
    remedy: 'new_payment',
  },
  invalid_batch_settlement_evm_permit2_invalid_spender: {
    message: "The spender of the permit is not x402's deposit collector",
    remedy: 'new_payment',
  },
  invalid_batch_settlement_evm_permit2_amount_mismatch: {
    message: 'The permitted amount is not the amount of the deposit',
    remedy: 'new_payment',
  },
  invalid_batch_settlement_evm_permit2_deadline_expired: {
    message: 'The permit of the deposit has expired, or would before it could be settled',
    operationalCode: 'SVC-1011',
    remedy: 'new_payment',
  },
  invalid_batch_settlement_evm_permit2_allowance_required: {
    message: 'The payer has not approved Permit2 for the token',
    remedy: 'fund_payer',
  },
  invalid_batch_settlement_evm_eip2612_invalid_format: {
    message: 'The EIP-2612 permit that comes with the deposit is malformed',
    remedy: 'new_payment',
  },
  invalid_batch_settlement_evm_eip2612_invalid_signature: {
    message: "The EIP-2612 permit that comes with the deposit is not the payer's",
    operationalCode: 'SVC-1006',
    remedy: 'new_payment',
  },
  invalid_batch_settlement_evm_eip2612_owner_mismatch: {
    message: 'The owner of the EIP-2612 permit is not the payer of the channel',
    remedy: 'new_payment',
  },
  invalid_batch_settlement_evm_eip2612_asset_mismatch: {
    message: 'The token of the EIP-2612 permit is not that of the deposit',
    remedy: 'new_payment',
  },
  invalid_batch_settlement_evm_eip2612_spender_mismatch: {
    message: 'The spender of the EIP-2612 permit of the deposit is not Permit2',
    remedy: 'new_payment',
  },
  invalid_batch_settlement_evm_eip2612_deadline_expired: {
    message: 'The EIP-2612 permit of the deposit has expired, or would before it could be settled',
    operationalCode: 'SVC-1011',
    remedy: 'new_payment',
  },
  invalid_batch_settlement_evm_eip2612_amount_mismatch: {
    message: 'The amount of the EIP-2612 permit is not that of the deposit',
    remedy: 'new_payment',
  },
  invalid_batch_settlement_evm_erc20_approval_unavailable: {
    message: 'This facilitator sends no signed approvals of payers before deposits',
    remedy: 'fund_payer',
  },
  invalid_batch_settlement_evm_voucher_signature: {
    message:
      'The signature of the voucher is not that of the payer or of its authorizer, in the form that the contract takes',
    operationalCode: 'SVC-1006',
    remedy: 'new_payment',
  },
  invalid_batch_settlement_evm_insufficient_balance: {
    message: "The payer's balance does not cover the deposit",
    operationalCode: 'SVC-3003',
    remedy: 'fund_payer',
  },
  invalid_batch_settlement_evm_channel_not_found: {
    message: 'The channel holds nothing on this network',
    remedy: 'retry_later',
  },
  invalid_batch_settlement_evm_cumulative_exceeds_balance: {
    message: 'The ceiling of the voucher exceeds what the channel holds beside a pending withdrawal',
    remedy: 'new_payment',
  },
  invalid_batch_settlement_evm_cumulative_below_claimed: {
    message: 'The ceiling of the voucher does not cover what is claimed already, and this request',
    remedy: 'new_payment',
  },
  invalid_batch_settlement_evm_rpc_read_failed: {
    message: 'The settlement of channels does not answer what it knows',
    remedy: 'retry_later',
  },
  invalid_batch_settlement_evm_deposit_simulation_failed: {
    message: 'The deposit fails when it is simulated',
    operationalCode: 'SVC-3002',
    remedy: 'retry_later',
  },
  invalid_batch_settlement_evm_deposit_transaction_failed: {
    message: 'The deposit was mined, but it failed',
    operationalCode: 'SVC-3002',
    remedy: 'retry_later',
    isFailedOnChain: true,
  },
  invalid_batch_settlement_evm_deposit_already_used: {
    message: 'The authorization of the deposit was used or cancelled before, without this deposit',
    operationalCode: 'SVC-3002',
    remedy: 'new_payment',
  },
  invalid_batch_settlement_evm_authorizer_not_configured: {
    message: 'The signature of the receiverAuthorizer is missing, and it is not this facilitator',
    remedy: 'fix_request',
  },
  invalid_batch_settlement_evm_authorizer_address_mismatch: {
    message:
      'The rows of the claim have several receiverAuthorizers, or one that does not sign for this caller',
    remedy: 'fix_request',
  },
  invalid_batch_settlement_evm_claim_authorizer_signature: {
    message: 'The claim is not signed by the receiverAuthorizer of its rows',
    operationalCode: 'SVC-1006',
    remedy: 'fix_request',
  },
  invalid_batch_settlement_evm_claim_simulation_failed: {
    message: 'The claim fails when it is simulated',
    operationalCode: 'SVC-3002',
    remedy: 'retry_later',
  },
  invalid_batch_settlement_evm_claim_transaction_failed: {
    message: 'The claim was mined, but it failed, as when a withdrawal came before it',
    operationalCode: 'SVC-3002',
    remedy: 'retry_later',
    isFailedOnChain: true,
  },
  invalid_batch_settlement_evm_nothing_to_settle: {
    message: 'There is nothing that was claimed and not paid out to the receiver in this token',
    remedy: 'retry_later',
  },
  invalid_batch_settlement_evm_settle_simulation_failed: {
    message: 'The sweep fails when it is simulated',
    operationalCode: 'SVC-3002',
    remedy: 'retry_later',
  },
  invalid_batch_settlement_evm_settle_transaction_failed: {
    message: 'The sweep was mined, but it paid nothing',
    operationalCode: 'SVC-3002',
    remedy: 'retry_later',
    isFailedOnChain: true,
  },
  invalid_batch_settlement_evm_refund_no_balance: {
    message: 'There is nothing left in the channel to refund',
    remedy: 'fix_request',
  },
  invalid_batch_settlement_evm_refund_authorizer_mismatch: {
    message:
      'The channel of the refund, which this facilitator would sign, belongs to another account or to none',
    remedy: 'fix_request',
  },
  invalid_batch_settlement_evm_refund_authorizer_signature: {
    message: 'The refund is not signed by the receiverAuthorizer of the channel',
    operationalCode: 'SVC-1006',
    remedy: 'fix_request',
  },
  invalid_batch_settlement_evm_refund_nonce_mismatch: {
    message: 'The refundNonce is not the next one of the channel',
    remedy: 'fix_request',
  },
  invalid_batch_settlement_evm_refund_simulation_failed: {
    message: 'The refund fails when it is simulated',
    operationalCode: 'SVC-3002',
    remedy: 'retry_later',
  },
  invalid_batch_settlement_evm_refund_transaction_failed: {
    message: 'The refund was mined, but it failed or paid nothing',
    operationalCode: 'SVC-3002',
    remedy: 'retry_later',
    isFailedOnChain: true,
  },
} as const satisfies Readonly<Record<string, ReasonEntry>>
