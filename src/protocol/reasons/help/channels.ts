import type { HelpTable } from '../reasonEntry.js'

export const channelHelp = {
  invalid_batch_settlement_evm_payload_type: [
    'The payload is of a type that this endpoint does not take, or of none.',
    'Verify deposits, vouchers and refunds; settle deposits, claims, sweeps and completed refunds.',
  ],
  invalid_batch_settlement_evm_deposit_payload: [
    'The deposit of the payload is malformed.',
    'Send the payload as the client made it; the message names the field.',
  ],
  invalid_batch_settlement_evm_voucher_payload: [
    'The voucher of the payload is malformed.',
    'Send the payload as the client made it; the message names the field.',
  ],
  invalid_batch_settlement_evm_refund_payload: [
    'The refund of the payload is malformed, or lacks what the server adds before it is settled.',
    'Send amount, refundNonce and claims beside what the client signed; the message names the field.',
  ],
  invalid_batch_settlement_evm_claim_payload: [
    'The claim of the payload is malformed, or has too many rows.',
    'Send at most 100 rows, each with its channel, voucher and signature; the message names the field.',
  ],
  invalid_batch_settlement_evm_settle_payload: [
    'The sweep of the payload is malformed.',
    'Name the receiver and the token of paymentRequirements as addresses.',
  ],
  invalid_batch_settlement_evm_channel_id_mismatch: [
    'The channel id is not the hash of the channel on this network.',
    'Ask the payer for a voucher of the channel of these requirements.',
  ],
  invalid_batch_settlement_evm_receiver_mismatch: [
    'The receiver of the channel is not payTo of the requirements.',
    'Open channels to payTo; claim the rows of one receiver by a request of its own.',
  ],
  invalid_batch_settlement_evm_receiver_authorizer_mismatch: [
    'The receiverAuthorizer of the channel is not the one of the requirements, or does not sign for this caller.',
    'Set extra.receiverAuthorizer to the address that signs claims and refunds; where it is this facilitator, use an API key of the account that first verified the channel.',
  ],
  invalid_batch_settlement_evm_token_mismatch: [
    'The token of the channel, or of the authorization, is not the required asset.',
    'Ask the payer for a channel in the required asset.',
  ],
  invalid_batch_settlement_evm_withdraw_delay_mismatch: [
    'The withdrawDelay of the channel is not extra.withdrawDelay.',
    'Ask the payer for a channel with the withdrawDelay of the requirements.',
  ],
  invalid_batch_settlement_evm_withdraw_delay_out_of_range: [
    'The withdrawDelay of the channel is not between 900 and 2592000 seconds.',
    'Set extra.withdrawDelay to a value between 15 minutes and 30 days.',
  ],
  invalid_batch_settlement_evm_erc3009_authorization_required: [
    'The deposit carries no ERC-3009 authorization, which the requirements ask for.',
    'Ask the payer for a deposit by the method of extra.assetTransferMethod.',
  ],
  invalid_batch_settlement_evm_permit2_authorization_required: [
    'The deposit carries no Permit2 authorization, which the requirements ask for.',
    'Ask the payer for a deposit by the method of extra.assetTransferMethod.',
  ],
  invalid_batch_settlement_evm_missing_eip712_domain: [
    "The requirements lack the token's EIP-712 domain.",
    "Set extra.name and extra.version to the token's domain, as POST /accepts names it.",
  ],
  invalid_batch_settlement_evm_payload_authorization_valid_before: [
    'The authorization of the deposit has expired, or would before it could be settled.',
    'Ask the payer for a new deposit.',
  ],
  invalid_batch_settlement_evm_payload_authorization_valid_after: [
    'The authorization of the deposit is not valid yet.',
    'Ask the payer for a deposit that is valid now.',
  ],
  invalid_batch_settlement_evm_eip6492_factory_not_allowed: [
    "The wallet of the payer is not deployed, and its factory is not on this facilitator's list.",
    'Let the payer deploy its wallet first, or ask the operator to allow the factory.',
  ],
  invalid_batch_settlement_evm_receive_authorization_signature: [
    "The signature of the deposit is not the payer's for this channel.",
    "Check the token's EIP-712 domain in extra.name and extra.version; a signature with a high s is refused.",
  ],
  invalid_batch_settlement_evm_permit2_invalid_signature: [
    "The Permit2 signature of the deposit is not the payer's for this channel.",
    'Ask the payer for a new deposit; the owner of the permit must be the payer of the channel.',
  ],
  invalid_batch_settlement_evm_permit2_invalid_spender: [
    "The spender of the permit is not x402's deposit collector.",
    'Ask the payer for a permit to the published deposit collector for Permit2.',
  ],
  invalid_batch_settlement_evm_permit2_amount_mismatch: [
    'The permitted amount is not the amount of the deposit.',
    'Ask the payer for a permit of exactly the deposit.',
  ],
  invalid_batch_settlement_evm_permit2_deadline_expired: [
    'The permit of the deposit has expired, or would before it could be settled.',
    'Ask the payer for a new deposit.',
  ],
  invalid_batch_settlement_evm_permit2_allowance_required: [
    'The payer has not approved Permit2 for the token.',
    'Ask the payer to approve Permit2 for the token once, or to send an EIP-2612 permit with the deposit.',
  ],
  invalid_batch_settlement_evm_eip2612_invalid_format: [
    'The EIP-2612 permit that comes with the deposit is malformed.',
    'Ask the payer for a new deposit with a complete permit.',
  ],
  invalid_batch_settlement_evm_eip2612_invalid_signature: [
    "The EIP-2612 permit that comes with the deposit is not the payer's.",
    'Ask the payer for a new permit, signed for the current nonce of the token.',
  ],
  invalid_batch_settlement_evm_eip2612_owner_mismatch: [
    'The owner of the EIP-2612 permit is not the payer of the channel.',
    "Ask the payer for a permit of the channel's payer.",
  ],
  invalid_batch_settlement_evm_eip2612_asset_mismatch: [
    'The token of the EIP-2612 permit is not that of the deposit.',
    'Ask the payer for a permit in the required asset.',
  ],
  invalid_batch_settlement_evm_eip2612_spender_mismatch: [
    'The spender of the EIP-2612 permit of the deposit is not Permit2.',
    'Ask the payer for a permit to Permit2.',
  ],
  invalid_batch_settlement_evm_eip2612_deadline_expired: [
    'The EIP-2612 permit of the deposit has expired, or would before it could be settled.',
    'Ask the payer for a new deposit.',
  ],
  invalid_batch_settlement_evm_eip2612_amount_mismatch: [
    'The amount of the EIP-2612 permit is not that of the deposit.',
    'Ask the payer for a permit of exactly the deposit.',
  ],
  invalid_batch_settlement_evm_erc20_approval_unavailable: [
    'This facilitator sends no signed approvals of payers before deposits.',
    'Ask the payer to approve Permit2 itself, or to send an EIP-2612 permit.',
  ],
  invalid_batch_settlement_evm_voucher_signature: [
    'The signature of the voucher is not that of the payer or of its authorizer, in the form that the contract takes.',
    'Ask the payer for a new voucher: 65 bytes with a low s and v of 27 or 28.',
  ],
  invalid_batch_settlement_evm_insufficient_balance: [
    "The payer's balance does not cover the deposit.",
    'Ask the payer to fund the account, then send the same request again.',
  ],
  invalid_batch_settlement_evm_channel_not_found: [
    'The channel holds nothing on this network.',
    'Ask the payer to deposit first; a deposit that was sent counts once it is mined.',
  ],
  invalid_batch_settlement_evm_cumulative_exceeds_balance: [
    'The ceiling of the voucher exceeds what the channel holds beside a pending withdrawal.',
    'Ask the payer to deposit more; what a pending withdrawal can take does not count.',
  ],
  invalid_batch_settlement_evm_cumulative_below_claimed: [
    'The ceiling of the voucher does not cover what is claimed already, and this request.',
    'Ask the payer for a voucher above the claimed total and the price.',
  ],
  invalid_batch_settlement_evm_rpc_read_failed: [
    'The settlement of channels does not answer what it knows.',
    'Send the same request again.',
  ],
  invalid_batch_settlement_evm_deposit_simulation_failed: [
    'The deposit fails when it is simulated.',
    'Read the message, which quotes the revert; tokens that take a fee cannot be deposited.',
  ],
  invalid_batch_settlement_evm_deposit_transaction_failed: [
    'The deposit was mined, but it failed.',
    'Ask the payer for a new deposit, unless the channel shows it.',
  ],
  invalid_batch_settlement_evm_deposit_already_used: [
    'The authorization of the deposit was used or cancelled before, without this deposit.',
    'Ask the payer for a new deposit.',
  ],
  invalid_batch_settlement_evm_authorizer_not_configured: [
    'The signature of the receiverAuthorizer is missing, and it is not this facilitator.',
    "Give the server the receiverAuthorizer's key (receiverAuthorizerSigner), so that it signs claims and refunds.",
  ],
  invalid_batch_settlement_evm_authorizer_address_mismatch: [
    'The rows of the claim have several receiverAuthorizers, or one that does not sign for this caller.',
    'Claim the rows of each receiverAuthorizer by a request of its own, and delegated ones with an API key of the account that verified their channels; the message names the row.',
  ],
  invalid_batch_settlement_evm_claim_authorizer_signature: [
    'The claim is not signed by the receiverAuthorizer of its rows.',
    'Sign exactly these rows, in this order, for this network.',
  ],
  invalid_batch_settlement_evm_claim_simulation_failed: [
    'The claim fails when it is simulated.',
    'Read the message, which names the bad row: leave it out, or wait for its deposit.',
  ],
  invalid_batch_settlement_evm_claim_transaction_failed: [
    'The claim was mined, but it failed, as when a withdrawal came before it.',
    'Send a new claim; the message of its check names the bad row.',
  ],
  invalid_batch_settlement_evm_nothing_to_settle: [
    'There is nothing that was claimed and not paid out to the receiver in this token.',
    'Claim vouchers first; a sweep pays all that was claimed.',
  ],
  invalid_batch_settlement_evm_settle_simulation_failed: [
    'The sweep fails when it is simulated.',
    'Read the message, which quotes the revert of the token.',
  ],
  invalid_batch_settlement_evm_settle_transaction_failed: [
    'The sweep was mined, but it paid nothing.',
    'Send the same request again.',
  ],
  invalid_batch_settlement_evm_refund_no_balance: [
    'There is nothing left in the channel to refund.',
    'The channel is spent: what was claimed belongs to the receiver.',
  ],
  invalid_batch_settlement_evm_refund_authorizer_mismatch: [
    'The channel of the refund, which this facilitator would sign, belongs to another account or to none.',
    'Send it with an API key of the account that first verified the channel.',
  ],
  invalid_batch_settlement_evm_refund_authorizer_signature: [
    'The refund is not signed by the receiverAuthorizer of the channel.',
    'Sign the refund for this channel, amount and refundNonce, on this network.',
  ],
  invalid_batch_settlement_evm_refund_nonce_mismatch: [
    'The refundNonce is not the next one of the channel.',
    'Read extra.refundNonce of a new verification, and sign the refund for it.',
  ],
  invalid_batch_settlement_evm_refund_simulation_failed: [
    'The refund fails when it is simulated.',
    'Read the message, which quotes the revert.',
  ],
  invalid_batch_settlement_evm_refund_transaction_failed: [
    'The refund was mined, but it failed or paid nothing.',
    'Verify the channel, and sign a new refund for its next refundNonce.',
  ],
} as const satisfies HelpTable
