import { sleep, withSignal } from '../../../concurrency/deadline.js'
import type { Clock } from '../../../ports/clock.js'
import type { Recorder } from '../../../ports/settlementJournal.js'
import type { Network } from '../../../schemes/network.js'
import type { Outcome, Scheme, SettleOptions } from '../../../schemes/scheme.js'
import type { MinimumPayment } from '../../common/minimumPayment.js'
import { createSettlingScheme } from '../../common/settling/exactScheme.js'
import { type Sponsoring, sponsoredMark } from '../../common/sponsoring.js'
import { formatAddress } from '../encoding/address.js'
import type { DelegationCost } from '../energy/energyCosts.js'
import type { EnergyDelegator } from '../energy/energyDelegator.js'
import type { Rpc } from '../rpc/rpc.js'
import type { Prices } from '../rpc/wireShapes.js'
import type { TronNetworkSettings } from '../settings.js'
import type { SignedTransfer } from './decode.js'
import { readExactProof } from './payload.js'
import {
  createPrepare,
  describeTransfer,
  type FailedCheck,
  hasNotExpired,
  listOffered,
  toRefusal,
} from './prepare.js'
import { resolveReceipt, resolveSettlement, toJudgeQuery } from './resolve.js'
import {
  type ChainState,
  createReferenceIds,
  findFailedStateCheck,
  findShortfall,
  readChainState,
  stateRules,
} from './stateChecks.js'

interface ExactDependencies {
  readonly network: TronNetworkSettings
  readonly opened: Network
  readonly rpc: Rpc
  /** Null: payers use their own energy and TRX. */
  readonly sponsor: EnergyDelegator | null
  readonly sponsoring: Sponsoring
  readonly readPrices: () => Promise<Prices>
  readonly delegationCost: DelegationCost
  readonly expiryMarginSeconds: number
  /** From this amount, in smallest units, a second endpoint must confirm the receipt. */
  readonly crossCheckAmount: bigint
  readonly clock: Clock
  readonly minimum: MinimumPayment
}

/** TRC-20 transfers that the payer signed and we broadcast. */
export const createExactScheme = (dependencies: ExactDependencies): Scheme => {
  const { network, rpc, sponsor, sponsoring, clock, crossCheckAmount, minimum } = dependencies
  const { readPrices, delegationCost } = dependencies
  const marginMs = dependencies.expiryMarginSeconds * 1_000
  const prepare = createPrepare(network, clock)
  const extra = describeTerms(network, sponsor)
  const findReferenceId = createReferenceIds(rpc, clock)

  const identifyTransfer = (transfer: SignedTransfer): string => `${network.network}/${transfer.transaction}`
  const withEnergy = (state: ChainState) => ({ ...state, maxDelegable: sponsor?.maxDelegable() ?? 0 })
  const withoutEnergy = (state: ChainState) => ({ ...state, maxDelegable: 0 })

  /**
   * The energy itself comes back within a day. Callers without a key cost nothing to become: their payments count it at the
   * network's price.
   */
  const findSponsoredCost = (state: ChainState, caller: string | null): bigint | null => {
    if (sponsor === null) return null
    const delegation = delegationCost.find()
    if (caller !== 'anonymous') return delegation
    return delegation + BigInt(findShortfall(state)) * BigInt(state.prices.energyPrice)
  }

  const refuseBelowMinimum = (
    { transfer }: ChainState,
    terms: { readonly cost: bigint | null; readonly coversCost: boolean; readonly isForSettle: boolean },
  ) => minimum.refuse({ asset: formatAddress(transfer.contract), amount: transfer.value, ...terms })

  /** Judges a payment that needs energy of ours; null: it is delegated. */
  const refuseSponsoring = async (
    state: ChainState,
    { caller, isForSettle }: { readonly caller: string | null; readonly isForSettle: boolean },
  ): Promise<FailedCheck | null> => {
    const { owner, to } = state.transfer
    const terms = {
      cost: findSponsoredCost(state, caller),
      coversCost: caller === 'anonymous',
      isForSettle,
    }
    const [payer, payTo] = [formatAddress(owner), formatAddress(to)]
    return refuseBelowMinimum(state, terms) ?? (await sponsoring.refuse({ payer, payTo, caller }))
  }

  const needsDelegation = (state: ChainState): boolean => {
    const shortfall = findShortfall(state)
    return sponsor !== null && shortfall > 0 && shortfall <= sponsor.maxDelegable()
  }

  /** Delegates the energy that the payer lacks, if any, before anything is recorded. */
  const delegateEnergy = async (
    state: ChainState,
    { waitUntil, caller = null }: SettleOptions,
  ): Promise<void> => {
    if (sponsor === null || !needsDelegation(state)) return
    const { owner: receiver, transaction } = state.transfer
    await sponsor.delegate(
      { receiver, energy: findShortfall(state), transfer: transaction, caller },
      waitUntil,
    )
  }

  const undelegateEnergy = (transaction: string): void => sponsor?.undelegate(transaction)

  // No repeated checks: a transfer that the payer broadcast meanwhile is paid, not
  // `transaction_already_on_chain`.
  const settle = async (
    { state, isSponsored }: { readonly state: ChainState; readonly isSponsored: boolean },
    recorder: Recorder,
    options: SettleOptions,
  ): Promise<Outcome> => {
    const { waitUntil } = options
    const { transfer } = state
    const { transaction, bytes } = transfer
    const isExpired = () => hasNotExpired({ transfer, nowMs: clock.now().getTime(), marginMs })
    const expiredBefore = isExpired()
    if (expiredBefore !== null) return { state: 'failed', reason: expiredBefore.reason }
    const broken = findFailedStateCheck(isSponsored ? withEnergy(state) : withoutEnergy(state))
    if (broken !== null) return { state: 'failed', reason: broken.reason }

    if (isSponsored) await delegateEnergy(state, options)
    let outcome: Outcome | null = null
    try {
      // Delegating takes time.
      const expired = isExpired()
      if (expired !== null) return { state: 'failed', reason: expired.reason }
      await recorder.record({ transaction, bytes })
      const waiting = withSignal(waitForOutcome(transfer, waitUntil), waitUntil)
      outcome = await waiting.catch((): Outcome => ({ state: 'pending', transaction }))
      return outcome
    } finally {
      // Without a receipt a pending transfer still needs its energy; `resolve` or a later `check` undelegates it.
      if (outcome?.state !== 'pending') undelegateEnergy(transaction)
    }
  }

  /** Polls until the transaction is in a block; sends it again until an endpoint knows it. */
  const waitForOutcome = async (transfer: SignedTransfer, waitUntil: AbortSignal): Promise<Outcome> => {
    const { transaction, bytes } = transfer
    let answer = await rpc.send(bytes)
    do {
      const receipt = await rpc.findReceipt(transaction).catch(() => null)
      if (receipt !== null) {
        // Executed: before the outcome is final, because the payer could use the energy until then.
        undelegateEnergy(transaction)
        const outcome = await resolveReceipt(rpc, receipt, toJudgeQuery(transfer, crossCheckAmount)).catch(
          () => null,
        )
        if (outcome !== null && outcome.state !== 'pending') return outcome
      } else if (answer !== 'taken') answer = await rpc.send(bytes)
    } while (await sleep(network.pollIntervalMs, waitUntil))
    return { state: 'pending', transaction }
  }

  return createSettlingScheme({
    network: dependencies.opened,
    offered: listOffered(network),
    describeKindExtra: () => extra,
    describeAssetExtra: () => ({}),

    identify: ({ proof }) => {
      const reading = readExactProof(proof)
      return 'reason' in reading ? null : identifyTransfer(reading.proof.transfer)
    },

    verify: async (payment, { isAwaited, isForSettle = false, caller = null, trace }) => {
      const preparation = prepare(payment, isForSettle ? marginMs : 0, trace)
      trace?.expect([...stateRules, 'sponsoring', 'minimum_payment'])
      if ('refused' in preparation) return preparation.refused
      const { transfer } = preparation
      if (!isAwaited()) throw new Error('The caller is gone')
      const state = await readChainState(rpc, transfer, { readPrices, findReferenceId })
      const broken = findFailedStateCheck(withEnergy(state), trace)
      trace?.addFact('payer_balance', `${state.tokenBalance}`)
      if (broken !== null) return toRefusal(transfer.owner, broken)
      delegationCost.notePrice(state.prices.bandwidthPrice)
      const needsEnergy = needsDelegation(state)
      const unsponsored = needsEnergy ? await refuseSponsoring(state, { caller, isForSettle }) : null
      // A payer that is not sponsored pays its own fees where it can.
      const isUnpaid = unsponsored !== null && findFailedStateCheck(withoutEnergy(state)) !== null
      trace?.note('sponsoring', isUnpaid ? unsponsored : null)
      if (isUnpaid) {
        return toRefusal(transfer.owner, unsponsored)
      }
      const tooLow = refuseBelowMinimum(state, { cost: null, coversCost: false, isForSettle })
      trace?.note('minimum_payment', tooLow)
      if (tooLow !== null) return toRefusal(transfer.owner, tooLow)
      const isSponsored = needsEnergy && unsponsored === null
      return {
        ...describeTransfer(transfer, identifyTransfer(transfer)),
        // The recorded bytes are sufficient to resolve.
        details: isSponsored ? sponsoredMark : {},
        settle: (recorder, options) => settle({ state, isSponsored }, recorder, options),
      }
    },

    resolve: (settlement, { isReadOnly = false }) =>
      resolveSettlement(rpc, settlement, {
        crossCheckAmount,
        onOver: isReadOnly ? () => undefined : undelegateEnergy,
      }),
    send: rpc.send,
  })
}

const describeTerms = ({ tokens, knownTokens }: TronNetworkSettings, sponsor: EnergyDelegator | null) => {
  const defaultAsset = tokens[0]?.asset
  const known = knownTokens.find(({ asset }) => asset === defaultAsset)
  return {
    ...(defaultAsset === undefined ? {} : { defaultAsset }),
    ...(known === undefined ? {} : { symbol: known.symbol, decimals: known.decimals }),
    ...(sponsor === null ? {} : { gasSponsor: sponsor.address }),
  }
}
