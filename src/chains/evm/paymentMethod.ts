import type { Hex } from 'viem'
import type { ChannelLedger } from '../../ports/channelLedger.js'
import type { Clock } from '../../ports/clock.js'
import type { Requester } from '../../ports/rateLimiter.js'
import type { Settlement } from '../../ports/settlementJournal.js'
import type { Payment } from '../../protocol/payment.js'
import type { Reason } from '../../protocol/reasons.js'
import type { Trace } from '../../protocol/rules/rules.js'
import type { Network } from '../../schemes/network.js'
import type { Authorized, Hold, Outcome, Refusal, Scheme, VerifyOptions } from '../../schemes/scheme.js'
import type { ContractReader } from '../chain.js'
import type { MinimumPayment } from '../common/minimumPayment.js'
import { larger, smaller } from './abi/words.js'
import type { Custody } from './channels/custody.js'
import type { Routers } from './contracts/routers.js'
import { closingRules, noteState, type StateRules } from './explanations.js'
import type { ContractPresence } from './rpc/presence.js'
import type { Rpc } from './rpc/rpc.js'
import type { UntrustedUse } from './rpc/untrustedCalls.js'
import type { EvmNetworkSettings, EvmSettings } from './settings.js'
import type { Token, TokenRegistry } from './tokens/tokenRegistry.js'
import { readBuilderCodes } from './transactions/builderCodes.js'
import type { TransactionEngine } from './transactions/engine.js'
import { promisedGas } from './transactions/fees/gasBudget.js'
import type {
  ReadAnswers,
  RevertReason,
  SettlementCall,
  SettlementJudge,
} from './transactions/settlementCall.js'
import { typicalGas } from './transactions/signers.js'
import { readAll, type Simulation, withMargin } from './transactions/simulation/simulate.js'

export interface MethodDependencies {
  readonly family: EvmSettings
  readonly network: EvmNetworkSettings
  readonly rpc: Rpc
  readonly tokens: TokenRegistry
  readonly engine: TransactionEngine
  readonly clock: Clock
  readonly minimum: MinimumPayment
}

/** What the family gives each of its schemes on one network. */
interface SchemeDependencies extends MethodDependencies {
  /** Shared by the network's schemes. */
  readonly opened: Network
  /** Our accounts: facilitators that a Permit2 authorization may name beside the router. */
  readonly accounts: readonly Hex[]
  readonly routers: Routers
  /** Whether the network has the escrow of `auth-capture`. */
  readonly escrow: ContractPresence
  /** Whether the network has x402's settlement of payment channels. */
  readonly channels: ContractPresence
  /** Which channels this facilitator signs for. */
  readonly custody: Custody
  /** Keeps their vouchers; null: none is kept. */
  readonly channelLedger: Pick<ChannelLedger, 'keep' | 'find' | 'hasSweep'> | null
  /** Asks wallet contracts whether they signed (EIP-1271). */
  readonly contractReader: ContractReader
  /** Whether the network has Permit2 and x402's proxy, by scheme. */
  readonly proxies: Readonly<Record<'exact' | 'upto', ContractPresence>>
}

export type CreateScheme = (dependencies: SchemeDependencies) => Scheme

/** What a way to authorize payments decides itself. */
export type PaymentMethod = Pick<Scheme, 'identify' | 'verify' | 'resolve'>

/** Passed every check that needs no simulation. */
interface PreparedCall {
  readonly candidate: Pick<Occasion, 'nowSeconds' | 'marginSeconds'> & {
    readonly payment: Payment
    readonly token: Pick<Token, 'address'>
  }
  readonly call: SettlementCall
  /** Upper bound that the payer signed; absent where the call moves all of it. */
  readonly authorizedAmount?: bigint
  /** What the recipient gets; absent where it is what the call moves. A hold moves funds to the escrow alone. */
  readonly received?: bigint
  /** It ends what was admitted before, such as the rest of a hold: no minimum refuses it. */
  readonly isExempt?: boolean
  /** As in `Authorized`. */
  readonly snapshot?: Authorized['snapshot']
  /** As in `Authorized`: nothing is simulated either. */
  readonly isReached?: true
  /** What a charge of 0 must be worth, as its transaction costs gas; absent where it sends none. */
  readonly maximum?: bigint
  /** Stores what must be durable before the payment is valid; or why it is not. Not run for explanations. */
  readonly commit?: () => Promise<RevertReason | null>
}

export type Preparation<Prepared> = { readonly prepared: Prepared } | { readonly refused: Refusal }

/** Structure, checks, signature form, wallet: everything except simulation. */
export interface Preparer<Prepared extends PreparedCall> {
  prepare(payment: Payment, phase: Phase, trace?: Trace): Promise<Preparation<Prepared>>
  /** Whether a wallet contract decides, whose state may have changed before the payment is sent. */
  isWalletAsked(prepared: Prepared): boolean
  /** Applies the rules that need no chain access. */
  findFailedCheck(candidate: Prepared['candidate']): Reason | null
}

export interface Phase {
  readonly isForSettle: boolean
  /** As in `VerifyOptions`. */
  readonly isAdmitted?: boolean
  /** Minimum remaining validity. */
  readonly marginSeconds: number
  /** Whose share strangers' code uses that runs before the simulation. */
  readonly requester: Requester
  /** As in `VerifyOptions`. */
  readonly caller: string | null
}

interface MethodFacts<Prepared extends PreparedCall>
  extends Preparer<Prepared>,
    Pick<PaymentMethod, 'identify'> {
  /** The journal row stores it; `readJudge` reads it after a crash. */
  describe(prepared: Prepared): Authorized['details']
  readJudge(rpc: Rpc, settlement: Settlement): SettlementJudge
  /** What must remain available until the settlement; absent where settlement follows at once. */
  describeHold?(prepared: Prepared, reads: ReadAnswers): Hold
  /** As in `Authorized`. */
  readonly isHoldable?: boolean
  /** For explanations. Absent: none. */
  readonly state?: StateRules
}

/** Verifies and settles from a prepared call on, which is the same for every method. */
export const createPaymentMethod = <Prepared extends PreparedCall>(
  { family, rpc, engine, clock, minimum }: Omit<MethodDependencies, 'network' | 'tokens'>,
  facts: MethodFacts<Prepared>,
): PaymentMethod => {
  const { prepare, identify, describe, readJudge, describeHold, isHoldable = false } = facts

  const stateNames = facts.state?.names ?? []

  /** Reads the contract state that the simulation would have read. A failing node leaves these rules unknown. */
  const traceState = async (payment: Payment, trace: Trace): Promise<void> => {
    // Only tokens that payments are settled in are asked.
    const state = trace.hasPassed('asset') ? facts.state?.inspect(payment) : null
    if (state == null) return
    try {
      noteState(state, { reads: await readAll(rpc, state), refused: 'skipped' }, trace)
    } catch {
      for (const name of stateNames) trace.miss(name)
    }
  }

  const traceSimulation = (payment: Payment, simulation: Simulation, trace: Trace): void => {
    const state = facts.state?.inspect(payment) ?? null
    const refused = 'refused' in simulation ? simulation.refused : null
    if (state === null) trace.note('simulation', refused)
    else noteState(state, { reads: simulation.reads, refused }, trace)
  }
  const { expiryMarginSeconds } = family

  /** Gas that an amount is worth at least: what was promised with a hold is settled for the published minimum. */
  const findLeastGas = (isForSettle: boolean): bigint =>
    isForSettle && describeHold !== undefined ? promisedGas : usualEstimate

  /** Gas that an amount is worth, where that is less than the call may take; null: it is worth the most. */
  const findWorthGas = (call: SettlementCall, payment: Parameters<MinimumPayment['findWorth']>[0]) => {
    const worth = minimum.findWorth(payment)
    const typicalCost = engine.findTypicalCost()
    if (worth === null || typicalCost === null || typicalCost === 0n) return null
    const paidGas = (worth * typicalGas) / typicalCost
    // The published minimum is that of a usual payment, whose estimate is a little above what it uses.
    const gas = larger(paidGas, findLeastGas(payment.isForSettle))
    return gas < call.gasCap ? gas : null
  }

  /** Repeats only the checks that need no chain access, unless a wallet contract decides. */
  const recheck = async (prepared: Prepared, phase: Phase): Promise<Preparation<Prepared>> => {
    const { candidate, call } = prepared
    if (facts.isWalletAsked(prepared)) return await prepare(candidate.payment, phase)
    const failed = facts.findFailedCheck({ ...candidate, ...readOccasion(clock, phase) })
    return failed === null ? { prepared } : { refused: toRefusal(call.payer, { reason: failed }) }
  }

  const authorize = (
    prepared: Prepared,
    reads: ReadAnswers,
    sent: Pick<SettlementCall, 'builderCodes' | 'worthGas'> | null,
    beforeSending: Phase,
  ): Authorized => {
    const { payer, id, deadline } = prepared.call
    const { received: amount = prepared.call.amount, authorizedAmount = amount } = prepared
    return {
      isValid: true,
      payer,
      authorizationId: id,
      authorizedAmount,
      amount,
      ...(prepared.received === undefined ? {} : { atStake: prepared.call.amount }),
      expiresAt: toDate(deadline),
      details: describe(prepared),
      ...(prepared.snapshot === undefined ? {} : { snapshot: prepared.snapshot }),
      ...(prepared.isReached === undefined ? {} : { isReached: prepared.isReached }),
      ...(describeHold === undefined
        ? {}
        : { hold: describeHold(prepared, reads), checkPromise: engine.checkPromise }),
      ...(isHoldable ? { isHoldable } : {}),
      settle: async (recorder, options) => {
        const preparation = await recheck(prepared, beforeSending)
        if ('refused' in preparation) return { state: 'failed', reason: preparation.refused.reason }
        const outcome = await engine.settle(
          // A spread costs several µs, and most payments need none.
          sent === null ? preparation.prepared.call : { ...preparation.prepared.call, ...sent },
          recorder,
          options,
        )
        return withSettledAmount(outcome, { amount, authorizedAmount })
      },
    }
  }

  return {
    identify,
    verify: async (payment, options) => {
      const { isAwaited, isForSettle = false, isAdmitted = false, caller = null, trace } = options
      const requester = readRequester(options)
      const beforeSending: Phase = {
        isForSettle: true,
        isAdmitted,
        marginSeconds: expiryMarginSeconds,
        requester,
        caller,
      }
      if (!isAwaited()) throw new Error('The caller is gone')
      const phase: Phase = isForSettle
        ? beforeSending
        : { isForSettle: false, isAdmitted, marginSeconds: 0, requester, caller }
      const preparation = await prepare(payment, phase, trace)
      trace?.expect([...closingRules, ...stateNames])
      if ('refused' in preparation) {
        if (trace !== undefined) await traceState(payment, trace)
        return preparation.refused
      }
      if (!isAwaited()) throw new Error('The caller is gone')
      const { call, candidate, isReached = false, maximum = 0n, isExempt = false } = preparation.prepared
      if (isReached) return authorize(preparation.prepared, [], null, beforeSending)
      const use = readUse(options, call.payer)
      const amount = call.amount > 0n ? call.amount : maximum
      const asset = candidate.token.address
      const paid = amount === 0n || isExempt ? null : { asset, amount, isForSettle }
      const cost = engine.findTypicalCost()
      const tooLow = paid === null ? null : minimum.refuse({ asset, amount, isForSettle, cost })
      trace?.note('minimum_payment', tooLow)
      if (tooLow !== null) {
        if (trace !== undefined) await traceState(payment, trace)
        return toRefusal(call.payer, tooLow)
      }
      const simulation = await engine.simulate(call, use)
      if (trace !== undefined) traceSimulation(payment, simulation, trace)
      if ('refused' in simulation) return toRefusal(call.payer, simulation.refused)
      // An estimate costs the node several executions: it is made only where the limit costs more than the payment is worth.
      const worthGas = paid === null ? null : findWorthGas(call, paid)
      const tooCostly = worthGas === null ? null : await engine.findCostRefusal({ ...call, worthGas }, use)
      trace?.note('settlement_cost', tooCostly)
      if (tooCostly !== null) return toRefusal(call.payer, tooCostly)
      const taken = trace === undefined ? await preparation.prepared.commit?.() : null
      if (taken != null) return toRefusal(call.payer, taken)
      const builderCodes = readBuilderCodes(payment)
      const sent =
        worthGas === null && builderCodes === null
          ? null
          : { builderCodes, ...(worthGas === null ? {} : { worthGas }) }
      return authorize(preparation.prepared, simulation.reads, sent, beforeSending)
    },
    resolve: async (settlement, signal, options) =>
      withSettledAmount(
        await engine.resolve(settlement, readJudge(rpc, settlement), signal, options),
        settlement,
      ),
  }
}

export const readRequester = ({ caller, requester }: VerifyOptions): Requester =>
  requester ?? { name: caller ?? 'anonymous', site: null }

/** What was admitted is promised: no share may refuse it. */
const readUse = (options: VerifyOptions, payer: Hex): UntrustedUse =>
  options.isAdmitted === true
    ? { requester: { name: `payer ${payer}`, site: null }, occasion: 'promised' }
    : { requester: readRequester(options), occasion: options.isForSettle === true ? 'settle' : 'check' }

const usualEstimate = withMargin(typicalGas)

/** The settled amount is stated where it differs from what was authorized. */
const withSettledAmount = (
  outcome: Outcome,
  { amount, authorizedAmount }: Pick<Authorized, 'amount' | 'authorizedAmount'>,
): Outcome =>
  outcome.state === 'confirmed' && outcome.settledAmount === undefined && amount !== authorizedAmount
    ? { ...outcome, settledAmount: amount }
    : outcome

export const toRefusal = (payer: Hex | null, { reason, message }: RevertReason): Refusal =>
  message === undefined ? { isValid: false, payer, reason } : { isValid: false, payer, reason, message }

// The latest instant that a Date can hold; authorizations may be valid for longer.
const latestInstantMs = 8_640_000_000_000_000n

export const toDate = (seconds: bigint): Date => new Date(Number(smaller(seconds * 1_000n, latestInstantMs)))

/** When and for what a payment is checked; times in seconds. */
interface Occasion {
  readonly nowSeconds: bigint
  readonly isForSettle: boolean
  /** Minimum remaining validity. */
  readonly marginSeconds: bigint
}

export const readOccasion = (clock: Pick<Clock, 'now'>, { isForSettle, marginSeconds }: Phase): Occasion => ({
  nowSeconds: BigInt(Math.floor(clock.now().getTime() / 1_000)),
  isForSettle,
  marginSeconds: BigInt(marginSeconds),
})
