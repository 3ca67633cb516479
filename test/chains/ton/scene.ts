import type { Address } from '@ton/core'
import { systemClock } from '../../../src/platform/clock.js'
import type { Logger } from '../../../src/ports/logger.js'
import { openCore } from '../../support/core.js'
import { type CoreClient, createCoreClient } from '../../support/coreClient.js'
import { createTestDatabase, type TestDatabase } from '../../support/postgres.js'
import { type RpcProxy, startRpcProxy } from '../../support/rpcProxy.js'
import { fundRelayWallets, tonEnvironment } from '../../support/ton/relayWallets.js'
import { startTonChain, type TonChain } from '../../support/ton/tonChain.js'

interface ServiceOptions {
  readonly url?: string
  readonly environment?: Readonly<Record<string, string>>
  readonly logger?: Logger
}

interface Scene {
  readonly chain: TonChain
  readonly database: TestDatabase
  /** Funded relay wallets. */
  readonly relays: readonly Address[]
  open(options?: ServiceOptions): Promise<CoreClient>
  openProxy(): Promise<RpcProxy>
  /** Total balance of the relay wallets in nanoTON. */
  sumRelayBalances(): Promise<bigint>
  /** Closes services and proxies, and restores the chain's default behaviour. */
  reset(): Promise<void>
  close(): Promise<void>
}

/** For `useScene`. */
export const openScene = async (): Promise<Scene> => {
  const [chain, database] = await Promise.all([startTonChain(), createTestDatabase()])
  const relays = await fundRelayWallets(chain, 4)
  const closers: (() => Promise<void>)[] = []
  const reset = async () => {
    // Settlements of a test that failed may wait for what it holds.
    chain.ledger.release()
    for (const close of closers.splice(0).reverse()) await close()
    chain.ledger.setDelays({ inclusionMs: 0, hopMs: 0 })
    chain.ledger.setDropping(false)
    await chain.ledger.settle()
  }
  return {
    chain,
    database,
    relays,
    open: async ({ url = chain.url, environment = {}, ...rest } = {}) => {
      const core = await openCore({
        databaseUrl: database.url,
        environment: { ...tonEnvironment(chain, url), ...environment },
        // Chain time, so that a warp moves both clocks.
        clock: { ...systemClock, now: () => new Date(chain.ledger.now() * 1_000) },
        ...rest,
      })
      closers.push(() => core.close())
      return createCoreClient(core)
    },
    sumRelayBalances: async () => {
      const balances = await Promise.all(relays.map(chain.balanceOf))
      return balances.reduce((sum, balance) => sum + balance, 0n)
    },
    openProxy: async () => {
      const proxy = await startRpcProxy(chain.url)
      closers.push(() => proxy.stop())
      return proxy
    },
    reset,
    close: async () => {
      await reset()
      await database.drop()
      await chain.stop()
    },
  }
}
