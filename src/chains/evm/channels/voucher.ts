import type { Scheme } from '../../../schemes/scheme.js'
import { structureRules } from '../explanations.js'
import { readRequester, toRefusal } from '../paymentMethod.js'
import type { RevertReason } from '../transactions/settlementCall.js'
import { createKeepVoucher } from './care.js'
import { describeState, findChannelProblem, findRefundProblem, findVoucherProblem, unread } from './checks.js'
import { hashVoucher } from './contract.js'
import { type ChannelDependencies, readListed } from './prepared.js'
import { findVoucherSigner, isZero } from './signatures.js'
import type { ChannelSnapshots } from './snapshots.js'
import type { ChannelState } from './states.js'

/* Vouchers and the refunds that payers ask for are verified; what becomes of them the server decides. */

const names = [...structureRules, 'channel_terms', 'voucher_signature', 'channel_state'] as const

/** Consumes nothing: a voucher verifies until it is claimed. The server counts what it has charged. */
export const createVerifyVoucher = (
  dependencies: ChannelDependencies,
  snapshots: ChannelSnapshots,
): Scheme['verify'] => {
  const { network, rpc, contractReader, custody } = dependencies
  const { chainId } = network
  const keepVoucher = createKeepVoucher(dependencies)

  return async (payment, options) => {
    const { trace, caller = null } = options
    trace?.expect(names)
    const reading = await readListed(dependencies, payment, ['voucher', 'refund'], trace)
    if ('refused' in reading) return reading.refused
    const { proof } = reading.prepared
    const { config, channelId, maxClaimable } = proof
    const { payer } = config
    const refuse = (failure: RevertReason) => toRefusal(payer, failure)
    const { requirements } = payment

    const foreign =
      findChannelProblem(proof, requirements, chainId) ?? (await custody.findProblem(proof, caller))
    trace?.note('channel_terms', foreign)
    if (foreign !== null) return refuse(foreign)
    const requester = readRequester(options)
    const voucher = { digest: hashVoucher(chainId, channelId, maxClaimable), signature: proof.signature }
    const signer = await findVoucherSigner({ rpc, reader: contractReader, requester }, config, voucher)
    trace?.note('voucher_signature', signer === null ? unsigned : null)
    if (signer === null) return refuse(unsigned)

    const signedRefund = await custody.findRefund(proof)
    const findProblem = (state: ChannelState): RevertReason | null => {
      if (state.balance === 0n) return unopened
      return proof.type === 'refund'
        ? findRefundProblem(maxClaimable, state)
        : findVoucherProblem(maxClaimable, state, { deposit: 0n, price: requirements.amount, signedRefund })
    }
    // A payer's account can change who signs for it, and a server refunds what it reads here.
    const isLasting = proof.type === 'voucher' && !isZero(config.payerAuthorizer)
    const recent = isLasting ? snapshots.find(channelId, maxClaimable) : null
    // What was read before may accept, and never refuses.
    const isEnough = recent !== null && findProblem(recent) === null
    const state = isEnough ? recent : await snapshots.read(channelId, maxClaimable)
    const unbacked = state === null ? unread : findProblem(state)
    trace?.note('channel_state', unbacked)
    if (state === null || unbacked !== null) return refuse(unbacked ?? unread)
    // An explanation binds nothing.
    const taken = trace === undefined ? await custody.bind(proof, { caller, isFunded: true }) : null
    if (taken !== null) return refuse(taken)
    if (trace === undefined && proof.type === 'voucher') {
      await keepVoucher(proof, { caller, price: requirements.amount })
    }
    return {
      isValid: true,
      payer,
      authorizationId: `${network.network}/${channelId}/${proof.type}/${maxClaimable}`,
      authorizedAmount: maxClaimable,
      amount: 0n,
      atStake: requirements.amount,
      expiresAt: null,
      details: {},
      snapshot: describeState(channelId, state),
      settle: async () => ({ state: 'failed', reason: 'invalid_batch_settlement_evm_payload_type' }),
    }
  }
}

const unsigned = { reason: 'invalid_batch_settlement_evm_voucher_signature' } as const
const unopened = { reason: 'invalid_batch_settlement_evm_channel_not_found' } as const
