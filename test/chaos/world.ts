import type { Pool } from 'pg'
import type { Address } from 'viem'
import { withSignal } from '../../src/concurrency/deadline.js'
import { openPool } from '../../src/stores/postgres/database/pool.js'
import { type LocalChain, startLocalChain } from '../support/evm/localChain.js'
import { deployUptoRouter } from '../support/evm/uptoRouter.js'
import { createEoa, type EoaWallet } from '../support/evm/wallets.js'
import { patientPool } from '../support/patientPool.js'
import { startTestRedis, type TestRedis } from '../support/redis.js'
import { overTcp, startTcpProxy } from '../support/tcpProxy.js'
import { type Account, openAccount } from './account.js'
import { type ChaosDatabase, startChaosDatabase } from './database.js'
import { type Instance, startInstance } from './instance.js'
import { type Miner, startMiner } from './miner.js'
import type { Random } from './random.js'

export interface World {
  readonly chain: LocalChain
  readonly miner: Miner
  /** The shared router of both instances. */
  readonly router: Address
  readonly database: ChaosDatabase
  /** The suite's own pool, not affected by faults of instances. */
  readonly pool: Pool
  /** Null without redis-server. */
  readonly redis: TestRedis | null
  readonly instances: readonly [Instance, Instance]
  readonly account: Account
  /** Signs for the receivers of channels. */
  readonly channelAuthorizer: EoaWallet
  /** Receive payments of this load only. */
  readonly recipients: readonly [Address, ...Address[]]
  stop(): Promise<void>
}

export const operatorToken = 'token-of-the-operator-of-the-chaos-run'

const stopDeadlineMs = 60_000
const signerCount = 3
const blockTimeMs = 400
/** Blocks on top of a payment's own. */
export const finalityDepth = 64

/** On failure, everything that was started is stopped. */
export const startWorld = async (random: Random): Promise<World> => {
  const closers: { readonly what: string; readonly close: () => Promise<unknown> }[] = []
  /** In reverse order, continuing after failures and timeouts. */
  const stop = async () => {
    const failures: string[] = []
    for (const { what, close } of closers.splice(0).reverse()) {
      await withSignal(close(), AbortSignal.timeout(stopDeadlineMs)).catch((error: unknown) =>
        failures.push(`${what}: ${String(error)}`),
      )
    }
    if (failures.length > 0) throw new Error(`The world did not stop in order: ${failures.join('; ')}`)
  }
  /** Registered as soon as it has started, even if others fail. */
  const keep = async <T>(
    what: string,
    starting: Promise<T>,
    close: (started: T) => Promise<unknown>,
  ): Promise<T> => {
    const started = await starting
    closers.push({ what, close: () => close(started) })
    return started
  }
  try {
    const [chain, database, redis] = await allOrError([
      keep('chain', startLocalChain({ facilitatorCount: signerCount, hasBatchSettlement: true }), (started) =>
        started.stop(),
      ),
      keep('database', startChaosDatabase(), (started) => started.stop()),
      keep('redis', startTestRedis(), async (started) => started?.stop()),
    ])
    const router = await deployUptoRouter(chain)
    const miner = await keep('miner', startMiner(chain.control, blockTimeMs), (started) => started.stop())
    const environment = environmentOf(chain, redis)
    const start = (name: string) =>
      keep(
        `instance ${name}`,
        startInstance({
          name,
          chainUrl: chain.url,
          chainId: chain.chainId,
          postgres: database,
          environment,
        }),
        (started) => started.stop(),
      )
    const [first, second] = await allOrError([start('A'), start('B')])
    const account = await keep('account', openAccount(first.url, random.fork()), (started) => started.stop())
    const proxy = await keep(
      'database proxy',
      startTcpProxy(() => Number(new URL(database.url).port)),
      (started) => started.close(),
    )
    const pool = openPool({ ...patientPool, url: overTcp(database.url, proxy.port), maxConnections: 4 })
    closers.push({ what: 'pool', close: () => pool.end() })
    return {
      chain,
      miner,
      router,
      database,
      pool,
      redis,
      instances: [first, second],
      account,
      channelAuthorizer: createEoa(),
      recipients: [random.hex(20), random.hex(20), random.hex(20)],
      stop,
    }
  } catch (error) {
    await stop()
    throw error
  }
}

/** Like `Promise.all`, but waits for all before rejecting. */
const allOrError = async <T extends readonly unknown[]>(
  starting: {
    readonly [K in keyof T]: Promise<T[K]>
  },
): Promise<{ -readonly [K in keyof T]: T[K] }> => {
  await Promise.allSettled(starting)
  return await Promise.all(starting)
}

const environmentOf = (chain: LocalChain, redis: TestRedis | null): Record<string, string> => ({
  EVM_PRIVATE_KEY: chain.facilitators.map(({ privateKey }) => privateKey).join(','),
  [`EVM_POLL_INTERVAL_MS_${chain.chainId}`]: '100',
  [`EVM_FINALITY_DEPTH_${chain.chainId}`]: String(finalityDepth),
  [`EVM_GAS_BUDGET_GWEI_PER_HOUR_${chain.chainId}`]: '1000000000000',
  // Shorter than the patience of clients.
  EVM_RPC_TIMEOUT_MS: '1000',
  // About half of the payments are cross-checked on a second node.
  EVM_CROSS_CHECK_AMOUNT: '25000',
  OPERATOR_TOKEN: operatorToken,
  TIERS: JSON.stringify({
    shop: { name: 'Shop', monthlyQuota: 1_000_000, rpmLimit: 1_000_000, feeRate: 0.01 },
  }),
  WEBHOOK_ALLOW: 'loopback',
  SETTLE_WAIT_SECONDS: '4',
  ANONYMOUS_REQUESTS_PER_MINUTE: '1000000',
  ANONYMOUS_SETTLES_PER_MINUTE: '1000000',
  SETTLES_PER_PAYER_PER_HOUR: '1000000',
  SETTLES_PER_RECIPIENT_PER_HOUR: '1000000',
  ...(redis === null ? {} : { REDIS_URL: redis.url }),
})
