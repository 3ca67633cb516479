import { withSignal } from '../../../concurrency/deadline.js'
import type { Clock } from '../../../ports/clock.js'
import type { Promisee } from '../../../ports/holds.js'
import type { BlockReference, Recorder, Settlement } from '../../../ports/settlementJournal.js'
import type { BlockStatus } from '../../../schemes/network.js'
import type { Outcome, ResolveOptions, SettleOptions } from '../../../schemes/scheme.js'
import { networkUnavailable } from '../../common/networkUnavailable.js'
import type { ContractPresence } from '../rpc/presence.js'
import type { UntrustedUse } from '../rpc/untrustedCalls.js'
import { type BatchContract, createMulticallBatch, isBatch } from './batching/batchContract.js'
import type { SendingDependencies } from './batching/sendGroup.js'
import { maxInFlight } from './lanes/noncePool.js'
import { getBlockStatus, type ReceiptPolicy } from './receipts/findReceipt.js'
import { type ResolvePolicy, resolveSettlement } from './resolve.js'
import { createSendAgain } from './sendAgain.js'
import { createSettle } from './settle.js'
import type { RevertReason, SettlementCall, SettlementJudge } from './settlementCall.js'
import { typicalGas } from './signers.js'
import { estimateCall, type Sending, type Simulation } from './simulation/simulate.js'
import { createSimulator } from './simulation/simulator.js'
import { createSubmit } from './submit.js'

// Promised settlements may take half of all lane slots; the other half is left to new payments.
const promisedShare = 0.5

export interface TransactionEngine {
  /** The accounts that send. */
  readonly signers: readonly string[]
  /** What a typical settlement costs at the last known price, in wei; null before the first reading. */
  findTypicalCost(): bigint | null
  /** The same at the current price, which is read if the last reading is old. */
  readTypicalCost(): Promise<bigint>
  /** Calls that can be mined in a second beside other work, each in a transaction of its own, where blocks take so long. */
  countPerSecond(blockSeconds: number): number
  /** Simulates the call of `settle` in the latest state. */
  simulate(call: SettlementCall, use: UntrustedUse): Promise<Simulation>
  /** Why the node's estimate of the call refuses it: it fails, or takes more gas than it is worth. Null: nothing. */
  findCostRefusal(call: SettlementCall, use: UntrustedUse): Promise<RevertReason | null>
  /** As `Authorized.checkPromise`. */
  checkPromise(promisee: Promisee): Promise<(isStored: boolean) => void>
  /** Throws only when nothing was recorded; afterwards anything unproven is `pending`. */
  settle(call: SettlementCall, recorder: Recorder, options: SettleOptions): Promise<Outcome>
  /** As `Scheme.resolve`. */
  resolve(
    settlement: Settlement,
    judge: SettlementJudge,
    signal: AbortSignal,
    options?: ResolveOptions,
  ): Promise<Outcome>
  getBlockStatus(block: BlockReference, signal: AbortSignal): Promise<BlockStatus>
  /** Calls that wait for a place in a transaction. */
  countQueued(): number
}

interface EngineDependencies extends SendingDependencies {
  readonly clock: Clock
  /** Whether the network has Multicall3. */
  readonly multicall: ContractPresence
  /** Those of the schemes, in order of preference; Multicall3 makes what they cannot. */
  readonly batchContracts: readonly BatchContract[]
  /** From this amount on, a second endpoint must confirm the receipt. */
  readonly crossCheckAmount: bigint
  /** The highest gas limit of any call. */
  readonly highestGasCap: bigint
}

export const createTransactionEngine = (dependencies: EngineDependencies): TransactionEngine => {
  const { network, rpc, payerCalls, signers, canPay, fees, multicall, clock, crossCheckAmount } = dependencies
  const { expiryMarginSeconds, budget, pool } = dependencies
  const simulator = createSimulator(dependencies)
  const batchContracts = [...dependencies.batchContracts, createMulticallBatch(multicall)]
  const submit = createSubmit({ ...dependencies, batchContracts })
  const settle = createSettle({ ...dependencies, submit })
  const sendAgain = createSendAgain({ ...dependencies, submit, batchContracts })

  const chooseSending = async (call: SettlementCall): Promise<Sending> => {
    const sender = signers.choose(call, dependencies)
    if (sender === null) throw networkUnavailable(network.network)
    return { sender: sender.address, fees: await fees.read() }
  }

  const policyFor = (amount: bigint): ReceiptPolicy => ({
    confirmations: network.confirmations,
    isCrossChecked: amount >= crossCheckAmount,
  })

  return {
    signers: signers.addresses,
    findTypicalCost: () => {
      const price = fees.findPrice()
      return price === null ? null : price * typicalGas
    },
    readTypicalCost: async () => (await fees.refresh()).price * typicalGas,
    countPerSecond: (blockSeconds) => {
      const lanes = Math.max(1, signers.addresses.filter(canPay).length)
      const inclusionMs = Math.max(pool.expectInclusionMs(), blockSeconds * 1_000)
      return (lanes * maxInFlight * 1_000 * promisedShare) / inclusionMs
    },
    simulate: async (call, use) => await simulator.simulate(call, await chooseSending(call), use),
    findCostRefusal: async (call, use) => {
      const nodes = { rpc, payerCalls, use }
      const estimate = await estimateCall(nodes, call, await chooseSending(call))
      return 'reason' in estimate ? estimate : null
    },
    checkPromise: (promisee) => budget.checkPromise(promisee),
    settle: (call, recorder, { waitUntil, caller = null, isPromised = false, urgentFor = null }) =>
      settle({ call, recorder, waitUntil, caller, isPromised, urgentFor }, policyFor(call.amount)),
    resolve: (settlement, judge, signal, { isReadOnly = false, takeOver } = {}) => {
      const policy: ResolvePolicy = {
        // A hold moves nothing yet, and as much is at stake.
        ...policyFor(settlement.amount > 0n ? settlement.amount : settlement.authorizedAmount),
        finalityDepth: network.finalityDepth,
        now: clock.now(),
        isReadOnly,
        isBatch: (bytes) => isBatch(bytes, batchContracts),
        expiryMarginSeconds,
        sendAgain:
          takeOver === undefined || isReadOnly || judge.isRepeatable === true
            ? undefined
            : (broadcast) => sendAgain({ settlement, judge, broadcast, takeOver, signal }),
      }
      return withSignal(resolveSettlement(rpc, settlement, judge, policy), signal)
    },
    getBlockStatus: (block, signal) =>
      withSignal(getBlockStatus(rpc.endpoints, block, network.finalityDepth), signal),
    countQueued: submit.countQueued,
  }
}
