import type { Address } from 'viem'
import { createExactScheme } from '../../../../src/chains/evm/exact/scheme.js'
import { createRpc, type Rpc } from '../../../../src/chains/evm/rpc/rpc.js'
import { readEvmSettings } from '../../../../src/chains/evm/settings.js'
import { createTokenRegistry } from '../../../../src/chains/evm/tokens/tokenRegistry.js'
import { createFeeOracle } from '../../../../src/chains/evm/transactions/fees/fees.js'
import {
  createLaneMaintenance,
  type LaneMaintenance,
} from '../../../../src/chains/evm/transactions/lanes/laneMaintenance.js'
import { createNoncePool, type NoncePool } from '../../../../src/chains/evm/transactions/lanes/noncePool.js'
import {
  createReceiptWatcher,
  type ReceiptWatcher,
} from '../../../../src/chains/evm/transactions/receipts/receiptWatcher.js'
import { createSigners } from '../../../../src/chains/evm/transactions/signers.js'
import { createMulticallPresence } from '../../../../src/chains/evm/transactions/simulation/multicallPresence.js'
import { createSimulator } from '../../../../src/chains/evm/transactions/simulation/simulator.js'
import { createSubmitter } from '../../../../src/chains/evm/transactions/submit.js'
import { createJsonRpcEndpoint } from '../../../../src/chains/nodes/jsonRpcEndpoint.js'
import { systemClock } from '../../../../src/platform/clock.js'
import { silentLogger } from '../../../../src/platform/logger.js'
import type { Clock } from '../../../../src/ports/clock.js'
import type { Logger } from '../../../../src/ports/logger.js'
import type { Recorder, SettlementJournal } from '../../../../src/ports/settlementJournal.js'
import type { SignerLanes } from '../../../../src/ports/signerLanes.js'
import { isRefused, readPayment } from '../../../../src/protocol/legacy.js'
import type { Payment } from '../../../../src/protocol/payment.js'
import { wirePaymentRequest } from '../../../../src/protocol/wire.js'
import type { Outcome, Scheme } from '../../../../src/schemes/scheme.js'
import { createMemoryRateLimiter } from '../../../../src/stores/memory/rateLimiter.js'
import type { Instance } from '../../../../src/stores/postgres/database/instance.js'
import { createSettlementJournal } from '../../../../src/stores/postgres/journal/settlementJournal.js'
import { createSignerLanes } from '../../../../src/stores/postgres/lanes/signerLanes.js'
import type { FacilitatorKey } from '../../../support/evm/localChain.js'
import type { ExactPaymentBody } from '../../../support/evm/payment.js'
import { createEoa } from '../../../support/evm/wallets.js'
import { addInstance } from '../../../support/instances.js'
import { eventually, type PlannedPayment, type Scene } from '../scene.js'

/** `exact` on a scene's chain with a gate before the lanes, so that a test says what travels together. */
export interface Sending {
  readonly scheme: Scheme
  readonly rpc: Rpc
  readonly lanes: SignerLanes
  readonly pool: NoncePool
  readonly maintenance: LaneMaintenance
  readonly receipts: ReceiptWatcher
  readonly journal: SettlementJournal
  readonly instance: Instance
  readonly signers: readonly FacilitatorKey[]
  /** Lets nothing into a lane; what comes meanwhile waits together. */
  shut(): void
  open(): void
  /** Waits until so many payments wait for a place. */
  whenWaiting(count: number): Promise<void>
  /** Claims a payment, settles it and closes its row. */
  settle(plan: Pick<PlannedPayment, 'body'>, options?: SettleOptions): Promise<Outcome>
  /** Settles payments of which all wait before one is sent, and answers in their order. */
  settleTogether(plans: readonly Pick<PlannedPayment, 'body'>[]): Promise<readonly Outcome[]>
  close(): Promise<void>
}

/** How one payment is settled. */
export interface SettleOptions {
  readonly waitUntil?: AbortSignal
  /** Puts a recorder of the test's own between the scheme and the journal. */
  readonly observe?: (recorder: Recorder) => Recorder
  /** Told the settlement's id. */
  readonly onClaim?: (settlementId: string) => void
}

/** How the sending differs from the plain one. */
export interface SendingOptions {
  readonly url?: string
  readonly signers?: readonly FacilitatorKey[]
  readonly environment?: Readonly<Record<string, string>>
  readonly clock?: Clock
  readonly logger?: Logger
  readonly replaceAfterMs?: number
  readonly canPay?: (address: Address) => boolean
  /** Lanes in place of those of the scene's database. */
  readonly wrapLanes?: (lanes: SignerLanes) => SignerLanes
}

/** A key with gas. */
export const createSigner = async ({ chain }: Scene): Promise<FacilitatorKey> => {
  const signer = createEoa()
  await chain.fundGas(signer.address)
  return signer
}

/** Reads a payment as the service does. */
export const readBody = (body: ExactPaymentBody): Payment => {
  const payment = readPayment(wirePaymentRequest.parse(body))
  if (isRefused(payment)) throw new Error(`The payment is refused: ${payment.reason}`)
  return payment
}

/** Opens the scheme and everything beneath it; no rounds run unless the test asks for them. */
export const openSending = async (scene: Scene, options: SendingOptions = {}): Promise<Sending> => {
  const { chain, database } = scene
  const { clock = systemClock, logger = silentLogger, replaceAfterMs = 30_000 } = options
  const { url = chain.url, canPay = () => true, wrapLanes = (own) => own } = options
  const signers = options.signers ?? [await createSigner(scene)]
  const reading = readEvmSettings({
    EVM_PRIVATE_KEY: signers.map(({ privateKey }) => privateKey).join(','),
    [`EVM_RPC_URL_${chain.chainId}`]: url,
    [`EVM_POLL_INTERVAL_MS_${chain.chainId}`]: '20',
    ...options.environment,
  })
  if ('problems' in reading || reading.settings === null) throw new Error('The settings cannot be read')
  const { settings: family } = reading
  const [network] = family.networks
  if (network === undefined) throw new Error('There is no network')

  const rpc = createRpc(
    network.network,
    network.rpcUrls.map((each) => createJsonRpcEndpoint(each, 5_000)),
    logger,
  )
  const accounts = createSigners(family.privateKeys)
  const instance = await addInstance(database.pool())
  const lanes = wrapLanes(createSignerLanes(database.pool(), instance))
  const journal = createSettlementJournal(database.pool(), instance)
  for (const { address: signer } of signers) {
    const used = await rpc.getTransactionCount(signer, 'latest')
    await lanes.advance({ network: network.network, signer }, used)
  }
  const fees = createFeeOracle(network, rpc, clock)
  const receipts = createReceiptWatcher(rpc, network.pollIntervalMs)
  const pool = createNoncePool(accounts.accounts, canPay)
  const maintenance = createLaneMaintenance(network, {
    rpc,
    fees,
    accounts: accounts.accounts,
    lanes,
    pool,
    receipts,
    clock,
    logger,
    replaceAfterMs,
  })
  await maintenance.check()
  const multicall = createMulticallPresence(rpc)
  const limiter = createMemoryRateLimiter({ clock })
  let isShut = false
  const submitter = createSubmitter({
    network,
    rpc,
    signers: accounts,
    canPay,
    fees,
    limiter,
    receipts,
    pool: { ...pool, countFreeSlots: () => (isShut ? 0 : pool.countFreeSlots()) },
    lanes,
    clock,
    logger,
    expiryMarginSeconds: family.expiryMarginSeconds,
    multicall,
  })
  let submitted = 0
  const scheme = createExactScheme({
    family,
    network,
    rpc,
    tokens: createTokenRegistry(network, rpc),
    signers: accounts,
    fees,
    submitter: {
      ...submitter,
      submit: (submission) => {
        submitted += 1
        return submitter.submit(submission)
      },
    },
    receipts,
    simulator: createSimulator(rpc, multicall),
    clock,
    canPay,
  })

  const settle: Sending['settle'] = async ({ body }, { waitUntil, observe, onClaim } = {}) => {
    const payment = readBody(body)
    const { asset, payTo } = payment.requirements
    const { from, value } = body.paymentPayload.payload.authorization
    const claimed = await journal.claim({
      authorizationId: scheme.identify(payment) ?? '',
      scheme: 'exact',
      network: network.network,
      asset,
      payer: from,
      payTo,
      amount: BigInt(value),
      expiresAt: new Date(Number(body.paymentPayload.payload.authorization.validBefore) * 1_000),
      resource: null,
      caller: 'anonymous',
      fingerprint: 'f',
    })
    if (claimed === null) throw new Error('The authorization already has an open row')
    onClaim?.(claimed.id)
    const recorder = journal.recorderFor(claimed.id)
    const outcome = await scheme.settle(payment, observe?.(recorder) ?? recorder, {
      waitUntil: waitUntil ?? AbortSignal.timeout(15_000),
    })
    if (outcome.state === 'pending') await journal.release(claimed.id)
    else await journal.close(claimed.id, outcome)
    return withoutBlock(outcome)
  }
  const shut = () => {
    isShut = true
    submitted = 0
  }
  const open = () => {
    isShut = false
    // Wakes whoever waits for room.
    pool.take()?.release()
  }
  const whenWaiting = async (count: number) => {
    await eventually(() => (submitted >= count ? true : null))
  }

  return {
    scheme,
    rpc,
    lanes,
    pool,
    maintenance,
    receipts,
    journal,
    instance,
    signers,
    shut,
    open,
    whenWaiting,
    settle,
    settleTogether: async (plans) => {
      shut()
      const settling = Promise.all(plans.map((plan) => settle(plan)))
      await whenWaiting(plans.length)
      open()
      return await settling
    },
    close: async () => {
      await maintenance.close()
      await limiter.close()
    },
  }
}

/** What became of a payment; in which block is of no interest here. */
export const withoutBlock = (outcome: Outcome): Outcome =>
  outcome.state === 'confirmed' ? { state: 'confirmed', transaction: outcome.transaction } : outcome
