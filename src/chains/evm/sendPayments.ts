import type { Hex } from 'viem'
import type { PrivateKeyAccount } from 'viem/accounts'
import type { RateLimiter } from '../../ports/rateLimiter.js'
import type { Recorder } from '../../ports/settlementJournal.js'
import type { Diagnosis } from './diagnose.js'
import { type FeeOracle, highestGasPrice } from './fees.js'
import { createGasAllowance, gasForBatch } from './gasAllowance.js'
import { spendGasBudget } from './gasBudget.js'
import { asHex } from './hex.js'
import type { InclusionTimes } from './inclusionTimes.js'
import type { LanePool } from './lanePool.js'
import type { MulticallPresence } from './multicallPresence.js'
import { isNotSettling, notSettling } from './notSettling.js'
import type { Prepared } from './prepare.js'
import type { ReceiptWatcher } from './receiptWatcher.js'
import { rehearseBatch } from './rehearseBatch.js'
import type { Rpc } from './rpc.js'
import { createSendInLane, type LaneParts, type Sending } from './sendInLane.js'
import type { EvmNetworkSettings } from './settings.js'
import type { Signers } from './signers.js'
import { estimateTransfer, type Sending as SimulatedSending } from './simulate.js'

/** A payment that was sent, or may have been. */
export interface Submitted {
  readonly transaction: Hex
  /** Whether the transaction carries other payments too. */
  readonly isShared: boolean
}

/** A payment on its way into a transaction. */
export interface Outgoing {
  readonly prepared: Prepared
  readonly recorder: Recorder
  readonly goesAlone: boolean
  /** Called once with what was sent, or with why the chain would refuse it. */
  resolve(answer: Submitted | Diagnosis): void
  /** Called once when nothing was recorded. */
  reject(error: unknown): void
}

/** Sends payments, as many as possible in one transaction; each hears of its own fate. Never rejects. */
export type SendPayments = (payments: readonly Outgoing[]) => Promise<void>

/** What sending payments needs. */
export interface SendPaymentsParts extends Omit<LaneParts, 'network' | 'chainId'> {
  readonly network: EvmNetworkSettings
  readonly rpc: Rpc
  readonly signers: Signers
  readonly canPay: (address: Hex) => boolean
  readonly fees: FeeOracle
  readonly limiter: RateLimiter
  readonly receipts: ReceiptWatcher
  readonly pool: LanePool
  readonly inclusion: InclusionTimes
  readonly multicall: MulticallPresence
}

// Ethereum refuses transactions of more than 16,777,216 gas (EIP-7825); half of that finds room in a block sooner.
const maxGasPerTransaction = 8_000_000n

// For when the node will not estimate the payment that it was asked about.
const defaultGasPerPayment = 150_000n

// How long a payment waits for another one of its payer that spoils it.
const longestConflictMs = 10_000

/** Builds what sends payments on one network. */
export const createSendPayments = (parts: SendPaymentsParts): SendPayments => {
  const { network, rpc, signers, canPay, pool, fees, limiter, receipts, inclusion, multicall } = parts
  const allowance = createGasAllowance()
  const sendInLane = createSendInLane({ ...parts, network: network.network, chainId: network.chainId })

  /** Strangers' code is run by the account with which it was simulated; plain transfers by any that has room. */
  const senderFor = ({ transfer, candidate }: Prepared): PrivateKeyAccount => {
    const account =
      (transfer.isPlain ? pool.choose() : null) ?? signers.pick(candidate.authorization.nonce, canPay)
    if (account === null) throw notSettling(network.network)
    return account
  }

  const send = async (
    payments: readonly Outgoing[],
    sending: Omit<Sending, 'recorders'>,
  ): Promise<Hex | null> => {
    await spendGasBudget(limiter, network, sending.gas * highestGasPrice(sending.fees))
    const answer = await sendInLane({ ...sending, recorders: payments.map(({ recorder }) => recorder) })
    if ('sent' in answer) {
      const transaction = asHex(answer.sent.transaction)
      inclusion.noteSent(transaction, { address: sending.account.address, nonce: answer.sent.nonce })
      for (const payment of payments) payment.resolve({ transaction, isShared: payments.length > 1 })
      return transaction
    }
    const isLost = ({ recorder }: Outgoing) => answer.lost.includes(recorder.settlementId)
    rejectAll(payments.filter(isLost), new Error('The settlement was taken over: nothing is sent for it'))
    return await sendTogether(payments.filter((payment) => !isLost(payment)))
  }

  const sendAlone = async (payment: Outgoing): Promise<Hex | null> => {
    const { prepared } = payment
    const account = senderFor(prepared)
    const price = await fees.read()
    const estimate = await estimateTransfer(rpc, prepared, { sender: account.address, fees: price })
    if ('reason' in estimate) {
      payment.resolve(estimate)
      return null
    }
    const { to, data, isPlain } = prepared.transfer
    if (isPlain) allowance.noteEstimate(estimate.gas)
    return await send([payment], { account, call: { to, data }, gas: estimate.gas, fees: price })
  }

  const sendTogether = async (payments: readonly Outgoing[]): Promise<Hex | null> => {
    const [first, second] = payments
    if (first === undefined) return null
    if (second === undefined) return await sendAlone(first)
    const account = senderFor(first.prepared)
    const price = await fees.read()
    const sending = { sender: account.address, fees: price }
    const gas = gasForBatch(await gasPerPayment(first, sending), payments.length)
    if (gas > maxGasPerTransaction) return await sendHalves(payments)
    const rehearsal = await rehearseBatch(rpc, payments, { ...sending, gas })
    if (rehearsal.result === 'passes') {
      return await send(payments, { account, call: rehearsal.call, gas, fees: price })
    }
    const { together, alone, conflicting } = rehearsal
    const [transaction] = await Promise.all([
      attempt(together),
      ...alone.map((payment) => attempt([payment])),
    ])
    if (conflicting.length > 0) {
      await waitUntilMined(transaction)
      await Promise.all(conflicting.map((payment) => attempt([payment])))
    }
    return transaction
  }

  const gasPerPayment = async ({ prepared }: Outgoing, sending: SimulatedSending): Promise<bigint> => {
    if (allowance.perPayment === 0n) {
      const estimate = await estimateTransfer(rpc, prepared, sending)
      if ('reason' in estimate) return defaultGasPerPayment
      allowance.noteEstimate(estimate.gas)
    }
    return allowance.perPayment
  }

  const sendHalves = async (payments: readonly Outgoing[]): Promise<Hex | null> => {
    const middle = Math.ceil(payments.length / 2)
    const [transaction] = await Promise.all([
      attempt(payments.slice(0, middle)),
      attempt(payments.slice(middle)),
    ])
    return transaction
  }

  const waitUntilMined = async (transaction: Hex | null): Promise<void> => {
    if (transaction === null) return
    const policy = { confirmations: 1, isCrossChecked: false }
    await receipts.wait(transaction, policy, AbortSignal.timeout(longestConflictMs))
  }

  const attempt = async (payments: readonly Outgoing[]): Promise<Hex | null> => {
    try {
      return await sendTogether(payments)
    } catch (error) {
      // An account that cannot pay for a large batch may still pay for a small one.
      if (payments.length > 1 && isNotSettling(error)) return await sendHalves(payments)
      rejectAll(payments, error)
      return null
    }
  }

  return async (payments) => {
    const canShare = payments.length > 1 && (await multicall.ask())
    const together = canShare ? payments.filter(isShareable) : []
    const alone = payments.filter((payment) => !together.includes(payment))
    await Promise.all([attempt(together), ...alone.map((payment) => attempt([payment]))])
  }
}

const isShareable = ({ prepared, goesAlone }: Outgoing): boolean => prepared.transfer.isPlain && !goesAlone

const rejectAll = (payments: readonly Outgoing[], error: unknown): void => {
  for (const payment of payments) payment.reject(error)
}
