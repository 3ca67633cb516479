import { base58 } from '@scure/base'
import type { Keypair } from '@solana/web3.js'
import type { Core } from '../../../src/compose.js'
import type { Clock } from '../../../src/ports/clock.js'
import type { Logger } from '../../../src/ports/logger.js'
import { openCore } from '../../support/core.js'
import { type CoreClient, createCoreClient } from '../../support/coreClient.js'
import { createTestDatabase, type TestDatabase } from '../../support/postgres.js'
import { patientTimeoutMs, type RpcProxy, startRpcProxy } from '../../support/rpcProxy.js'
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

export interface SolanaService extends CoreClient {
  listFeePayers(): readonly unknown[]
}

export interface SolanaServiceOptions {
  readonly rpcUrls?: readonly string[]
  readonly environment?: Readonly<Record<string, string>>
  readonly clock?: Clock
  readonly logger?: Logger
  /** Default: those of the chain. */
  readonly feePayers?: readonly Keypair[]
}

interface PlannedPayment {
  readonly body: SolanaPaymentBody
  readonly payer: Keypair
  readonly payTo: string
}

export interface PaymentPlan extends Omit<Partial<SolanaPaymentOptions>, 'chain'> {
  /** Payer's balance before the payment; default: the amount. */
  readonly balance?: bigint
}

/** A cluster whose slots are held, a database, and services on them. */
export interface SolanaScene {
  readonly chain: LocalSolana
  readonly database: TestDatabase
  open(options?: SolanaServiceOptions): Promise<SolanaService>
  openProxy(): Promise<RpcProxy>
  /** A payment signed by a new, funded payer. */
  plan(plan?: PaymentPlan): PlannedPayment
  /** Closes services and proxies, restores the cluster's default behaviour, and holds its slots at the present one. */
  reset(): Promise<void>
  close(): Promise<void>
}

/** For `useScene`. */
export const openScene = async (options: LocalSolanaOptions = {}): Promise<SolanaScene> => {
  const [chain, database] = await Promise.all([startLocalSolana(options), createTestDatabase()])
  const defaults = { ...chain.behaviour }
  chain.slots.hold()
  const closers: (() => Promise<void>)[] = []
  const reset = async () => {
    Object.assign(chain.behaviour, defaults)
    for (const close of closers.splice(0).reverse()) await close()
    chain.slots.hold()
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
      return toService(core)
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

export const environmentFor = (
  feePayers: readonly Keypair[],
  rpcUrls: readonly string[],
): Readonly<Record<string, string>> => ({
  SOLANA_PRIVATE_KEY: feePayers.map(({ secretKey }) => base58.encode(secretKey)).join(','),
  SOLANA_RPC_URL_mainnet: rpcUrls.join(','),
  SOLANA_POLL_INTERVAL_MS_mainnet: '100',
  SOLANA_RPC_TIMEOUT_MS: patientTimeoutMs,
})

const toService = (core: Core): SolanaService => ({
  ...createCoreClient(core),
  listFeePayers: () => core.useCases.core.listSupported().kinds.map(({ extra }) => extra?.feePayer),
})
