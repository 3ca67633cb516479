import { base58 } from '@scure/base'
import type { Keypair } from '@solana/web3.js'
import type { Core } from '../../../src/compose.js'
import type { Clock } from '../../../src/ports/clock.js'
import type { Logger } from '../../../src/ports/logger.js'
import { type AskedCore, askCore } from '../../support/askCore.js'
import { openCore } from '../../support/core.js'
import { createTestDatabase, type TestDatabase } from '../../support/postgres.js'
import { type RpcProxy, startRpcProxy } from '../../support/rpcProxy.js'
import {
  type LocalSolana,
  type LocalSolanaOptions,
  startLocalSolana,
} from '../../support/solana/localChain.js'
import {
  createParties,
  type SolanaPaymentBody,
  type SolanaPaymentOptions,
  solanaPayment,
} from '../../support/solana/payment.js'

/** A service under test, and who asks it. */
export interface SolanaService extends AskedCore {
  listFeePayers(): readonly unknown[]
}

/** How a service differs from the plain one. */
export interface SolanaServiceOptions {
  readonly rpcUrls?: readonly string[]
  readonly environment?: Readonly<Record<string, string>>
  readonly clock?: Clock
  readonly logger?: Logger
  /** The keys to pay with; those of the chain unless told. */
  readonly feePayers?: readonly Keypair[]
}

/** A payment that can be made, and who makes it to whom. */
export interface PlannedPayment {
  readonly body: SolanaPaymentBody
  readonly payer: Keypair
  readonly payTo: string
}

/** What a payment of a fresh, funded payer differs in. */
export interface PaymentPlan extends Omit<Partial<SolanaPaymentOptions>, 'chain'> {
  /** What the payer owns before the payment; the amount unless told. */
  readonly balance?: bigint
}

/** One cluster and one database, and services on them. */
export interface SolanaScene {
  readonly chain: LocalSolana
  readonly database: TestDatabase
  open(options?: SolanaServiceOptions): Promise<SolanaService>
  /** A proxy in front of the cluster. */
  openProxy(): Promise<RpcProxy>
  /** A signed payment of a fresh payer who owns what it pays. */
  plan(plan?: PaymentPlan): PlannedPayment
  /** Closes services and proxies, and lets the cluster take transactions at once again. */
  reset(): Promise<void>
  close(): Promise<void>
}

/** Starts a cluster and a database. Call it in `beforeAll`, `reset` in `afterEach` and `close` in `afterAll`. */
export const openScene = async (options: LocalSolanaOptions = {}): Promise<SolanaScene> => {
  const [chain, database] = await Promise.all([startLocalSolana(options), createTestDatabase()])
  const usual = { ...chain.behaviour }
  const closers: (() => Promise<void>)[] = []
  const reset = async () => {
    Object.assign(chain.behaviour, usual)
    for (const close of closers.splice(0).reverse()) await close()
  }
  return {
    chain,
    database,
    open: async ({ rpcUrls = [chain.url], environment = {}, feePayers = chain.feePayers, ...rest } = {}) => {
      const core = await openCore({
        databaseUrl: database.url,
        environment: { ...environmentFor(feePayers, rpcUrls), ...environment },
        ...rest,
      })
      closers.push(() => core.close())
      return asking(core)
    },
    openProxy: async () => {
      const proxy = await startRpcProxy(chain.url)
      closers.push(() => proxy.stop())
      return proxy
    },
    plan: ({ balance, ...plan } = {}) => {
      const { amount = 10_000n, asset, program } = plan
      const parties = createParties(chain, balance ?? amount, {
        ...(asset === undefined ? {} : { mint: asset }),
        ...(program === undefined ? {} : { program }),
      })
      const payment = { ...parties, amount, ...plan }
      const { payer, payTo } = payment
      return { body: solanaPayment({ chain, ...payment }), payer, payTo }
    },
    reset,
    close: async () => {
      await reset()
      await Promise.all([chain.stop(), database.drop()])
    },
  }
}

/** The variables of a service that pays with these keys. */
export const environmentFor = (
  feePayers: readonly Keypair[],
  rpcUrls: readonly string[],
): Readonly<Record<string, string>> => ({
  SOLANA_PRIVATE_KEY: feePayers.map(({ secretKey }) => base58.encode(secretKey)).join(','),
  SOLANA_RPC_URL_mainnet: rpcUrls.join(','),
  SOLANA_POLL_INTERVAL_MS_mainnet: '20',
  SOLANA_RPC_TIMEOUT_MS: '1000',
})

const asking = (core: Core): SolanaService => ({
  ...askCore(core),
  listFeePayers: () => core.useCases.core.listSupported().kinds.map(({ extra }) => extra?.feePayer),
})
