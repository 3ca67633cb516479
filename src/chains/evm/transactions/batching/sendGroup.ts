import type { Hex } from 'viem'
import { AppError } from '../../../../errors.js'
import type { Clock } from '../../../../ports/clock.js'
import type { Recorder } from '../../../../ports/settlementJournal.js'
import type { UrgentShare } from '../../../../ports/signerLanes.js'
import { findUrgentAccount, spendForBatch } from '../../../common/hourlyBudget.js'
import { networkUnavailable } from '../../../common/networkUnavailable.js'
import { asHex } from '../../abi/words.js'
import type { Rpc } from '../../rpc/rpc.js'
import type { EvmNetworkSettings } from '../../settings.js'
import { encodeBuilderCodes, gasOfBuilderCodes, withBuilderCodes } from '../builderCodes.js'
import { type FeeOracle, highestGasPrice } from '../fees/fees.js'
import {
  costOf,
  createGasAllowance,
  type GasBudget,
  gasForBatch,
  type OfferedGas,
  promisedGas,
  toGwei,
} from '../fees/gasBudget.js'
import type { NoncePool, Slot } from '../lanes/noncePool.js'
import { createSendInLane, type LaneDependencies, type LaneSending } from '../lanes/sendInLane.js'
import type { ReceiptWatcher } from '../receipts/receiptWatcher.js'
import { type ContractCall, canShare, type RevertReason, type SettlementCall } from '../settlementCall.js'
import type { SignerFunds, Signers } from '../signers.js'
import {
  estimateCall,
  type Nodes,
  type PayerCalls,
  type Sending,
  withMargin,
} from '../simulation/simulate.js'
import type { BatchContract } from './batchContract.js'
import { maxGasPerTransaction, simulateBatch } from './simulateBatch.js'

export interface Submitted {
  readonly transaction: Hex
  /** Whether the transaction carries other payments too. */
  readonly isShared: boolean
  readonly sender: Hex
  readonly nonce: number
}

export interface Submission {
  readonly call: SettlementCall
  readonly recorder: Recorder
  /** Whose part of the gas budget it uses; null for none. */
  readonly caller: string | null
  /** Whether its gas was promised: then no budget refuses it. */
  readonly isPromised?: boolean
  /** As in `SettleOptions`. */
  readonly urgentFor?: string | null
  /** Aborts the wait for a slot. */
  readonly waitUntil: AbortSignal
  /** Whether it must not share a transaction. */
  readonly isUnbatched?: boolean
}

/** A submission on its way. One of the two is called, once. */
export interface OutgoingCall extends Submission {
  /** Sent, or why the simulation failed. */
  resolve(answer: Submitted | RevertReason): void
  /** Nothing was recorded. */
  reject(error: unknown): void
}

export interface SendingDependencies extends Omit<LaneDependencies, 'network' | 'chainId'>, SignerFunds {
  readonly network: EvmNetworkSettings
  readonly rpc: Rpc
  readonly payerCalls: PayerCalls
  readonly signers: Signers
  readonly fees: FeeOracle
  readonly budget: GasBudget
  readonly receipts: ReceiptWatcher
  readonly pool: NoncePool
  /** They are in order of preference: the first that is deployed and can carry a call makes it. */
  readonly batchContracts: readonly BatchContract[]
  /** The later of the process's time and the chain's. */
  readonly deadlineClock: Pick<Clock, 'now'>
  /** Minimum remaining time until a call's deadline. */
  readonly expiryMarginSeconds: number
  /** Our own code, which every transaction names; null for none. */
  readonly builderCode: string | null
  /** As in `ChainContext`. */
  readonly countInstances?: (() => number) | undefined
}

/** What became of a group: its transaction, and the calls that are still to be sent. */
interface Step {
  readonly transaction: Hex | null
  readonly groups: readonly (readonly OutgoingCall[])[]
  readonly conflicting: readonly OutgoingCall[]
}

interface Batched {
  readonly calls: readonly OutgoingCall[]
  readonly contract: BatchContract
}

/** A group without a contract has one call, in a transaction of its own. */
export type Group = Batched | { readonly calls: readonly OutgoingCall[]; readonly contract: null }

type SendGroup = (group: Group) => Promise<Step>

const done: Step = { transaction: null, groups: [], conflicting: [] }

// It applies when the node refuses to estimate the first call of a batch.
const defaultGasPerCall = 150_000n

/** Sends one group from a free slot, as far as simulation, budget and lane allow. Throws only when nothing was recorded. */
export const createSendGroup = (dependencies: SendingDependencies): SendGroup => {
  const { network, rpc, payerCalls, signers, canPay, pool, fees, budget, receipts } = dependencies
  const { deadlineClock, expiryMarginSeconds, builderCode } = dependencies
  const allowance = createGasAllowance()
  const sendInLane = createSendInLane({ ...dependencies, network: network.network, chainId: network.chainId })

  /** What is sent was simulated and claimed: no share of its payer's code refuses it now. */
  const nodesFor = ({ payer }: SettlementCall): Nodes => ({
    rpc,
    payerCalls,
    use: { requester: { name: `payer ${payer}`, site: null }, occasion: 'promised' },
  })

  /** Untrusted code is sent by the account that simulated it; other calls by any account with a free slot. */
  const findFixedSender = ({ call }: OutgoingCall): Hex | undefined => {
    if (canShare(call)) return undefined
    const account = signers.choose(call, dependencies)
    if (account === null) throw networkUnavailable(network.network)
    return account.address
  }

  /** Rejects calls that waited too long; returns the others. */
  const keepTimely = (calls: readonly OutgoingCall[]): readonly OutgoingCall[] => {
    const earliest = BigInt(Math.floor(deadlineClock.now().getTime() / 1_000) + expiryMarginSeconds)
    const cancelled = calls.filter(({ waitUntil }) => waitUntil.aborted)
    const late = calls.filter((each) => !cancelled.includes(each) && each.call.deadline <= earliest)
    rejectAll(cancelled, networkUnavailable(network.network))
    rejectAll(late, settlementTooLate(network.network, pool.expectInclusionMs()))
    return calls.filter((each) => !cancelled.includes(each) && !late.includes(each))
  }

  /** Waits for a slot while any of the calls can still use it; null when none can. */
  const takeSlot = async (
    calls: readonly OutgoingCall[],
  ): Promise<{ readonly slot: Slot; readonly timely: readonly OutgoingCall[] } | null> => {
    for (;;) {
      const timely = keepTimely(calls)
      const [first] = timely
      if (first === undefined) return null
      const slot = pool.take(findFixedSender(first))
      if (slot !== null) return { slot, timely }
      if (!signers.addresses.some(canPay)) throw networkUnavailable(network.network)
      await pool.whenSlotFreed()
    }
  }

  /** Null unless the receipt arrives while a settlement waits for it; then the limit of the transaction stays drawn. */
  const readCost = async (
    transaction: Hex,
    [first]: readonly OutgoingCall[],
    offered: OfferedGas,
  ): Promise<bigint | null> => {
    if (first === undefined) return null
    const policy = { confirmations: 1, isCrossChecked: false }
    const receipt = await receipts.wait(transaction, policy, first.waitUntil).catch(() => null)
    return receipt === null ? null : costOf(receipt, offered)
  }

  const send = async (
    calls: readonly OutgoingCall[],
    sending: Omit<LaneSending, 'recorders' | 'urgentShares' | 'isRepeatable'>,
  ): Promise<Step> => {
    // Payers decide how often gas is spent; the budget bounds how much.
    const cost = sending.gas * highestGasPrice(sending.fees)
    const shareOf = (total: bigint) => (own: readonly OutgoingCall[]) =>
      toGwei((total * countParts(own)) / countParts(calls))
    const keptFor = (own: readonly OutgoingCall[]) =>
      toGwei(
        own.reduce((gas, { call }) => gas + withMargin(promisedGas) + call.reorgGas, 0n) *
          highestGasPrice(sending.fees),
      )
    const drawn = await spendForBatch(budget, calls, shareOf(cost), keptFor)
    if ('refused' in drawn) {
      // A share of the limit can be more than was promised to a call that takes less by itself.
      const alone = calls.length > 1 ? calls.filter((each) => each.isPromised && drawn.refused.has(each)) : []
      for (const [outgoing, error] of drawn.refused) if (!alone.includes(outgoing)) outgoing.reject(error)
      const others = calls.filter((each) => !drawn.refused.has(each))
      return { ...done, groups: [others, ...alone.map((outgoing) => [outgoing])] }
    }
    const answer = await sendInLane({
      ...sending,
      recorders: calls.map(({ recorder }) => recorder),
      urgentShares: findUrgentShares(calls),
      isRepeatable: calls.some(({ call }) => call.judge.isRepeatable === true),
    })
    if ('sent' in answer) {
      const transaction = asHex(answer.sent.transaction)
      const isShared = calls.length > 1
      const sender = sending.slot.account.address
      for (const { resolve } of calls) resolve({ transaction, isShared, sender, nonce: answer.sent.nonce })
      void readCost(transaction, calls, sending).then((used) => {
        if (used !== null) drawn.refund(shareOf(used))
      })
      return { ...done, transaction }
    }
    drawn.refund()
    const isLost = ({ recorder }: OutgoingCall) => answer.lost.includes(recorder.settlementId)
    rejectAll(calls.filter(isLost), new Error('Another instance took over the settlement: nothing was sent'))
    return { ...done, groups: [calls.filter((each) => !isLost(each))] }
  }

  /** Adds the codes of who takes part; a batch carries payments of many and names only ours. */
  const named = ({ to, data }: ContractCall, gas: bigint, codes: SettlementCall['builderCodes']) => {
    if (codes === 'included') return { call: { to, data }, gas }
    const digits = encodeBuilderCodes(builderCode, codes ?? null)
    return { call: { to, data: withBuilderCodes(data, digits) }, gas: gas + gasOfBuilderCodes(digits) }
  }

  const sendAlone = async (outgoing: OutgoingCall, slot: Slot): Promise<Step> => {
    const { call } = outgoing
    const price = await fees.read()
    const estimate = await estimateCall(nodesFor(call), call, { sender: slot.account.address, fees: price })
    if ('reason' in estimate) {
      outgoing.resolve(estimate)
      return done
    }
    if (canShare(call) && call.parts === undefined) allowance.onLimit(estimate.gas, call)
    return await send([outgoing], {
      slot,
      ...named(call, estimate.gas, call.builderCodes),
      fees: price,
    })
  }

  const sendTogether = async ({ calls, contract }: Batched, slot: Slot): Promise<Step> => {
    const price = await fees.read()
    const sending = { sender: slot.account.address, fees: price }
    const gas = calls.some(({ call }) => call.parts !== undefined)
      ? await estimateTogether({ calls, contract }, sending)
      : gasForBatch(
          await findAllowance(calls, sending),
          calls.map(({ call }) => call),
        )
    const simulation = await simulateBatch(rpc, calls, { ...sending, gas, contract })
    if (simulation.result === 'divided') return { ...done, ...simulation }
    return await send(calls, { slot, ...named(simulation.batch, gas, null), fees: price })
  }

  /** Their caps where one of them reverts: the simulation finds it. */
  const estimateTogether = async ({ calls, contract }: Batched, { sender, fees: price }: Sending) => {
    const sum = (read: (call: SettlementCall) => bigint) =>
      calls.reduce((total, { call }) => total + read(call), 0n)
    const caps = sum(({ gasCap }) => gasCap)
    // Caps are generous, but not that much: it is divided, and nodes need not run it to show that.
    if (caps > 4n * maxGasPerTransaction) return caps
    const { to, data, encodeStrict } = contract.plan(calls.map(({ call }) => call))
    const request = { from: sender, to, data: encodeStrict?.() ?? data, gasPrice: highestGasPrice(price) }
    const estimate = await rpc.estimateGas(request)
    return estimate.succeeds ? withMargin(estimate.value) + sum(({ reorgGas }) => reorgGas) : caps
  }

  const findAllowance = async ([first]: readonly OutgoingCall[], sending: Sending): Promise<bigint> => {
    if (allowance.perCall === 0n && first !== undefined) {
      const estimate = await estimateCall(nodesFor(first.call), first.call, sending)
      if ('reason' in estimate) return defaultGasPerCall
      allowance.onLimit(estimate.gas, first.call)
    }
    return allowance.perCall
  }

  return async ({ calls, contract }) => {
    const taken = await takeSlot(calls)
    if (taken === null) return done
    const { slot, timely } = taken
    const [first, second] = timely
    try {
      if (first === undefined) return done
      if (second === undefined || contract === null) return await sendAlone(first, slot)
      return await sendTogether({ calls: timely, contract }, slot)
    } finally {
      slot.release()
    }
  }
}

/** By which a replacement is paid: what does not wait for it is no part of what is urgent. */
const findUrgentShares = (calls: readonly OutgoingCall[]): readonly UrgentShare[] => {
  const total = Number(countParts(calls))
  const shares = new Map<string, number>()
  for (const outgoing of calls) {
    const account = findUrgentAccount(outgoing)
    if (account === null) continue
    shares.set(account, (shares.get(account) ?? 0) + Number(countParts([outgoing])) / total)
  }
  return [...shares].map(([account, share]) => ({ account, share }))
}

const countParts = (calls: readonly OutgoingCall[]): bigint =>
  BigInt(calls.reduce((sum, { call: { parts = 1 } }) => sum + parts, 0))

export const rejectAll = (calls: readonly OutgoingCall[], error: unknown): void => {
  for (const { reject } of calls) reject(error)
}

/** The call cannot be mined before its deadline; nothing was sent. */
export const settlementTooLate = (network: string, waitMs: number): AppError =>
  new AppError('SERVICE_UNAVAILABLE', `${network} cannot settle this payment in time`, {
    operationalCode: 'SVC-3002',
    retryAfterSeconds: Math.max(1, Math.ceil(waitMs / 1_000)),
  })
