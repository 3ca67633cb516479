import { sleep, withSignal } from '../../../deadline.js'
import type { Clock } from '../../../ports/clock.js'
import type { Payment } from '../../../protocol/payment.js'
import type { Outcome, Scheme } from '../../../schemes/scheme.js'
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

/** What `exact` needs on one TRON network. */
export interface ExactDependencies {
  readonly network: TronNetworkSettings
  readonly rpc: Rpc
  /** Null: payers use their own energy and TRX. */
  readonly sponsor: EnergyDelegator | null
  readonly expiryMarginSeconds: number
  /** From this value on, in smallest units, a second node must confirm the receipt. */
  readonly crossCheckAmount: bigint
  readonly clock: Clock
}

/** `exact` on one TRON network: a TRC-20 transfer that the payer signed and we hand to the nodes. */
export const createExactScheme = (dependencies: ExactDependencies): Scheme => {
  const { network, rpc, sponsor, clock, crossCheckAmount } = dependencies
  const marginMs = dependencies.expiryMarginSeconds * 1_000
  const offered = new Set(network.tokens.map(readAddress).filter((token) => token !== null))
  const prepare = createPrepare(network, offered, clock)
  const readPrices = createPriceCache(rpc, clock)
  // One request is verified and then settled: what the chain said a moment ago is good enough.
  const known = new WeakMap<Payment, ChainState>()

  const identifyTransfer = (transfer: SignedTransfer): string => `${network.network}/${transfer.transaction}`
  const help = () => ({ maxDelegable: sponsor?.maxDelegable() ?? 0 })

  /** Lends what the payer lacks, before anything is recorded; null where he lacks nothing. */
  const lendEnergy = async (facts: ChainState, signal: AbortSignal): Promise<Undelegate | null> => {
    const shortfall = findShortfall(facts)
    if (sponsor === null || shortfall === 0 || shortfall > sponsor.maxDelegable()) {
      return null
    }
    return await sponsor.delegate(facts.transfer.owner, shortfall, signal)
  }

  /** Asks until the transaction stands in a block, hands it out again until somebody has it. */
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

    identify: ({ proof }) => {
      const reading = readExactProof(proof)
      return 'reason' in reading ? null : identifyTransfer(reading.proof.transfer)
    },

    verify: async (payment, { isAwaited, precedesSettle }) => {
      const preparation = prepare(payment, 0)
      if ('refused' in preparation) return preparation.refused
      const { transfer } = preparation
      if (!isAwaited()) throw new Error('Nobody waits for the verdict any more')
      const facts = await readChainState(rpc, transfer, readPrices)
      const broken = findFailedStateCheck(facts, help())
      if (broken !== null) return toRefusal(transfer, broken)
      if (precedesSettle) known.set(payment, facts)
      return {
        isValid: true,
        payer: formatAddress(transfer.owner),
        authorizationId: identifyTransfer(transfer),
        amount: transfer.value,
        expiresAt: new Date(transfer.expiration),
      }
    },

    settle: async (payment, recorder, { waitUntil }) => {
      const preparation = prepare(payment, marginMs)
      if ('refused' in preparation) return { state: 'failed', reason: preparation.refused.reason }
      const { transfer } = preparation
      const { transaction, bytes } = transfer
      const facts = known.get(payment) ?? (await readChainState(rpc, transfer, readPrices))
      const broken = findFailedStateCheck(facts, help())
      if (broken !== null) return { state: 'failed', reason: broken.reason }

      const takeBack = await lendEnergy(facts, waitUntil)
      let outcome: Outcome | null = null
      try {
        // Lending took its time.
        const expired = hasNotExpired({ transfer, nowMs: clock.now().getTime(), marginMs })
        if (expired !== null) return { state: 'failed', reason: expired.reason }
        await recorder.record({ transaction, bytes })
        const waiting = withSignal(waitForOutcome(transfer, waitUntil), waitUntil)
        outcome = await waiting.catch((): Outcome => ({ state: 'pending', transaction }))
        return outcome
      } finally {
        // What is still on its way needs its energy; a later round takes it back.
        if (outcome?.state !== 'pending') takeBack?.()
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
