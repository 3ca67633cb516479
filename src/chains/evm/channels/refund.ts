import type { Hex } from 'viem'
import { larger, numberWord, smaller } from '../abi/words.js'
import { structureRules } from '../explanations.js'
import { type Phase, readOccasion, toRefusal } from '../paymentMethod.js'
import { tryCall } from '../rpc/rpc.js'
import type { RevertReason } from '../transactions/settlementCall.js'
import { findKeptClaim } from './care.js'
import { names as isNamed, unread } from './checks.js'
import { type ClaimCheck, checkRows, gasOf, toRows } from './claim.js'
import {
  type ChannelConfig,
  configWords,
  encodeClaim,
  encodeRefund,
  encodeTogether,
  hashRefund,
  isIdOf,
  settlementAddress,
} from './contract.js'
import { describeRequest, type JudgedRequest } from './judge.js'
import type { RefundOrder, RefundProof } from './payload.js'
import { type ChannelDependencies, type Prepare, readListed } from './prepared.js'
import { createRequestCall } from './requestCall.js'
import { explainRevert } from './reverts.js'
import { findSigner } from './signatures.js'
import { type ChannelState, decodeState, planStateRead } from './states.js'

/* A cooperative refund claims what the payer owes and returns the rest, in one transaction. */

const ruleNames = [...structureRules, 'channel_terms', 'authorizer_signature', 'channel_state'] as const

/** A channel makes one refund for each nonce. */
export const formatRefundId = (network: string, channelId: Hex, nonce: bigint): string =>
  `${network}/${settlementAddress}/refund/${channelId}/${nonce}`.toLowerCase()

const findTermsProblem = (
  { config, channelId }: RefundProof,
  { payTo, asset }: { readonly payTo: string; readonly asset: string },
  { chainId, order }: { readonly chainId: number; readonly order: RefundOrder },
): RevertReason | null => {
  if (!isIdOf(chainId, channelId, config)) {
    return { reason: 'invalid_batch_settlement_evm_channel_id_mismatch' }
  }
  if (!isNamed(payTo, config.receiver)) return { reason: 'invalid_batch_settlement_evm_receiver_mismatch' }
  if (!isNamed(asset, config.token)) return { reason: 'invalid_batch_settlement_evm_token_mismatch' }
  const isForeign = order.claims.some((claim) => !isIdOf(chainId, channelId, claim.config))
  if (!isForeign) return null
  const message = 'payload.claims: a refund claims vouchers of its own channel only'
  return { reason: 'invalid_batch_settlement_evm_channel_id_mismatch', message }
}

const findClaimed = ({ claims }: Pick<RefundOrder, 'claims'>): bigint =>
  claims.reduce((most, row) => larger(most, row.totalClaimed), 0n)

/** What is returned at most: the contract pays what is there. */
const findPaid = (order: RefundOrder, { balance, totalClaimed }: ChannelState): bigint => {
  const { amount } = order
  const claimed = larger(findClaimed(order), totalClaimed)
  return balance > claimed ? smaller(amount, balance - claimed) : 0n
}

const findStateProblem = (order: RefundOrder, state: ChannelState): RevertReason | null => {
  if (state.balance === 0n) return { reason: 'invalid_batch_settlement_evm_channel_not_found' }
  if (findPaid(order, state) === 0n) return { reason: 'invalid_batch_settlement_evm_refund_no_balance' }
  if (order.nonce === state.refundNonce) return null
  const message = `payload.refundNonce: the next one of the channel is ${state.refundNonce}`
  return { reason: 'invalid_batch_settlement_evm_refund_nonce_mismatch', message }
}

export const createPrepareRefund = (dependencies: ChannelDependencies): Prepare => {
  const { network, rpc, clock, contractReader, custody } = dependencies
  const { chainId } = network

  const checkOrder = async (
    proof: RefundProof,
    order: RefundOrder,
    { requester, caller }: Pick<Phase, 'requester' | 'caller'>,
  ): Promise<RevertReason | null> => {
    const { config, channelId } = proof
    const { nonce, amount, refundSignature, claims, claimSignature } = order
    if ((await custody.findUnowned([proof], caller)) !== null) return unowned
    const isUnsigned = refundSignature === null || (claims.length > 0 && claimSignature === null)
    if (isUnsigned && !custody.isDelegated(config)) {
      return { reason: 'invalid_batch_settlement_evm_authorizer_not_configured' }
    }
    if (refundSignature === null) return null
    const digest = hashRefund(chainId, channelId, { nonce, amount })
    const signed = { signer: config.receiverAuthorizer, digest, signature: refundSignature }
    const signer = await findSigner({ rpc, reader: contractReader, requester }, signed)
    return signer === null ? { reason: 'invalid_batch_settlement_evm_refund_authorizer_signature' } : null
  }

  return async (payment, phase, trace) => {
    trace?.expect(ruleNames)
    const reading = await readListed(dependencies, payment, ['refund'], trace)
    if ('refused' in reading) return reading
    const { proof, token } = reading.prepared
    const { config, channelId, order: stated } = proof
    const { payTo, asset } = payment.requirements
    const refuse = (failure: RevertReason) => ({ refused: toRefusal(config.payer, failure) })
    if (stated === null) return refuse(incomplete)
    const foreign = findTermsProblem(proof, { payTo, asset }, { chainId, order: stated })
    trace?.note('channel_terms', foreign)
    if (foreign !== null) return refuse(foreign)
    const unsigned = await checkOrder(proof, stated, phase)
    trace?.note('authorizer_signature', unsigned)
    if (unsigned !== null) return refuse(unsigned)
    const state = decodeState(await tryCall(rpc, planStateRead(channelId)))
    if (state === null) {
      trace?.note('channel_state', unread)
      return refuse(unread)
    }
    const claimed = larger(findClaimed(stated), state.totalClaimed)
    const kept = await findKeptClaim(dependencies, proof, { balance: state.balance, claimed })
    const order =
      kept === null ? stated : { ...stated, claims: [...stated.claims, kept], claimSignature: null }
    const problem = findStateProblem(order, state)
    if (problem !== null) {
      trace?.note('channel_state', problem)
      return refuse(problem)
    }
    const rows = toRows(order.claims, chainId)
    const { claimSignature } = order
    const checked = await checkRows(dependencies, rows, { ...phase, signature: claimSignature, payTo })
    trace?.note('channel_state', 'reason' in checked ? checked : null)
    if ('reason' in checked) return refuse(checked)

    const { nonce, refundSignature } = order
    if (refundSignature === null && isExposed(checked.raised, state, { config, now: clock.now() })) {
      trace?.note('channel_state', exposed)
      return refuse(exposed)
    }
    const paid = findPaid(order, state)
    // Anyone can submit the signed refund alone, before the claim: then too it must leave what the claim takes.
    const amount = refundSignature === null ? paid : order.amount
    const signature =
      refundSignature ?? (await custody.signRefund(proof, { nonce, amount, caller: phase.caller }))
    const refund = encodeRefund(config, { amount, nonce, signature })
    const words = configWords(config) + numberWord(amount) + numberWord(nonce)
    const judged: JudgedRequest = { type: 'refund', channelId, nonce, words }
    const call = createRequestCall(dependencies, judged, {
      data:
        rows.length === 0 ? refund : encodeTogether([encodeClaim(rows, checked.signature ?? '0x'), refund]),
      id: formatRefundId(network.network, channelId, nonce),
      payer: config.payer,
      payTo: config.receiver,
      amount: paid,
      ...gasOf([...rows, config, config]),
      runsPayerCode: checked.isWalletAsked,
      explainRevert: (failure) =>
        explainRevert(failure, {
          fallback: 'invalid_batch_settlement_evm_refund_simulation_failed',
          named: { InvalidRefundNonce: 'invalid_batch_settlement_evm_refund_nonce_mismatch' },
        }),
    })
    return {
      prepared: {
        candidate: { ...readOccasion(clock, phase), payment, token, recheck: () => null },
        call,
        details: describeRequest(judged),
        isWalletAsked: false,
        authorizedAmount: paid,
        received: 0n,
      },
    }
  }
}

/** Above the delay of a transaction. */
const exposureSeconds = 600

/**
 * Whether a withdrawal that can be executed before the refund would have its claim revert. The signature of the refund would then
 * be public, and valid for a deposit that follows.
 */
const isExposed = (
  raised: ClaimCheck['raised'],
  { balance, totalClaimed, withdrawal, withdrawRequestedAt }: ChannelState,
  { config, now }: { readonly config: Pick<ChannelConfig, 'withdrawDelay'>; readonly now: Date },
): boolean => {
  if (withdrawal === 0n) return false
  const isDue = withdrawRequestedAt + config.withdrawDelay <= now.getTime() / 1_000 + exposureSeconds
  const left = balance - smaller(withdrawal, balance - totalClaimed)
  return isDue && raised.some(({ row }) => row.totalClaimed > left)
}

const exposed = {
  reason: 'invalid_batch_settlement_evm_refund_simulation_failed',
  message: 'The payer can withdraw what the refund claims: claim it by a request of its own, then refund',
} as const
const unowned = {
  reason: 'invalid_batch_settlement_evm_refund_authorizer_mismatch',
  message: 'payload.channelConfig: the channel is not bound to the account of the caller',
} as const
const incomplete = {
  reason: 'invalid_batch_settlement_evm_refund_payload',
  message: 'payload: amount, refundNonce and claims are required to settle a refund',
} as const
