import type { Hex } from 'viem'
import type { SignedRefund } from '../../../ports/channelCustody.js'
import type { PaymentRequirements } from '../../../protocol/payment.js'
import { isSameAddress, readAddress } from '../abi/address.js'
import type { RevertReason } from '../transactions/settlementCall.js'
import { type ChannelConfig, isIdOf, withdrawDelays } from './contract.js'
import { isZero } from './signatures.js'
import type { ChannelState } from './states.js'

/* Rules of channels and vouchers, in the order of the specification. */

/** No node answers what the settlement knows. */
export const unread = { reason: 'invalid_batch_settlement_evm_rpc_read_failed' } as const

interface NamedChannel {
  readonly config: ChannelConfig
  /** As the payload states it. */
  readonly channelId: Hex
}

type Terms = Pick<PaymentRequirements, 'payTo' | 'asset' | 'extra' | 'amount'>

/** Why the channel is not one of the requirements; null: it is. */
export const findChannelProblem = (
  { config, channelId }: NamedChannel,
  { payTo, asset, extra }: Terms,
  chainId: number,
): RevertReason | null => {
  if (!isIdOf(chainId, channelId, config)) {
    return { reason: 'invalid_batch_settlement_evm_channel_id_mismatch' }
  }
  if (!names(payTo, config.receiver)) return { reason: 'invalid_batch_settlement_evm_receiver_mismatch' }
  const isAuthorized =
    !isZero(config.receiverAuthorizer) && names(extra.receiverAuthorizer, config.receiverAuthorizer)
  if (!isAuthorized) return { reason: 'invalid_batch_settlement_evm_receiver_authorizer_mismatch' }
  if (!names(asset, config.token)) return { reason: 'invalid_batch_settlement_evm_token_mismatch' }
  const { withdrawDelay } = extra
  if (withdrawDelay !== undefined && withdrawDelay !== config.withdrawDelay) {
    return { reason: 'invalid_batch_settlement_evm_withdraw_delay_mismatch' }
  }
  const isInRange =
    config.withdrawDelay >= withdrawDelays.least && config.withdrawDelay <= withdrawDelays.most
  return isInRange ? null : { reason: 'invalid_batch_settlement_evm_withdraw_delay_out_of_range' }
}

export const names = (text: unknown, address: Hex): boolean => {
  const named = readAddress(text)
  return named !== null && isSameAddress(named, address)
}

/**
 * Why the channel does not back a voucher. A withdrawal never expires, and can be executed at once when its delay is over; nor
 * does a refund that was signed for its receiver, and anyone may submit it: what they can take backs nothing.
 */
export const findVoucherProblem = (
  maxClaimable: bigint,
  { balance, withdrawal, totalClaimed, refundNonce }: ChannelState,
  asked: { readonly deposit: bigint; readonly price: bigint; readonly signedRefund: SignedRefund | null },
): RevertReason | null => {
  const { deposit, price, signedRefund } = asked
  // A reorg has undone a refund that came before it, whose signature is valid again: only the last amount is known.
  if (signedRefund !== null && signedRefund.nonce > refundNonce) return undone
  const refundable = signedRefund !== null && signedRefund.nonce === refundNonce ? signedRefund.amount : 0n
  const backed = balance + deposit - withdrawal - refundable
  if (maxClaimable > backed) {
    const reason = 'invalid_batch_settlement_evm_cumulative_exceeds_balance'
    return maxClaimable > backed + refundable ? { reason } : { reason, message: refunding }
  }
  const isCovered = maxClaimable > totalClaimed && maxClaimable >= totalClaimed + price
  return isCovered ? null : { reason: 'invalid_batch_settlement_evm_cumulative_below_claimed' }
}

const undone = {
  reason: 'invalid_batch_settlement_evm_cumulative_exceeds_balance',
  message: 'A reorg has undone a refund of the channel: until it is made again, the channel backs no voucher',
} as const
const refunding = 'A refund of the channel is signed: until it is made, what it can take backs no voucher'

/** A refund asks for no service, and returns also what a withdrawal could take. */
export const findRefundProblem = (
  maxClaimable: bigint,
  { balance, totalClaimed }: ChannelState,
): RevertReason | null => {
  if (maxClaimable > balance) return { reason: 'invalid_batch_settlement_evm_cumulative_exceeds_balance' }
  return maxClaimable < totalClaimed
    ? { reason: 'invalid_batch_settlement_evm_cumulative_below_claimed' }
    : null
}

/** As servers store it. Amounts are decimal text; the time is a number. */
export const describeState = (channelId: Hex, state: ChannelState) => ({
  channelId,
  balance: `${state.balance}`,
  totalClaimed: `${state.totalClaimed}`,
  withdrawRequestedAt: state.withdrawRequestedAt,
  refundNonce: `${state.refundNonce}`,
})
