import { sleep, withSignal } from '../../../concurrency/deadline.js'
import type { Clock } from '../../../ports/clock.js'
import type { Recorder } from '../../../ports/settlementJournal.js'
import type { Outcome, Scheme, SettleOptions } from '../../../schemes/scheme.js'
import { formatAddress, readAddress } from '../encoding/address.js'
import type { EnergyDelegator, Undelegate } from '../energy/energyDelegator.js'
import { createPriceCache } from '../rpc/prices.js'
import type { Rpc } from '../rpc/rpc.js'
import type { TronNetworkSettings } from '../settings.js'
import { getBlockStatus } from '../transactions/blockStatus.js'
import { type ChainState, readChainState } from './chainState.js'
import { hasNotExpired } from './checks.js'
import type { SignedTransfer } from './decode.js'
import { resolveReceipt, toJudgeQuery } from './judge.js'
import { readExactProof } from './payload.js'
import { createPrepare, toRefusal } from './prepare.js'
import { resolveSettlement } from './resolve.js'
import { findFailedStateCheck, findShortfall } from './stateChecks.js'

export interface ExactDependencies {
  readonly network: TronNetworkSettings
  readonly rpc: Rpc
  /** Null: payers use their own energy and TRX. */
  readonly sponsor: EnergyDelegator | null
  readonly expiryMarginSeconds: number
  /** From this amount, in smallest units, a second endpoint must confirm the receipt. */
  readonly crossCheckAmount: bigint
  readonly clock: Clock
}

/** TRC-20 transfers that the payer signed and we broadcast. */
export const createExactScheme = (dependencies: ExactDependencies): Scheme => {
  const { network, rpc, sponsor, clock, crossCheckAmount } = dependencies
  const marginMs = dependencies.expiryMarginSeconds * 1_000
  const offered = new Set(network.tokens.map(readAddress).filter((token) => token !== null))
  const prepare = createPrepare(network, offered, clock)
  const readPrices = createPriceCache(rpc, clock)

  const identifyTransfer = (transfer: SignedTransfer): string => `${network.network}/${transfer.transaction}`
  const withEnergy = (state: ChainState) => ({ ...state, maxDelegable: sponsor?.maxDelegable() ?? 0 })

  /** Delegates the energy that the payer lacks, before anything is recorded; null if none is needed. */
  const delegateEnergy = async (
    state: ChainState,
    { waitUntil, caller = null }: SettleOptions,
  ): Promise<Undelegate | null> => {
    const shortfall = findShortfall(state)
    if (sponsor === null || shortfall === 0 || shortfall > sponsor.maxDelegable()) {
      return null
    }
    return await sponsor.delegate({ receiver: state.transfer.owner, energy: shortfall, caller }, waitUntil)
  }

  // No repeated checks: a transfer that the payer broadcast meanwhile is paid, not
  // `transaction_already_on_chain`.
  const settle = async (state: ChainState, recorder: Recorder, options: SettleOptions): Promise<Outcome> => {
    const { waitUntil } = options
    const { transfer } = state
    const { transaction, bytes } = transfer
    const isExpired = () => hasNotExpired({ transfer, nowMs: clock.now().getTime(), marginMs })
    const expiredBefore = isExpired()
    if (expiredBefore !== null) return { state: 'failed', reason: expiredBefore.reason }
    const broken = findFailedStateCheck(withEnergy(state))
    if (broken !== null) return { state: 'failed', reason: broken.reason }

    const undelegate = await delegateEnergy(state, options)
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
      // A pending transfer still needs its energy; a later `check` undelegates it.
      if (outcome?.state !== 'pending') undelegate?.()
    }
  }

  /** Polls until the transaction is in a block; sends it again until an endpoint knows it. */
  const waitForOutcome = async (transfer: SignedTransfer, waitUntil: AbortSignal): Promise<Outcome> => {
    const { transaction, bytes } = transfer
    let answer = await rpc.send(bytes)
    do {
      const receipt = await rpc.findReceipt(transaction).catch(() => null)
      if (receipt !== null) {
        const outcome = await resolveReceipt(rpc, receipt, toJudgeQuery(transfer, crossCheckAmount)).catch(
          () => null,
        )
        if (outcome !== null && outcome.state !== 'pending') return outcome
      } else if (answer !== 'taken') answer = await rpc.send(bytes)
    } while (await sleep(network.pollIntervalMs, waitUntil))
    return { state: 'pending', transaction }
  }

  return {
    kind: { scheme: 'exact', network: network.network, extra: describeKind(network, sponsor) },
    signers: sponsor === null ? [] : [sponsor.address],

    isAddress: (text) => readAddress(text) !== null,

    identify: ({ proof }) => {
      const reading = readExactProof(proof)
      return 'reason' in reading ? null : identifyTransfer(reading.proof.transfer)
    },

    verify: async (payment, { isAwaited, isForSettle = false }) => {
      const preparation = prepare(payment, isForSettle ? marginMs : 0)
      if ('refused' in preparation) return preparation.refused
      const { transfer } = preparation
      if (!isAwaited()) throw new Error('The caller is gone')
      const state = await readChainState(rpc, transfer, readPrices)
      const broken = findFailedStateCheck(withEnergy(state))
      if (broken !== null) return toRefusal(transfer.owner, broken)
      return {
        isValid: true,
        payer: formatAddress(transfer.owner),
        authorizationId: identifyTransfer(transfer),
        authorizedAmount: transfer.value,
        amount: transfer.value,
        expiresAt: new Date(transfer.expiration),
        // The recorded bytes are sufficient to resolve.
        details: {},
        settle: (recorder, options) => settle(state, recorder, options),
      }
    },

    resolve: (settlement, signal) => withSignal(resolveSettlement(rpc, settlement, crossCheckAmount), signal),

    getBlockStatus: (block, signal) => withSignal(getBlockStatus(rpc.endpoints, block), signal),
  }
}

const describeKind = ({ tokens, knownTokens }: TronNetworkSettings, sponsor: EnergyDelegator | null) => {
  const [defaultAsset] = tokens
  const known = knownTokens.find(({ contract }) => contract === defaultAsset)
  return {
    ...(defaultAsset === undefined ? {} : { defaultAsset }),
    ...(known === undefined ? {} : { symbol: known.symbol, decimals: known.decimals }),
    ...(sponsor === null ? {} : { gasSponsor: sponsor.address }),
  }
}
