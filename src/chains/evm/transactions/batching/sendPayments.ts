import type { Hex } from 'viem'
import { sleep } from '../../../../deadline.js'
import type { Clock } from '../../../../ports/clock.js'
import type { RateLimiter } from '../../../../ports/rateLimiter.js'
import type { Recorder } from '../../../../ports/settlementJournal.js'
import { networkUnavailable } from '../../../common/networkUnavailable.js'
import { asHex } from '../../abi/hex.js'
import type { RevertReason } from '../../exact/explainRevert.js'
import type { Prepared } from '../../exact/prepare.js'
import type { Rpc } from '../../rpc/rpc.js'
import type { EvmNetworkSettings } from '../../settings.js'
import { type FeeOracle, highestGasPrice } from '../fees/fees.js'
import { createGasAllowance, gasForBatch } from '../fees/gasAllowance.js'
import { spendGasBudget } from '../fees/gasBudget.js'
import type { NoncePool, Slot } from '../lanes/noncePool.js'
import { createSendInLane, type LaneDependencies, type Sending } from '../lanes/sendInLane.js'
import type { ReceiptWatcher } from '../receipts/receiptWatcher.js'
import type { Signers } from '../signers.js'
import type { MulticallPresence } from '../simulation/multicallPresence.js'
import { estimateTransfer, type Sending as SimulatedSending } from '../simulation/simulate.js'
import { settlementTooLate } from '../tooLate.js'
import { simulateBatch } from './simulateBatch.js'

/** A payment that was sent, or may have been. */
export interface Submitted {
  readonly transaction: Hex
  /** Whether the transaction carries other payments too. */
  readonly isShared: boolean
  /** Whose transaction it is, and its number. */
  readonly sender: Hex
  readonly nonce: number
}

/** A payment on its way into a transaction. */
export interface Outgoing {
  readonly prepared: Prepared
  readonly recorder: Recorder
  readonly isUnbatched: boolean
  /** Ends the wait for a place in a transaction. */
  readonly waitUntil: AbortSignal
  /** Called once with what was sent, or with why the chain would refuse it. */
  resolve(answer: Submitted | RevertReason): void
  /** Called once when nothing was recorded. */
  reject(error: unknown): void
}

/** Sends payments, as many as possible in one transaction; each hears of its own fate. Never rejects. */
export type SendPayments = (payments: readonly Outgoing[]) => Promise<void>

/** What sending payments needs. */
export interface SendPaymentsDependencies extends Omit<LaneDependencies, 'network' | 'chainId'> {
  readonly network: EvmNetworkSettings
  readonly rpc: Rpc
  readonly signers: Signers
  readonly canPay: (address: Hex) => boolean
  readonly fees: FeeOracle
  readonly limiter: RateLimiter
  readonly receipts: ReceiptWatcher
  readonly pool: NoncePool
  readonly multicall: MulticallPresence
  readonly clock: Clock
  /** An authorization must live this much longer than now to be sent. */
  readonly expiryMarginSeconds: number
}

/** What came of some payments, and what is to be tried next. */
interface Step {
  readonly transaction: Hex | null
  readonly groups: readonly (readonly Outgoing[])[]
  readonly conflicting: readonly Outgoing[]
}

const done: Step = { transaction: null, groups: [], conflicting: [] }

// For when the node will not estimate the payment that it was asked about.
const defaultGasPerPayment = 150_000n

// How long a payment waits for another one of its payer that spoils it.
const maxConflictWaitMs = 10_000

/** Builds what sends payments on one network. */
export const createSendPayments = (dependencies: SendPaymentsDependencies): SendPayments => {
  const { network, rpc, signers, canPay, pool, fees, limiter, receipts, multicall } = dependencies
  const { clock, expiryMarginSeconds } = dependencies
  const allowance = createGasAllowance()
  const sendInLane = createSendInLane({ ...dependencies, network: network.network, chainId: network.chainId })

  /** Strangers' code is run by the account with which it was simulated; plain transfers by any that has room. */
  const findFixedSender = ({ prepared: { transfer, candidate } }: Outgoing): Hex | undefined => {
    if (transfer.isBatchable) return undefined
    const account = signers.pick(candidate.authorization.nonce, canPay)
    if (account === null) throw networkUnavailable(network.network)
    return account.address
  }

  /** Refuses whoever has waited too long, and answers the others. */
  const keepTimely = (payments: readonly Outgoing[]): readonly Outgoing[] => {
    const margin = Math.floor(clock.now().getTime() / 1_000) + expiryMarginSeconds
    const isLate = ({ prepared: { candidate } }: Outgoing) =>
      candidate.authorization.validBefore <= BigInt(margin)
    const gaveUp = payments.filter(({ waitUntil }) => waitUntil.aborted)
    const late = payments.filter((payment) => !gaveUp.includes(payment) && isLate(payment))
    rejectAll(gaveUp, networkUnavailable(network.network))
    rejectAll(late, settlementTooLate(network.network, pool.expectInclusionMs()))
    return payments.filter((payment) => !gaveUp.includes(payment) && !late.includes(payment))
  }

  /** Waits for a place for those who still wait themselves; null when nobody does any more. */
  const takePlace = async (
    payments: readonly Outgoing[],
  ): Promise<{ readonly place: Slot; readonly timely: readonly Outgoing[] } | null> => {
    for (;;) {
      const timely = keepTimely(payments)
      const [first] = timely
      if (first === undefined) return null
      const place = pool.take(findFixedSender(first))
      if (place !== null) return { place, timely }
      if (!signers.addresses.some(canPay)) throw networkUnavailable(network.network)
      await pool.whenSlotFreed()
    }
  }

  const send = async (payments: readonly Outgoing[], sending: Omit<Sending, 'recorders'>): Promise<Step> => {
    await spendGasBudget(limiter, network, sending.gas * highestGasPrice(sending.fees))
    const answer = await sendInLane({ ...sending, recorders: payments.map(({ recorder }) => recorder) })
    if ('sent' in answer) {
      const transaction = asHex(answer.sent.transaction)
      const isShared = payments.length > 1
      const sender = sending.place.account.address
      for (const payment of payments) {
        payment.resolve({ transaction, isShared, sender, nonce: answer.sent.nonce })
      }
      return { ...done, transaction }
    }
    const isLost = ({ recorder }: Outgoing) => answer.lost.includes(recorder.settlementId)
    rejectAll(payments.filter(isLost), new Error('The settlement was taken over: nothing is sent for it'))
    return { ...done, groups: [payments.filter((payment) => !isLost(payment))] }
  }

  const sendAlone = async (payment: Outgoing, place: Slot): Promise<Step> => {
    const { prepared } = payment
    const price = await fees.read()
    const sending = { sender: place.account.address, fees: price }
    const estimate = await estimateTransfer(rpc, prepared, sending)
    if ('reason' in estimate) {
      payment.resolve(estimate)
      return done
    }
    const { to, data, isBatchable } = prepared.transfer
    if (isBatchable) allowance.onEstimate(estimate.gas)
    return await send([payment], { place, call: { to, data }, gas: estimate.gas, fees: price })
  }

  const sendTogether = async (payments: readonly Outgoing[], place: Slot): Promise<Step> => {
    const price = await fees.read()
    const sending = { sender: place.account.address, fees: price }
    const gas = gasForBatch(await findAllowance(payments, sending), payments.length)
    const rehearsal = await simulateBatch(rpc, payments, { ...sending, gas })
    if (rehearsal.result === 'divided') return { ...done, ...rehearsal }
    return await send(payments, { place, call: rehearsal.call, gas, fees: price })
  }

  /** How much gas each payment of a batch gets. */
  const findAllowance = async ([first]: readonly Outgoing[], sending: SimulatedSending): Promise<bigint> => {
    if (allowance.perPayment === 0n && first !== undefined) {
      const estimate = await estimateTransfer(rpc, first.prepared, sending)
      if ('reason' in estimate) return defaultGasPerPayment
      allowance.onEstimate(estimate.gas)
    }
    return allowance.perPayment
  }

  const take = async (payments: readonly Outgoing[]): Promise<Step> => {
    const taken = await takePlace(payments)
    if (taken === null) return done
    const { place, timely } = taken
    const [first, second] = timely
    try {
      if (first === undefined) return done
      return await (second === undefined ? sendAlone(first, place) : sendTogether(timely, place))
    } finally {
      place.release()
    }
  }

  const sendAfter = async (transaction: Hex | null, payment: Outgoing): Promise<void> => {
    if (transaction !== null) {
      const policy = { confirmations: 1, isCrossChecked: false }
      const isMined = receipts.wait(transaction, policy, payment.waitUntil)
      await Promise.race([isMined, sleep(maxConflictWaitMs, payment.waitUntil)])
    }
    await attempt([payment])
  }

  /** Sends what can be sent and tells everyone; answers the transaction of the first group. */
  const attempt = async (payments: readonly Outgoing[]): Promise<Hex | null> => {
    try {
      const { transaction, groups, conflicting } = await take(payments)
      const [first] = await Promise.all(groups.map(attempt))
      await Promise.all(conflicting.map((payment) => sendAfter(first ?? null, payment)))
      return transaction ?? first ?? null
    } catch (error) {
      rejectAll(payments, error)
      return null
    }
  }

  return async (payments) => {
    const canShare = payments.length > 1 && (await multicall.ask())
    const together = canShare ? payments.filter(isBatchable) : []
    const alone = payments.filter((payment) => !together.includes(payment))
    await Promise.all([attempt(together), ...alone.map((payment) => attempt([payment]))])
  }
}

const isBatchable = ({ prepared, isUnbatched }: Outgoing): boolean =>
  prepared.transfer.isBatchable && !isUnbatched

const rejectAll = (payments: readonly Outgoing[], error: unknown): void => {
  for (const payment of payments) payment.reject(error)
}
