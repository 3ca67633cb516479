import { setMaxListeners } from 'node:events'
import type { Address } from 'viem'
import { batchSettler } from '../../../src/chains/evm/contracts/batchSettler.js'
import { createContractPresence } from '../../../src/chains/evm/contracts/deployedContract.js'
import { createTransferBatch } from '../../../src/chains/evm/exact/transferBatch.js'
import { createRpc, type Rpc } from '../../../src/chains/evm/rpc/rpc.js'
import {
  type EvmNetworkSettings,
  type EvmSettings,
  readEvmSettings,
} from '../../../src/chains/evm/settings.js'
import { createMulticallPresence } from '../../../src/chains/evm/transactions/batching/batchContract.js'
import {
  createTransactionEngine,
  type TransactionEngine,
} from '../../../src/chains/evm/transactions/engine.js'
import { createFeeOracle } from '../../../src/chains/evm/transactions/fees/fees.js'
import { createGasBudget } from '../../../src/chains/evm/transactions/fees/gasBudget.js'
import {
  createLaneMaintenance,
  type LaneMaintenance,
} from '../../../src/chains/evm/transactions/lanes/laneMaintenance.js'
import { createNoncePool, type NoncePool } from '../../../src/chains/evm/transactions/lanes/noncePool.js'
import {
  createReceiptWatcher,
  type ReceiptWatcher,
} from '../../../src/chains/evm/transactions/receipts/receiptWatcher.js'
import { createSigners } from '../../../src/chains/evm/transactions/signers.js'
import { createJsonRpcEndpoint } from '../../../src/chains/nodes/jsonRpcEndpoint.js'
import { systemClock } from '../../../src/platform/clock.js'
import { silentLogger } from '../../../src/platform/logger.js'
import type { Clock } from '../../../src/ports/clock.js'
import type { Logger } from '../../../src/ports/logger.js'
import type { Recorder, SettlementClaim, SettlementJournal } from '../../../src/ports/settlementJournal.js'
import type { SignerLanes } from '../../../src/ports/signerLanes.js'
import type { Outcome, SettleOptions } from '../../../src/schemes/scheme.js'
import { createMemoryRateLimiter } from '../../../src/stores/cache/rateLimiter.js'
import type { Instance } from '../../../src/stores/postgres/database/instance.js'
import { createSettlementJournal } from '../../../src/stores/postgres/journal/settlementJournal.js'
import { createSignerLanes } from '../../../src/stores/postgres/lanes/signerLanes.js'
import type { FacilitatorKey } from '../../support/evm/localChain.js'
import { createToyCall, readToyJudge, type Toy, type ToyPlan, toyClaim } from '../../support/evm/toyCall.js'
import { createEoa } from '../../support/evm/wallets.js'
import { addInstance } from '../../support/instances.js'
import { createManualClock } from '../../support/manualClock.js'
import { waitLimitMs } from '../../support/pollUntil.js'
import { patientTimeoutMs } from '../../support/rpcProxy.js'
import { eventually, type Scene } from './scene.js'

/** The transaction engine on a scene's chain, with a gate before the lanes that controls batching. */
export interface OpenEngine {
  readonly engine: TransactionEngine
  readonly family: EvmSettings
  readonly network: EvmNetworkSettings
  readonly rpc: Rpc
  readonly lanes: SignerLanes
  readonly pool: NoncePool
  readonly maintenance: LaneMaintenance
  readonly receipts: ReceiptWatcher
  readonly journal: SettlementJournal
  readonly instance: Instance
  readonly signers: readonly FacilitatorKey[]
  /** Closes the gate: calls wait together and none gets a slot. */
  shut(): void
  open(): void
  /** Waits until this many calls wait for a slot. */
  whenWaiting(count: number): Promise<void>
  close(): Promise<void>
}

/** The engine with one scheme. */
export interface Sending<Plan> extends OpenEngine {
  /** Claims a payment, settles it and closes its row. */
  settle(plan: Plan, options?: PlanOptions): Promise<Outcome>
  /** Settles payments that all wait before the first send; outcomes in order. */
  settleTogether(plans: readonly Plan[], options?: PlanOptions): Promise<readonly Outcome[]>
}

interface PlanOptions {
  readonly waitUntil?: AbortSignal
  /** As in `SettleOptions`. */
  readonly caller?: string
  readonly isPromised?: boolean
  readonly urgentFor?: string
  /** Called with the settlement's id. */
  readonly onClaim?: (settlementId: string) => void
}

export interface EngineOptions {
  readonly url?: string
  readonly signers?: readonly FacilitatorKey[]
  readonly environment?: Readonly<Record<string, string>>
  readonly clock?: Clock
  readonly logger?: Logger
  readonly replaceAfterMs?: number
  readonly canPay?: (address: Address) => boolean
  /** Set: maintenance has rounds of its own, as in a service; default: only the test calls `check`. */
  readonly hasRounds?: boolean
  /** Replaces the lanes of the scene's database. */
  readonly wrapLanes?: (lanes: SignerLanes) => SignerLanes
}

/** A funded key. */
export const createSigner = async ({ chain }: Scene): Promise<FacilitatorKey> => {
  const signer = createEoa()
  await chain.fundGas(signer.address)
  return signer
}

export const openEngine = async (scene: Scene, options: EngineOptions = {}): Promise<OpenEngine> => {
  const { chain, database } = scene
  const { clock = systemClock, logger = silentLogger, replaceAfterMs = 30_000 } = options
  const { url = chain.url, canPay = () => true, hasRounds = false, wrapLanes = (own) => own } = options
  const keys = options.signers ?? [await createSigner(scene)]
  const reading = readEvmSettings({
    EVM_PRIVATE_KEY: keys.map(({ privateKey }) => privateKey).join(','),
    [`EVM_RPC_URL_${chain.chainId}`]: url,
    [`EVM_POLL_INTERVAL_MS_${chain.chainId}`]: '100',
    ...options.environment,
  })
  if ('problems' in reading || reading.settings === null) throw new Error('The settings cannot be read')
  const { settings: family } = reading
  const [network] = family.networks
  if (network === undefined) throw new Error('There is no network')

  const rpc = createRpc(
    network.network,
    network.rpcUrls.map((each) => createJsonRpcEndpoint(each, Number(patientTimeoutMs))),
    logger,
  )
  const signers = createSigners(family.privateKeys)
  const { accounts } = signers
  const instance = await addInstance(database.pool())
  const lanes = wrapLanes(createSignerLanes(database.pool(), instance))
  for (const { address: signer } of keys) {
    const used = await rpc.getTransactionCount(signer, 'latest')
    await lanes.advance({ network: network.network, signer }, used)
  }
  const fees = createFeeOracle(network, rpc, clock)
  const receipts = createReceiptWatcher(rpc, network.pollIntervalMs)
  const pool = createNoncePool(accounts, canPay)
  const limiter = createMemoryRateLimiter({ clock })
  const budget = createGasBudget(network, limiter)
  const shared = { rpc, fees, lanes, receipts, budget, clock, logger }
  const maintenance = createLaneMaintenance(network, {
    ...shared,
    pool,
    accounts,
    replaceAfterMs,
    // Rounds could send, replace or fill between any two steps of a test: this clock never reaches the next one.
    clock: hasRounds ? clock : { ...clock, sleep: createManualClock().sleep },
  })
  await maintenance.check()
  let isShut = false
  const engine = createTransactionEngine({
    ...shared,
    payerCalls: rpc,
    deadlineClock: clock,
    network,
    signers,
    canPay,
    builderCode: null,
    pool: { ...pool, countFreeSlots: () => (isShut ? 0 : pool.countFreeSlots()) },
    multicall: createMulticallPresence(rpc),
    batchContracts: [createTransferBatch(createContractPresence(rpc, batchSettler))],
    expiryMarginSeconds: family.expiryMarginSeconds,
    crossCheckAmount: family.crossCheckAmount,
    highestGasCap: 1_000_000n,
  })
  let submitted = 0
  return {
    engine: {
      ...engine,
      settle: (...submission) => {
        submitted += 1
        return engine.settle(...submission)
      },
    },
    family,
    network,
    rpc,
    lanes,
    pool,
    maintenance,
    receipts,
    journal: createSettlementJournal(database.pool(), instance),
    instance,
    signers: keys,
    shut: () => {
      isShut = true
      submitted = 0
    },
    open: () => {
      isShut = false
      // Wakes waits for a slot.
      pool.take()?.release()
    },
    whenWaiting: async (count) => {
      await eventually(() => (submitted >= count ? true : null))
    },
    close: async () => {
      await maintenance.close()
      await limiter.close()
    },
  }
}

interface PlannedScheme<Plan> {
  claimOf(plan: Plan): SettlementClaim
  settle(plan: Plan, recorder: Recorder, options: SettleOptions): Promise<Outcome>
}

/** Adds a scheme to the engine. */
export const withScheme = <Plan>(open: OpenEngine, scheme: PlannedScheme<Plan>): Sending<Plan> => {
  const { journal } = open
  const settle: Sending<Plan>['settle'] = async (plan, { waitUntil, onClaim, ...options } = {}) => {
    // Prevents Node's leak warning: a test ends many payments by one signal. In the service each has its own.
    if (waitUntil !== undefined) setMaxListeners(0, waitUntil)
    const claimed = await journal.claim(scheme.claimOf(plan))
    if (claimed === null) throw new Error('The payment already has an open row')
    onClaim?.(claimed.id)
    const outcome = await scheme.settle(plan, journal.recorderFor(claimed.id), {
      waitUntil: waitUntil ?? AbortSignal.timeout(waitLimitMs),
      ...options,
    })
    if (outcome.state === 'pending') await journal.release(claimed.id)
    else await journal.close(claimed.id, outcome)
    return withoutBlock(outcome)
  }
  return {
    ...open,
    settle,
    settleTogether: async (plans, options) => {
      open.shut()
      const settling = Promise.all(plans.map((plan) => settle(plan, options)))
      await open.whenWaiting(plans.length)
      open.open()
      return await settling
    },
  }
}

export interface ToySending extends Sending<ToyPlan> {
  /** Resolves from the journal row alone, like the reconciler. */
  resolve(settlementId: string): Promise<Outcome>
}

export const openToy = async (scene: Scene, toy: Toy, options?: EngineOptions): Promise<ToySending> => {
  const open = await openEngine(scene, options)
  const { engine, rpc, network, journal } = open
  const sending = withScheme<ToyPlan>(open, {
    claimOf: (plan) => toyClaim(network.network, toy.address, plan),
    settle: (plan, recorder, each) => engine.settle(createToyCall(rpc, toy.address, plan), recorder, each),
  })
  return {
    ...sending,
    resolve: async (settlementId) => {
      const row = await journal.find(settlementId)
      if (row === null) throw new Error('There is no row')
      return await engine.resolve(row, readToyJudge(rpc, row), AbortSignal.timeout(waitLimitMs))
    },
  }
}

/** An outcome without its block. */
export const withoutBlock = (outcome: Outcome): Outcome =>
  outcome.state === 'confirmed' ? { state: 'confirmed', transaction: outcome.transaction } : outcome
