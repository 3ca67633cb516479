import { type LocalChain, startLocalChain } from '../test/support/evm/localChain.js'
import { deployUptoRouter } from '../test/support/evm/uptoRouter.js'
import { startTcpProxy } from '../test/support/tcpProxy.js'
import { startLimit, startOurs, startReference } from './contenders.js'
import type { Contender } from './launch.js'
import { startDatabase } from './startDatabase.js'

export interface Stage {
  readonly chain: LocalChain
  readonly ours: Contender
  readonly reference: Contender
  /** The least that one process can do for a payment of a key. */
  readonly limit: Contender
  /** quittance on a Postgres server; null unless requested. */
  readonly oursOnPostgres: Contender | null
}

export interface StageOptions {
  /** Block interval; without it each transaction is mined at once. */
  readonly blockTimeSeconds?: number
  readonly hasPostgres?: boolean
  readonly rpcDelayMs?: number
  /** Whether the router for permits is deployed for our key. */
  readonly hasRouter?: boolean
  /** Whether the chain has x402's settlement of channels. */
  readonly hasBatchSettlement?: boolean
  /** Whether the chain has the escrow of holds. */
  readonly hasAuthCapture?: boolean
}

type Keep = <Part extends { stop(): Promise<void> }>(starting: Promise<Part>) => Promise<Part>

/** Stops everything that was kept, in reverse order. */
export const withParts = async (work: (keep: Keep) => Promise<void>): Promise<void> => {
  const started: { stop(): Promise<void> }[] = []
  try {
    await work(async (starting) => {
      const part = await starting
      started.push(part)
      return part
    })
  } finally {
    for (const part of started.reverse()) await part.stop()
  }
}

/** Stops everything that it started. */
export const withStage = async (
  {
    blockTimeSeconds,
    hasPostgres = false,
    rpcDelayMs = 0,
    hasRouter = false,
    hasBatchSettlement = false,
    hasAuthCapture = false,
  }: StageOptions,
  work: (stage: Stage) => Promise<void>,
): Promise<void> => {
  await withParts(async (keep) => {
    const chain = await keep(startLocalChain({ facilitatorCount: 3, hasBatchSettlement, hasAuthCapture }))
    const [first, second, third] = chain.facilitators
    if (first === undefined || second === undefined || third === undefined)
      throw new Error('keys are missing')
    if (hasRouter) await deployUptoRouter(chain, [first])
    if (blockTimeSeconds !== undefined) {
      await chain.control.setAutomine(false)
      await chain.control.setBlockTime(blockTimeSeconds)
    }
    const rpcUrl = rpcDelayMs === 0 ? chain.url : (await keep(delay(chain.url, rpcDelayMs))).url
    const ours = await keep(startOurs({ rpcUrl, key: first }))
    const reference = await keep(startReference({ rpcUrl, key: second }))
    const limit = await keep(startLimit(chain.chainId))
    const database = hasPostgres ? await keep(startDatabase()) : null
    const oursOnPostgres =
      database === null ? null : await keep(startOurs({ rpcUrl, key: third }, database.url))
    await work({ chain, ours, reference, limit, oursOnPostgres })
  })
}

const delay = async (url: string, milliseconds: number) => {
  const proxy = await startTcpProxy(Number(new URL(url).port))
  // Half in each direction.
  proxy.delay(milliseconds / 2)
  return { url: `http://127.0.0.1:${proxy.port}`, stop: () => proxy.close() }
}
