import { type LocalChain, startLocalChain } from '../test/support/evm/localChain.js'
import { startTcpProxy } from '../test/support/tcpProxy.js'
import { startOurs, startReference } from './contenders.js'
import type { Contender } from './launch.js'
import { startDatabase } from './startDatabase.js'

/** A chain of its own, and on it the facilitators, each with one key. */
export interface Stage {
  readonly chain: LocalChain
  /** Our service with its embedded database. */
  readonly ours: Contender
  readonly reference: Contender
  /** Our service on a Postgres server that runs beside it; null unless asked for. */
  readonly oursOnPostgres: Contender | null
}

/** What a stage has. */
export interface StageOptions {
  /** Mines a block every so many seconds; without it each transaction is mined at once. */
  readonly blockTimeSeconds?: number
  readonly hasPostgres?: boolean
  /** How much later than the chain's own answers those are that the facilitators get. */
  readonly rpcDelayMs?: number
}

/** Starts a stage, works on it, and ends everything that it started, in reverse order. */
export const withStage = async (
  { blockTimeSeconds, hasPostgres = false, rpcDelayMs = 0 }: StageOptions,
  work: (stage: Stage) => Promise<void>,
): Promise<void> => {
  const started: { stop(): Promise<void> }[] = []
  const keep = async <Part extends { stop(): Promise<void> }>(starting: Promise<Part>): Promise<Part> => {
    const part = await starting
    started.push(part)
    return part
  }
  try {
    const chain = await keep(startLocalChain({ facilitatorCount: 3 }))
    const [first, second, third] = chain.facilitators
    if (first === undefined || second === undefined || third === undefined)
      throw new Error('keys are missing')
    if (blockTimeSeconds !== undefined) {
      await chain.control.setAutomine(false)
      await chain.control.setBlockTime(blockTimeSeconds)
    }
    const rpcUrl = rpcDelayMs === 0 ? chain.url : (await keep(delay(chain.url, rpcDelayMs))).url
    const ours = await keep(startOurs({ rpcUrl, key: first }))
    const reference = await keep(startReference({ rpcUrl, key: second }))
    const database = hasPostgres ? await keep(startDatabase()) : null
    const oursOnPostgres =
      database === null ? null : await keep(startOurs({ rpcUrl, key: third }, database.url))
    await work({ chain, ours, reference, oursOnPostgres })
  } finally {
    for (const part of started.reverse()) await part.stop()
  }
}

const delay = async (url: string, milliseconds: number) => {
  const proxy = await startTcpProxy(Number(new URL(url).port))
  // Half of it on the way there, half on the way back.
  proxy.delay(milliseconds / 2)
  return { url: `http://127.0.0.1:${proxy.port}`, stop: () => proxy.close() }
}
