import type { Hex } from 'viem'
import type { Clock } from '../../ports/clock.js'
import type { Settlement } from '../../ports/settlementJournal.js'
import type { Payment } from '../../protocol/payment.js'
import type { Authorized, Refusal, Scheme } from '../../schemes/scheme.js'
import { createMinimumPayment, type MinimumPayment } from '../common/minimumPayment.js'
import type { Rpc } from './rpc/rpc.js'
import type { EvmNetworkSettings, EvmSettings } from './settings.js'
import type { Token, TokenRegistry } from './tokens/tokenRegistry.js'
import type { TransactionEngine } from './transactions/engine.js'
import type { RevertReason, SettlementCall, SettlementJudge } from './transactions/settlementCall.js'

export interface MethodDependencies {
  readonly family: EvmSettings
  readonly network: EvmNetworkSettings
  readonly rpc: Rpc
  readonly tokens: TokenRegistry
  readonly engine: TransactionEngine
  readonly clock: Clock
  readonly minPaymentGasShare: number
}

/** What an asset transfer method of `exact` decides itself. */
export type PaymentMethod = Pick<Scheme, 'identify' | 'verify' | 'resolve'>

/** Passed every check that needs no simulation. */
interface PreparedCall {
  readonly candidate: { readonly token: Pick<Token, 'address'> }
  readonly call: SettlementCall
}

export type Preparation<Prepared> = { readonly prepared: Prepared } | { readonly refused: Refusal }

/** Structure, checks, signature form, wallet: everything except simulation. */
export interface Preparer<Prepared> {
  /** Minimum remaining validity, in seconds. */
  prepare(payment: Payment, marginSeconds: number): Promise<Preparation<Prepared>>
  /** Checks again: only the time for ECDSA, everything for contract wallets, whose state may have changed. */
  prepareAgain(prepared: Prepared, marginSeconds: number): Promise<Preparation<Prepared>>
}

interface MethodFacts<Prepared> extends Preparer<Prepared>, Pick<PaymentMethod, 'identify'> {
  /** For the journal row; `readJudge` reads it after a crash. */
  describe(prepared: Prepared): Authorized['details']
  readJudge(rpc: Rpc, settlement: Settlement): SettlementJudge
}

/** Verification and settlement from a prepared call on: the same for every method. */
export const createPaymentMethod = <Prepared extends PreparedCall>(
  { family, rpc, engine }: Pick<MethodDependencies, 'family' | 'rpc' | 'engine'>,
  minimum: MinimumPayment,
  { prepare, prepareAgain, identify, describe, readJudge }: MethodFacts<Prepared>,
): PaymentMethod => {
  const authorize = (prepared: Prepared): Authorized => {
    const { payer, id, amount, deadline } = prepared.call
    return {
      isValid: true,
      payer,
      authorizationId: id,
      authorizedAmount: amount,
      amount,
      expiresAt: toDate(deadline),
      details: describe(prepared),
      settle: async (recorder, options) => {
        const preparation = await prepareAgain(prepared, family.expiryMarginSeconds)
        if ('refused' in preparation) return { state: 'failed', reason: preparation.refused.reason }
        return await engine.settle(preparation.prepared.call, recorder, options)
      },
    }
  }

  return {
    identify,
    verify: async (payment, { isAwaited, isForSettle = false }) => {
      const preparation = await prepare(payment, isForSettle ? family.expiryMarginSeconds : 0)
      if ('refused' in preparation) return preparation.refused
      if (!isAwaited()) throw new Error('The caller is gone')
      const { call, candidate } = preparation.prepared
      const tooLow = minimum.refuse({
        asset: candidate.token.address,
        amount: call.amount,
        cost: engine.findTypicalCost(),
        isForSettle,
      })
      if (tooLow !== null) return toRefusal(call.payer, tooLow)
      const reason = await engine.simulate(call)
      return reason === null ? authorize(preparation.prepared) : toRefusal(call.payer, reason)
    },
    resolve: async (settlement, signal) =>
      await engine.resolve(settlement, readJudge(rpc, settlement), signal),
  }
}

export const createEvmMinimum = ({
  network,
  minPaymentGasShare,
}: Pick<MethodDependencies, 'network' | 'minPaymentGasShare'>): MinimumPayment =>
  createMinimumPayment({
    network: network.network,
    settings: network.minimumPayment,
    gasShare: minPaymentGasShare,
    // Of the native coin of every EVM network.
    coinDecimals: 18,
  })

export const toRefusal = (payer: Hex | null, { reason, message }: RevertReason): Refusal =>
  message === undefined ? { isValid: false, payer, reason } : { isValid: false, payer, reason, message }

// The latest instant that a Date can hold; authorizations may be valid for longer.
const latestInstantMs = 8_640_000_000_000_000n

const toDate = (seconds: bigint): Date => {
  const instantMs = seconds * 1_000n
  return new Date(Number(instantMs < latestInstantMs ? instantMs : latestInstantMs))
}
