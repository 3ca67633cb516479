import type { Clock } from '../../../ports/clock.js'
import type { RateLimiter } from '../../../ports/rateLimiter.js'
import type { Recorder } from '../../../ports/settlementJournal.js'
import type { Reason } from '../../../protocol/reasons.js'
import type { RuleName } from '../../../protocol/rules/ruleNames.js'
import type { Trace } from '../../../protocol/rules/rules.js'
import type { Network } from '../../../schemes/network.js'
import type { Authorized, Outcome, Refusal, Scheme, SettleOptions } from '../../../schemes/scheme.js'
import { createHourlyBudget } from '../../common/hourlyBudget.js'
import type { MinimumPayment } from '../../common/minimumPayment.js'
import { networkUnavailable } from '../../common/networkUnavailable.js'
import { createSettlingScheme } from '../../common/settling/exactScheme.js'
import type { Rpc } from '../rpc/rpc.js'
import type { SolanaNetworkSettings, SolanaSettings } from '../settings.js'
import type { FeePayers } from '../transactions/feePayers.js'
import type { Submit } from '../transactions/submit.js'
import { decodeProof } from './decode.js'
import { baseFee, countFee } from './instructions.js'
import {
  describeTransfer,
  formatAuthorizationId,
  listOffered,
  type Prepare,
  type Prepared,
  toRefusal,
} from './prepare.js'
import { resolveSettlement } from './resolve.js'
import type { FailureReason, Simulate, Simulated } from './simulate.js'

interface ExactDependencies {
  readonly family: SolanaSettings
  readonly network: SolanaNetworkSettings
  readonly opened: Network
  readonly rpc: Rpc
  readonly feePayers: FeePayers
  readonly prepare: Prepare
  readonly simulate: Simulate
  readonly submit: Submit
  readonly limiter: RateLimiter
  readonly clock: Clock
  /** Whether a fee payer can pay for the next settlement. */
  readonly canPay: (address: string) => boolean
  readonly minimum: MinimumPayment
}

// A settlement that begins later after the verification is simulated again.
const maxReuseMs = 1_000

// A hold is made directly before the claim, and lasts as long as the settlement is open. Where no claim follows, it must
// not keep the payer's balance from other merchants: the blockhash is the only end of the transfer.
const claimWithinMs = 15_000

/** Transactions that the payer signed; we add the fee payer's signature. */
export const createExactScheme = (dependencies: ExactDependencies): Scheme => {
  const { family, network, rpc, feePayers, prepare, simulate, submit, limiter, clock, canPay, minimum } =
    dependencies
  const budget = createHourlyBudget(limiter, {
    network: network.network,
    purpose: 'fee',
    key: `fees:${network.network}`,
    limit: network.feeBudgetLamportsPerHour,
  })
  let nextFeePayer = 0

  /** Round robin over the funded fee payers. */
  const chooseFeePayer = (): string => {
    const funded = feePayers.addresses.filter(canPay)
    const choice = funded.length > 0 ? funded : feePayers.addresses
    nextFeePayer = (nextFeePayer + 1) % choice.length
    return choice[nextFeePayer] ?? ''
  }

  const needsTwoNodes = (amount: bigint): boolean => amount >= family.crossCheckAmount

  const simulateNow = async (prepared: Prepared): Promise<Verified> => {
    if (!canPay(prepared.transaction.keys[0] ?? '')) throw networkUnavailable(network.network)
    const simulated = await simulate(prepared)
    return { ...simulated, prepared, atMs: clock.now().getTime() }
  }

  const isTooLate = ({ blocksLeft }: Simulated): boolean =>
    blocksLeft !== null && blocksLeft < family.expiryMarginBlocks

  const isFresh = ({ atMs }: Verified): boolean => Math.abs(clock.now().getTime() - atMs) < maxReuseMs

  /** Null when the simulation succeeds; throws when the failure is ours. */
  const refuseBy = ({ transfer }: Prepared, failure: FailureReason | null): Refusal | null => {
    if (failure === null) return null
    if ('isOurs' in failure) throw networkUnavailable(network.network)
    const refusal = toRefusal(transfer.authority, failure.reason, failure.message)
    return 'isFinal' in failure ? { ...refusal, isFinal: true } : refusal
  }

  const settle = async (
    verified: Verified,
    recorder: Recorder,
    { waitUntil, caller = null }: SettleOptions,
  ): Promise<Outcome> => {
    const { prepared } = verified
    const simulated = isFresh(verified) ? verified : await simulateNow(prepared)
    const refused = refuseBy(prepared, simulated.failure)
    if (refused !== null) return { state: 'failed', reason: refused.reason }
    if (isTooLate(simulated)) {
      return { state: 'failed', reason: 'settle_exact_svm_block_height_exceeded' }
    }
    const refund = await budget.spend(Number(countFee(prepared.transaction)), caller)
    const isCrossChecked = needsTwoNodes(prepared.transfer.amount)
    try {
      return await submit({ prepared, recorder, waitUntil, policy: { isCrossChecked } })
    } catch (error) {
      // Nothing was recorded.
      refund()
      throw error
    }
  }

  const authorize = (verified: Verified, isForSettle: boolean): Authorized => {
    const { source } = verified.prepared.transfer
    return {
      ...describeTransfer(verified.prepared),
      // The recorded bytes are sufficient to resolve.
      details: {},
      // Each simulation sees the whole balance, and we pay for a transfer that fails in a block: settlements that are
      // open at once must fit beside each other. An owner can have several accounts of a mint.
      ...(isForSettle
        ? { hold: { spender: source, balance: null, allowance: verified.balance, maxMs: claimWithinMs } }
        : {}),
      settle: (recorder, options) => settle(verified, recorder, options),
    }
  }

  /**
   * Applies to callers without a key: they cost nothing to become, and a fee is paid whether the transfer pays or not.
   */
  const refusePriorityFee = ({ transaction, transfer }: Prepared, caller: string | null): Refusal | null => {
    const priorityFee = countFee(transaction) - baseFee
    const highest = family.maxAnonymousPriorityFeeLamports
    if (caller !== 'anonymous' || priorityFee <= highest) return null
    return toRefusal(
      transfer.authority,
      'invalid_exact_svm_payload_transaction_instructions_compute_price_instruction_too_high',
      `The priority fee of ${priorityFee} lamports exceeds ${highest}, the maximum for callers without an API key`,
    )
  }

  const describeExtra = () => ({ feePayer: chooseFeePayer() })

  return createSettlingScheme({
    network: dependencies.opened,
    offered: listOffered(network),
    describeKindExtra: describeExtra,
    describeAssetExtra: describeExtra,

    identify: ({ proof }) => {
      const transaction = typeof proof.transaction === 'string' ? decodeProof(proof, proof.transaction) : null
      return transaction === null ? null : formatAuthorizationId(network.network, transaction)
    },

    verify: async (payment, { isAwaited, isForSettle = false, caller = null, trace }) => {
      const preparation = prepare(payment, trace)
      trace?.expect(['priority_fee', 'minimum_payment', 'simulation', 'valid_before'])
      if ('refused' in preparation) return preparation.refused
      const { transaction, transfer } = preparation.prepared
      const tooCostly = refusePriorityFee(preparation.prepared, caller)
      if (tooCostly !== null) {
        trace?.note('priority_fee', tooCostly)
        return tooCostly
      }
      const tooLow = minimum.refuse({
        asset: payment.requirements.asset,
        amount: transfer.amount,
        cost: countFee(transaction),
        isForSettle,
      })
      trace?.note('minimum_payment', tooLow)
      if (tooLow !== null) return toRefusal(transfer.authority, tooLow.reason, tooLow.message)
      if (!isAwaited()) throw new Error('The caller is gone')
      const verified = await simulateNow(preparation.prepared)
      if (isForSettle && verified.failure === null && isTooLate(verified)) {
        return toRefusal(verified.prepared.transfer.authority, 'settle_exact_svm_block_height_exceeded')
      }
      const refused = refuseBy(verified.prepared, verified.failure)
      if (trace !== undefined) traceSimulation(verified, refused, trace)
      return refused ?? authorize(verified, isForSettle)
    },

    resolve: (settlement) =>
      resolveSettlement(rpc, settlement, {
        isCrossChecked: needsTwoNodes(settlement.amount),
        now: clock.now(),
      }),
    send: rpc.send,
  })
}

/** Reasons that the accounts show, which the simulation reads. */
const accountRules: Partial<Record<Reason, RuleName>> = {
  insufficient_funds: 'balance',
  invalid_exact_svm_payload_transaction_sender_ata_not_found: 'balance',
  settle_exact_svm_block_height_exceeded: 'valid_before',
}

const traceSimulation = (
  { prepared, balance, blocksLeft, failure }: Verified,
  refused: Refusal | null,
  trace: Trace,
): void => {
  const broken = refused === null ? undefined : accountRules[refused.reason]
  if (broken === undefined) {
    trace.note('simulation', refused)
    if (failure !== null) return
    trace.note('balance', null, { found: balance, expected: `at least ${prepared.transfer.amount}` })
    trace.note('valid_before', null, { found: blocksLeft === null ? 'unknown' : `${blocksLeft} blocks left` })
    trace.addFact('payer_balance', `${balance}`)
    return
  }
  trace.note(broken, refused)
  trace.skip('simulation', broken)
}

interface Verified extends Simulated {
  readonly prepared: Prepared
  readonly atMs: number
}
