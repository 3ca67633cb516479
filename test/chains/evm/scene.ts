import { type Address, erc20Abi, type Hex, isHex } from 'viem'
import type { Core } from '../../../src/compose.js'
import type { Clock } from '../../../src/ports/clock.js'
import type { Logger } from '../../../src/ports/logger.js'
import type { WebhookTransport } from '../../../src/ports/webhookOutbox.js'
import type { Explanation } from '../../../src/protocol/explanations.js'
import type { SettleResult, VerifyResult } from '../../../src/protocol/results.js'
import type { StartSettleWait } from '../../../src/usecases/core/settle/settlementContext.js'
import type { SettleResponse } from '../../../src/usecases/core/useCases.js'
import { openCore } from '../../support/core.js'
import { createCoreClient, reconcileUntilDecided } from '../../support/coreClient.js'
import {
  type FacilitatorKey,
  type LocalChain,
  type LocalChainOptions,
  startLocalChain,
} from '../../support/evm/localChain.js'
import {
  type ExactPaymentBody,
  type ExactPaymentOptions,
  exactPayment,
  type PaymentChain,
} from '../../support/evm/payment.js'
import { createEoa } from '../../support/evm/wallets.js'
import { pollUntil } from '../../support/pollUntil.js'
import { createTestDatabase, type TestDatabase } from '../../support/postgres.js'
import { type RpcProxy, startRpcProxy } from '../../support/rpcProxy.js'

/** A service under test with clients. */
export interface Service {
  readonly core: Core
  /** Not shared with other services of the scene. */
  readonly signers: readonly FacilitatorKey[]
  verify(body: unknown, caller?: string): Promise<VerifyResult>
  explain(body: unknown, caller?: string): Promise<Explanation>
  settle(body: unknown, caller?: string): Promise<SettleResult>
  settleWithKey(body: unknown, idempotencyKey: string, caller?: string): Promise<SettleResponse>
  /** One reconciler round; on an automining chain, its transactions are mined when this returns. */
  reconcile(): Promise<void>
  /** The networks of `/supported`. */
  listNetworks(): readonly string[]
}

export interface ServiceOptions {
  /** Default: one. */
  readonly signerCount?: number
  /** Those of another service, in place of new ones. */
  readonly signers?: readonly FacilitatorKey[]
  /** Replaces the chain's endpoint. */
  readonly rpcUrls?: readonly string[]
  readonly environment?: Readonly<Record<string, string>>
  readonly clock?: Clock
  readonly logger?: Logger
  readonly webhookTransport?: WebhookTransport
  readonly startSettleWait?: StartSettleWait
  /** Runs before the service is opened. */
  readonly prepare?: (signers: readonly FacilitatorKey[]) => Promise<unknown>
}

/** A payment with its parties. */
export interface PlannedPayment {
  readonly body: ExactPaymentBody
  readonly payer: Address
  readonly payTo: Address
}

/** Differences from a payment by a new, funded payer. */
export interface PaymentPlan extends Omit<Partial<ExactPaymentOptions>, 'chain'> {
  /** The payer's balance before the payment; default: the amount. */
  readonly balance?: bigint
}

/** One local chain, one database, and services on them. */
export interface Scene {
  readonly chain: LocalChain
  readonly database: TestDatabase
  open(options?: ServiceOptions): Promise<Service>
  /** A proxy in front of the chain. */
  openProxy(): Promise<RpcProxy>
  /** A signed payment by a new, funded payer. */
  plan(plan?: PaymentPlan): Promise<PlannedPayment>
  /** Number of USDC transfers to an address. */
  countTransfersTo(payTo: Address): Promise<number>
  /** Closes services and proxies, and enables automining again. */
  reset(): Promise<void>
  close(): Promise<void>
}

/** For `useScene`. */
export const openScene = async (options: LocalChainOptions = {}): Promise<Scene> => {
  const [chain, database] = await Promise.all([
    startLocalChain({ facilitatorCount: 0, ...options }),
    createTestDatabase(),
  ])
  const closers: (() => Promise<void>)[] = []
  const reset = async () => {
    for (const close of closers.splice(0).reverse()) await close()
  }
  return {
    chain,
    database,
    open: async ({ signerCount = 1, signers: given, rpcUrls = [chain.url], prepare, ...rest } = {}) => {
      const signers = given ?? (await createSigners(chain, signerCount))
      await prepare?.(signers)
      const core = await openCore({
        chain: { chainId: chain.chainId, url: rpcUrls.join(','), facilitators: signers },
        databaseUrl: database.url,
        ...rest,
      })
      closers.push(() => core.close())
      return { signers, ...createRequests(core, chain) }
    },
    openProxy: async () => {
      const proxy = await startRpcProxy(chain.url)
      closers.push(() => proxy.stop())
      return proxy
    },
    plan: (plan) => planPayment(chain, chain, plan),
    countTransfersTo: async (payTo) => {
      const logs = await chain.client.getContractEvents({
        address: chain.token.verifyingContract,
        abi: erc20Abi,
        eventName: 'Transfer',
        args: { to: payTo },
        fromBlock: 0n,
      })
      return logs.length
    },
    reset: async () => {
      await reset()
      await chain.control.dropAllTransactions()
      await chain.control.setAutomine(true)
    },
    close: async () => {
      await reset()
      await database.drop()
      await chain.stop()
    },
  }
}

/** A signed payment in a token, by a new payer by default, who is funded. */
export const planPayment = async (
  chain: LocalChain,
  token: PaymentChain & { mint(to: Address, amount: bigint): Promise<void> },
  { balance, wallet = createEoa(), payTo = createEoa().address, ...rest }: PaymentPlan = {},
): Promise<PlannedPayment> => {
  const { amount = 10_000n } = rest
  await token.mint(wallet.address, balance ?? BigInt(amount))
  const body = await exactPayment({ chain: { ...token, network: chain.network }, wallet, payTo, ...rest })
  return { body, payer: wallet.address, payTo }
}

const createSigners = async (chain: LocalChain, count: number): Promise<FacilitatorKey[]> => {
  const signers = Array.from({ length: count }, createEoa)
  await Promise.all(signers.map(({ address }) => chain.fundGas(address)))
  return signers
}

const createRequests = (core: Core, { control }: LocalChain): Omit<Service, 'signers'> => {
  const { listSupported } = core.useCases.core
  const client = createCoreClient(core)
  return {
    ...client,
    reconcile: async () => {
      await client.reconcile()
      await control.waitForAutomine()
    },
    listNetworks: () => listSupported().kinds.map(({ network }) => network),
  }
}

/** Settings with which one block on top makes a failure final. */
export const quickFinality = ({ chain }: Scene): Readonly<Record<string, string>> => ({
  [`EVM_FINALITY_DEPTH_${chain.chainId}`]: '1',
})

/** What became of a settlement that was answered as pending, one block later. */
export const readOneBlockLater = async ({ chain }: Scene, service: Service, result: SettleResult) => {
  const { errorReason } = result
  if (errorReason !== 'settlement_pending') throw new Error(`It was answered ${errorReason ?? 'success'}`)
  await chain.control.mine()
  return await reconcileUntilDecided(service, result)
}

/** A service whose sends are delayed, so that the chain can change between estimate and inclusion. */
export const openSlow = (
  scene: Scene,
  environment: Readonly<Record<string, string>> = {},
  options: Pick<ServiceOptions, 'startSettleWait'> = {},
) =>
  openSlowly(scene, (rpcUrls) =>
    scene.open({ rpcUrls, environment: { ...quickFinality(scene), ...environment }, ...options }),
  )

/** The same with a service of its own. */
export const openSlowly = async <Opened extends Service>(
  scene: Scene,
  open: (rpcUrls: readonly string[]) => Promise<Opened>,
) => {
  const proxy = await scene.openProxy()
  const service = await open([proxy.url])
  const settleAfter = async (body: unknown, meanwhile: () => Promise<unknown>) => {
    const before = proxy.count('eth_sendRawTransaction')
    const release = proxy.hold('eth_sendRawTransaction')
    const settling = service.settle(body)
    await eventually(() => (proxy.count('eth_sendRawTransaction') > before ? true : null))
    await meanwhile().finally(release)
    return await settling
  }
  return { proxy, service, settleAfter }
}

/** Nodes take nothing more, so that what they have lost, or a reorg has taken back, is not sent again meanwhile. */
export const refuseSends = (proxy: RpcProxy): void =>
  proxy.setFault('eth_sendRawTransaction', { kind: 'error', code: -32_000, message: 'txpool is full' })

/** The signed bytes that the journal has of a transaction. */
export const readRecordedBytes = async ({ database }: Scene, transaction: string): Promise<Hex> => {
  const { rows } = await database
    .pool()
    .query('select bytes from broadcasts where transaction = $1', [transaction])
  const bytes: unknown = rows[0]?.bytes
  if (!isHex(bytes)) throw new Error('Nothing was recorded')
  return bytes
}

/** Asks until the answer is not null. */
export const eventually = <T>(ask: () => Promise<T | null> | T | null): Promise<T> =>
  pollUntil(ask, 'an answer')
