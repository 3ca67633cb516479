import type { Pool } from 'pg'
import type { Address } from 'viem'
import { withSignal } from '../../src/deadline.js'
import { openPool } from '../../src/stores/postgres/database/pool.js'
import { type LocalChain, startLocalChain } from '../support/evm/localChain.js'
import { startTestRedis, type TestRedis } from '../support/redis.js'
import { startTcpProxy } from '../support/tcpProxy.js'
import { type ChaosDatabase, startChaosDatabase, throughPort } from './database.js'
import { type Instance, startInstance } from './instance.js'
import { type Miner, startMiner } from './miner.js'
import type { Random } from './random.js'

/** Two instances of the service and everything that they stand on, all of it real and all of it breakable. */
export interface World {
  readonly chain: LocalChain
  readonly miner: Miner
  readonly database: ChaosDatabase
  /** Our own way to the database, which no fault of an instance touches. */
  readonly pool: Pool
  /** Null where this machine has no Redis. */
  readonly redis: TestRedis | null
  readonly instances: readonly [Instance, Instance]
  /** Whom the load pays; nobody else pays them. */
  readonly recipients: readonly [Address, ...Address[]]
  stop(): Promise<void>
}

const stopDeadlineMs = 60_000
const signerCount = 3
const blockTimeMs = 400

/** Starts the world; what has been started is stopped again when something cannot start. */
export const startWorld = async (random: Random): Promise<World> => {
  const closers: { readonly what: string; readonly close: () => Promise<unknown> }[] = []
  /** In reverse order, each even when another fails or hangs. */
  const stop = async () => {
    const failures: string[] = []
    for (const { what, close } of closers.splice(0).reverse()) {
      await withSignal(close(), AbortSignal.timeout(stopDeadlineMs)).catch((error: unknown) =>
        failures.push(`${what}: ${String(error)}`),
      )
    }
    if (failures.length > 0) throw new Error(`The world did not stop in order: ${failures.join('; ')}`)
  }
  /** Whatever starts is noted at once, whether or not the others do. */
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
      keep('chain', startLocalChain({ facilitatorCount: signerCount }), (started) => started.stop()),
      keep('database', startChaosDatabase(), (started) => started.stop()),
      keep('redis', startTestRedis(), async (started) => started?.stop()),
    ])
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
    const way = await keep(
      'way to the database',
      startTcpProxy(() => Number(new URL(database.url).port)),
      (started) => started.close(),
    )
    const pool = openPool({
      url: throughPort(database, way.port),
      maxConnections: 4,
      onError: () => undefined,
    })
    closers.push({ what: 'pool', close: () => pool.end() })
    return {
      chain,
      miner,
      database,
      pool,
      redis,
      instances: [first, second],
      recipients: [random.hex(20), random.hex(20), random.hex(20)],
      stop,
    }
  } catch (error) {
    await stop()
    throw error
  }
}

/** Like `Promise.all`, but nothing is still starting when it rejects. */
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
  [`EVM_GAS_BUDGET_GWEI_PER_HOUR_${chain.chainId}`]: '1000000000000',
  // A fault of a node is over before the clients give up.
  EVM_RPC_TIMEOUT_MS: '1000',
  // About half of the load is worth a second node's word.
  EVM_CROSS_CHECK_AMOUNT: '25000',
  SETTLE_WAIT_SECONDS: '4',
  ANONYMOUS_REQUESTS_PER_MINUTE: '1000000',
  ANONYMOUS_SETTLES_PER_MINUTE: '1000000',
  SETTLES_PER_PAYER_PER_HOUR: '1000000',
  SETTLES_PER_RECIPIENT_PER_HOUR: '1000000',
  ...(redis === null ? {} : { REDIS_URL: redis.url }),
})
