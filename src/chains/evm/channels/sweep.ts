import { structureRules } from '../explanations.js'
import { readOccasion, toRefusal } from '../paymentMethod.js'
import { tryCall } from '../rpc/rpc.js'
import type { RevertReason } from '../transactions/settlementCall.js'
import { names as isNamed } from './checks.js'
import { encodeSettle, maxUint128 } from './contract.js'
import { describeRequest, formatSweepId } from './judge.js'
import { type ChannelDependencies, type Prepare, readListed } from './prepared.js'
import { createRequestCall } from './requestCall.js'
import { explainRevert } from './reverts.js'
import { decodeReceiver, planReceiverRead } from './states.js'

/* A sweep, the contract's `settle`, pays a receiver what was claimed in a token over all channels. */

const ruleNames = [...structureRules, 'recipient', 'named_asset', 'channel_state'] as const

/*
 * The contract takes about 57k gas with USDC, and the receiver's first balance 17k more. An estimate that a node makes before it
 * has the block of the claim is that of a sweep of nothing: the reserve covers the rest.
 */
const sweepGasCap = 300_000n
const sweepReorgGas = 120_000n

export const createPrepareSweep = (dependencies: ChannelDependencies): Prepare => {
  const { network, rpc, clock } = dependencies
  return async (payment, phase, trace) => {
    trace?.expect(ruleNames)
    const reading = await readListed(dependencies, payment, ['settle'], trace)
    if ('refused' in reading) return reading
    const { proof, token } = reading.prepared
    const { receiver } = proof
    const { requirements } = payment
    const refuse = (failure: RevertReason) => ({ refused: toRefusal(receiver, failure) })
    const foreign = isNamed(requirements.payTo, receiver)
      ? null
      : ({ reason: 'invalid_batch_settlement_evm_receiver_mismatch' } as const)
    trace?.note('recipient', foreign)
    if (foreign !== null) return refuse(foreign)
    const other = isNamed(requirements.asset, proof.token)
      ? null
      : ({ reason: 'invalid_batch_settlement_evm_token_mismatch' } as const)
    trace?.note('named_asset', other)
    if (other !== null) return refuse(other)

    const totals = decodeReceiver(await tryCall(rpc, planReceiverRead(receiver, proof.token)))
    const amount = totals === null ? 0n : totals.totalClaimed - totals.totalSettled
    const problem =
      totals === null
        ? ({ reason: 'invalid_batch_settlement_evm_rpc_read_failed' } as const)
        : amount === 0n
          ? ({ reason: 'invalid_batch_settlement_evm_nothing_to_settle' } as const)
          : null
    trace?.note('channel_state', problem)
    if (totals === null || problem !== null) {
      return refuse(problem ?? { reason: 'invalid_batch_settlement_evm_rpc_read_failed' })
    }
    const { totalSettled: settledBefore } = totals
    const judged = { type: 'settle', receiver, token: proof.token, settledBefore } as const
    const call = createRequestCall(dependencies, judged, {
      data: encodeSettle(receiver, proof.token),
      id: formatSweepId(network.network, judged),
      payer: receiver,
      payTo: receiver,
      amount,
      gasCap: sweepGasCap,
      reorgGas: sweepReorgGas,
      runsPayerCode: false,
      explainRevert: (failure) =>
        explainRevert(failure, { fallback: 'invalid_batch_settlement_evm_settle_simulation_failed' }),
    })
    return {
      prepared: {
        candidate: { ...readOccasion(clock, phase), payment, token, recheck: () => null },
        call,
        details: describeRequest(judged),
        isWalletAsked: false,
        // What is claimed until it is mined is paid as well.
        authorizedAmount: maxUint128,
        received: amount,
      },
    }
  }
}
