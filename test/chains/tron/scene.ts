import { type CoreOptions, openCore } from '../../support/core.js'
import { type CoreClient, createCoreClient } from '../../support/coreClient.js'
import { createTestDatabase, type TestDatabase } from '../../support/postgres.js'
import { type RpcProxy, startRpcProxy } from '../../support/rpcProxy.js'
import { createTronKey, type TronKey } from '../../support/tron/keys.js'
import { type SignedFields, type TronPaymentBody, tronPayment } from '../../support/tron/payment.js'
import { startTronChain, type TronChain, type TronChainOptions } from '../../support/tron/tronChain.js'
import { nileEnvironment } from './openScheme.js'

interface ServiceOptions extends Pick<CoreOptions, 'environment' | 'clock' | 'logger' | 'startSettleWait'> {
  readonly url?: string
}

export interface PlannedPayment {
  readonly body: TronPaymentBody
  readonly payer: TronKey
  readonly payTo: string
}

interface PaymentPlan {
  readonly token?: string
  readonly payer?: TronKey
  /** Payer's balance in sun. */
  readonly sun?: number
  readonly signed?: Partial<SignedFields>
}

export interface Scene {
  readonly chain: TronChain
  readonly database: TestDatabase
  /** Like USDT on TRON: `transfer` returns false on success. */
  readonly token: string
  open(options?: ServiceOptions): Promise<CoreClient>
  openProxy(): Promise<RpcProxy>
  /** A signed payment of 10,000 units by a payer with 25,000. */
  plan(plan?: PaymentPlan): Promise<PlannedPayment>
  /** Closes services and proxies, and lets the chain make blocks again. */
  reset(): Promise<void>
  close(): Promise<void>
}

/** For `useScene`. */
export const openScene = async (options: TronChainOptions = {}): Promise<Scene> => {
  const [chain, database] = await Promise.all([
    startTronChain({ blockTimeMs: 40, ...options }),
    createTestDatabase(),
  ])
  const token = await chain.deploy('TetherTrc20')
  const closers: (() => Promise<void>)[] = []
  const reset = async () => {
    chain.resume()
    for (const close of closers.splice(0).reverse()) await close()
  }
  return {
    chain,
    database,
    token,
    open: async ({ url = chain.url, environment = {}, ...rest } = {}) => {
      const core = await openCore({
        databaseUrl: database.url,
        environment: {
          ...nileEnvironment(url, token),
          ...environment,
        },
        ...rest,
      })
      closers.push(() => core.close())
      return createCoreClient(core)
    },
    openProxy: async () => {
      const proxy = await startRpcProxy(chain.url)
      closers.push(() => proxy.stop())
      return proxy
    },
    plan: async ({ token: other = token, payer = createTronKey(), sun = 100_000_000, signed = {} } = {}) => {
      const payTo = createTronKey().address
      chain.fund(payer.address, sun)
      await chain.mint(other, payer.address, 25_000n)
      const body = await tronPayment({ chain, payer, payTo, token: other, amount: 10_000n, signed })
      return { body, payer, payTo }
    },
    reset,
    close: async () => {
      await reset()
      await database.drop()
      await chain.stop()
    },
  }
}
