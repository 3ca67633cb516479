import { withSignal } from '../../../concurrency/deadline.js'
import type { Clock } from '../../../ports/clock.js'
import type { Recorder } from '../../../ports/settlementJournal.js'
import type { Payment } from '../../../protocol/payment.js'
import type { Network } from '../../../schemes/network.js'
import type { Authorized, Outcome, Scheme, SettleOptions } from '../../../schemes/scheme.js'
import type { MinimumPayment } from '../../common/minimumPayment.js'
import { networkUnavailable } from '../../common/networkUnavailable.js'
import {
  createSettlingScheme,
  type OfferedTokens,
  type RecordedSettlement,
  type Resolution,
} from '../../common/settling/exactScheme.js'
import { type Sponsoring, sponsoredMark } from '../../common/sponsoring.js'
import { readAddress } from '../encoding/cells.js'
import { knownNetworks } from '../networks.js'
import type { Rpc } from '../rpc/rpc.js'
import type { TonNetworkSettings, TonSettings } from '../settings.js'
import type { JettonRegistry } from '../tokens/jettons.js'
import type { RelayQueue } from '../transactions/relayQueue.js'
import { countRelayCost, type RelayWallet, typicalNanoTon } from '../transactions/relayWallets.js'
import { writeExternalMessage } from '../wallets/walletMessage.js'
import {
  decodePayment,
  describePayment,
  expiryOf,
  formatAuthorizationId,
  formatDetails,
  identityOf,
  readDetails,
  readExactProof,
} from './decode.js'
import type { FindRequests } from './findRequests.js'
import { createPrepare, type Prepared } from './prepare.js'
import { resolveCrossChecked, type Witness, waitForOutcome } from './resolve.js'

interface ExactDependencies {
  readonly family: TonSettings
  readonly network: TonNetworkSettings
  readonly opened: Network
  readonly rpc: Rpc
  readonly jettons: JettonRegistry
  readonly findRequests: FindRequests
  /** One per endpoint: large payments require two. */
  readonly witnesses: readonly Witness[]
  readonly wallets: readonly RelayWallet[]
  readonly queue: RelayQueue
  readonly clock: Clock
  /** Whether a relay wallet can pay for the next settlement. */
  readonly canPay: (signer: string) => boolean
  /** The relay wallet with the lowest balance; receives excess TON. */
  readonly findLowestBalance: () => string | null
  readonly sponsoring: Sponsoring
  readonly minimum: MinimumPayment
}

interface Sent {
  readonly transaction: string
  readonly since: Date
  /** Rebroadcasts the recorded bytes; null if the relay queue does. */
  readonly resend: (() => void) | null
}

/** Jetton transfers, paid for by the payer's wallet or relayed by us. */
export const createExactScheme = (dependencies: ExactDependencies): Scheme => {
  const {
    family,
    network,
    rpc,
    jettons,
    findRequests,
    witnesses,
    wallets,
    queue,
    clock,
    canPay,
    sponsoring,
    minimum,
  } = dependencies
  const prepare = createPrepare({ ...dependencies, relays: wallets.map(({ address }) => address) })
  const tracing = { rpc, jettons, findRequests, witnesses, crossCheckAmount: family.crossCheckAmount }
  const watching = { ...tracing, clock, pollIntervalMs: network.pollIntervalMs }
  /** Settlements in progress: a second settlement of one authorization shares its outcome. */
  const underWay = new Map<string, Promise<Outcome>>()

  /** They name the response destination for the excess of the TON that we attach. */
  const describeTerms = () => ({
    areFeesSponsored: true,
    responseDestination: dependencies.findLowestBalance(),
  })

  const offered: OfferedTokens = {
    tokens: network.tokens,
    isOffered: (asset) => {
      const master = readAddress(asset)
      return master !== null && jettons.isOffered(master)
    },
    findDecimals: (asset) => {
      const master = readAddress(asset)
      const known = knownNetworks.flatMap(({ tokens }) => tokens)
      return (
        known.find((token) => master !== null && readAddress(token.asset)?.equals(master))?.decimals ?? null
      )
    },
  }

  const identify = ({ proof }: Payment): string | null => {
    const reading = readExactProof(proof)
    if ('problem' in reading) return null
    const decoding = decodePayment(reading.proof)
    return 'decoded' in decoding ? formatAuthorizationId(network.network, identityOf(decoding.decoded)) : null
  }

  /** Callers without a key cost nothing to become: their payments count all TON that is not certain to return. */
  const findCost = (prepared: Prepared, caller: string | null): bigint | null => {
    if (!prepared.decoded.isSponsored) return null
    return caller === 'anonymous' ? countRelayCost([prepared]) : typicalNanoTon
  }

  const refuseSponsoring = ({ payer, decoded }: Prepared, caller: string | null) =>
    sponsoring.refuse({
      payer: payer.toRawString(),
      payTo: decoded.transfer.destination.toRawString(),
      caller,
    })

  const authorize = (payment: Payment, prepared: Prepared): Authorized => {
    const identity = identityOf(prepared.decoded)
    return {
      ...describePayment(network.network, prepared.decoded),
      details: { ...formatDetails(identity), ...(prepared.decoded.isSponsored ? sponsoredMark : {}) },
      settle: (recorder, options) => settle(payment, recorder, options),
    }
  }

  /** Checks again: the wallet's seqno and balance may have changed since the verification. */
  const settle = async (payment: Payment, recorder: Recorder, options: SettleOptions): Promise<Outcome> => {
    const preparation = await prepare(payment, { marginSeconds: family.expiryMarginSeconds })
    if ('refused' in preparation) return { state: 'failed', reason: preparation.refused.reason }
    const { prepared } = preparation
    const identity = formatAuthorizationId(network.network, identityOf(prepared.decoded))
    const first = await underWay.get(identity)?.catch(() => null)
    if (first != null) return first
    const send = prepared.decoded.isSponsored ? relay : passOn
    const settling = send(prepared, recorder, options).finally(() => {
      if (underWay.get(identity) === settling) underWay.delete(identity)
    })
    underWay.set(identity, settling)
    return await settling
  }

  const watch = (prepared: Prepared, sent: Sent, waitUntil: AbortSignal): Promise<Outcome> => {
    const { decoded, payer, asset } = prepared
    const question = {
      payer,
      asset,
      transaction: sent.transaction,
      since: sent.since,
      signedHash: decoded.request.signedHash,
      payTo: decoded.transfer.destination,
      amount: decoded.transfer.amount,
      expiresAt: expiryOf(decoded),
    }
    return waitForOutcome(watching, { question, resend: sent.resend }, waitUntil)
  }

  const relay = async (
    prepared: Prepared,
    recorder: Recorder,
    { waitUntil, caller = null }: SettleOptions,
  ): Promise<Outcome> => {
    const since = clock.now()
    const { transaction, settled } = await queue.submit({ prepared, recorder, caller, waitUntil })
    await withSignal(settled, waitUntil).catch(() => undefined)
    return await watch(prepared, { transaction, since, resend: null }, waitUntil)
  }

  const passOn = async (
    prepared: Prepared,
    recorder: Recorder,
    { waitUntil }: SettleOptions,
  ): Promise<Outcome> => {
    const since = clock.now()
    const { hash: transaction, bytes } = writeExternalMessage(prepared.decoded.message)
    await recorder.record({ transaction, bytes })
    // The node's response is ignored: the trace of the message proves the outcome.
    const resend = () => void rpc.send(bytes).catch(() => undefined)
    resend()
    return await watch(prepared, { transaction, since, resend }, waitUntil)
  }

  const resolve = async (settlement: RecordedSettlement): Promise<Resolution> => {
    const { transaction } = settlement.newest
    const { wallet: payer, signedHash } = readDetails(settlement.details)
    const [asset, payTo] = [readAddress(settlement.asset), readAddress(settlement.payTo)]
    const { expiresAt, amount, createdAt: since } = settlement
    if (asset === null || payTo === null || expiresAt === null) {
      throw new Error('The settlement is not on TON')
    }
    const now = clock.now()
    const question = { transaction, payer, signedHash, asset, payTo, amount, expiresAt, since, now }
    const { outcome, isWorthSending } = await resolveCrossChecked(tracing, question, { isThorough: true })
    return {
      outcome,
      isWorthSending: isWorthSending && outcome.state === 'pending' && now < expiresAt,
    }
  }

  return createSettlingScheme({
    network: dependencies.opened,
    offered,
    describeKindExtra: describeTerms,
    describeAssetExtra: describeTerms,
    identify,

    verify: async (payment, { isAwaited, isForSettle = false, caller = null, trace }) => {
      const preparation = await prepare(payment, {
        marginSeconds: isForSettle ? family.expiryMarginSeconds : 0,
        beforeAsking: () => {
          if (!isAwaited()) throw new Error('The caller is gone')
        },
        trace,
      })
      trace?.expect(['minimum_payment', 'sponsoring'])
      if ('refused' in preparation) return preparation.refused
      const { prepared } = preparation
      const { payer, asset, decoded } = prepared
      const tooLow = minimum.refuse({
        asset: asset.toRawString(),
        amount: decoded.transfer.amount,
        cost: findCost(prepared, caller),
        coversCost: caller === 'anonymous',
        isForSettle,
      })
      trace?.note('minimum_payment', tooLow)
      const unsponsored = tooLow ?? (decoded.isSponsored ? await refuseSponsoring(prepared, caller) : null)
      if (tooLow === null) trace?.note('sponsoring', unsponsored)
      if (unsponsored !== null) return { isValid: false, payer: payer.toRawString(), ...unsponsored }
      if (decoded.isSponsored && !wallets.some(({ signer }) => canPay(signer))) {
        throw networkUnavailable(network.network)
      }
      return authorize(payment, prepared)
    },

    resolve,
    send: rpc.send,
  })
}
