import { RpcError, readRateLimit } from '../../../nodes/endpoint.js'
import { larger, smaller } from '../../abi/words.js'
import type { LogFilter, Rpc } from '../../rpc/rpc.js'
import type { Log, Receipt } from '../../rpc/wireShapes.js'
import type { Execution } from '../settlementCall.js'
import { findReceipt, type ReceiptPolicy } from './findReceipt.js'

// A longer search goes on in the reconciler's next round.
const maxQueries = 50
// A block's timestamp may lag behind the clock that recorded `since`.
const clockSlackSeconds = 300n
// Blocks this close to the head are searched again: a reorganisation may replace them.
const unsettledBlocks = 64n

/** Searches the blocks from a time up to one block. */
interface LogSearch extends Pick<LogFilter, 'address' | 'topics'> {
  readonly at: bigint
  readonly since: Date
  /** Further conditions; `key` distinguishes the progress of searches with equal topics. */
  readonly only?: { readonly key: string; isWanted(log: Log): Promise<boolean> }
}

interface LogFinding {
  readonly log: Log | null
  /** False: none in as many blocks as one round searches; the next round goes on. */
  readonly isComplete: boolean
}

/** The oldest match, or null. */
export const findLog = async (rpc: Rpc, search: LogSearch): Promise<Log | null> =>
  (await searchLogs(rpc, search)).log

/** What became of a payment that an event names: `unknown` while no node shows the event or its receipt. */
export const findExecutionByLog = async (
  rpc: Rpc,
  search: LogSearch,
  policy: ReceiptPolicy,
  isPaid: (receipt: Receipt) => boolean,
): Promise<Execution> => {
  const log = await findLog(rpc, search)
  const receipt = log?.transactionHash == null ? null : await findReceipt(rpc, log.transactionHash, policy)
  if (receipt === null) return { state: 'unknown' }
  return isPaid(receipt) ? { state: 'paid', receipt } : { state: 'void' }
}

/** Gives the oldest match. Halves a query that the nodes refuse. */
export const searchLogs = async (
  rpc: Rpc,
  { address, topics, at, since, only }: LogSearch,
): Promise<LogFinding> => {
  const { logMemory: memory } = rpc
  const name = JSON.stringify([address, topics, only?.key])
  let fromBlock = memory.recall(name)?.nextBlock ?? (await findBlockBefore(rpc, since, at))
  for (let query = 0; query < maxQueries && fromBlock <= at; query++) {
    const toBlock = smaller(fromBlock + memory.range - 1n, at)
    const logs = await queryLogs(rpc, { address, topics, fromBlock, toBlock })
    if (logs === null) continue
    const log = await findWanted(logs, only)
    if (log !== null) {
      memory.forget(name)
      return { log, isComplete: true }
    }
    fromBlock = toBlock + 1n
    // Searching more than half of a round again would get no further.
    const again = smaller(unsettledBlocks, memory.range * BigInt(maxQueries / 2))
    memory.remember(name, smaller(fromBlock, at > again ? at - again : 0n))
  }
  // A node that lags behind may have answered: the next search begins anew.
  const isComplete = fromBlock > at
  if (isComplete) memory.forget(name)
  return { log: null, isComplete }
}

/** A search for the event of a change that was made by block `at`. */
interface ChangeSearch extends Omit<LogSearch, 'only'> {
  /** Distinguishes the progress of searches with equal topics. */
  readonly key: string
  /** A value of the contract in block `at` that events change. */
  readonly value: bigint
  /** The value before an event; null: the event is the one that is searched for. */
  stepBack(log: Log, value: bigint): Promise<bigint | null>
}

/**
 * The newest match. Most nodes have the state of the last 128 blocks only, but all events: what a contract had stored after an
 * older event is what it stores now without what the later ones added.
 */
export const findChange = async (
  rpc: Rpc,
  { address, topics, at, since, key, value, stepBack }: ChangeSearch,
): Promise<LogFinding> => {
  const { logMemory: memory } = rpc
  const name = JSON.stringify([address, topics, `change ${key}`])
  const oldest = await findBlockBefore(rpc, since, at)
  let { nextBlock: toBlock, value: after } = memory.recall(name) ?? { nextBlock: at, value }
  for (let query = 0; query < maxQueries && toBlock >= oldest; query++) {
    const fromBlock = larger(toBlock - memory.range + 1n, oldest)
    const logs = await queryLogs(rpc, { address, topics, fromBlock, toBlock })
    if (logs === null) continue
    for (const log of logs.toReversed()) {
      const before = await stepBack(log, after)
      if (before === null) {
        memory.forget(name)
        return { log, isComplete: true }
      }
      after = before
    }
    toBlock = fromBlock - 1n
    memory.remember(name, toBlock, after)
  }
  // A reorganisation, or a node that lags behind, may have hidden it: the next search begins anew.
  const isComplete = toBlock < oldest
  if (isComplete) memory.forget(name)
  return { log: null, isComplete }
}

const findWanted = async (logs: readonly Log[], only: LogSearch['only']): Promise<Log | null> => {
  if (only === undefined) return logs[0] ?? null
  const wanted = await Promise.all(logs.map((log) => only.isWanted(log)))
  return logs.find((_, index) => wanted[index]) ?? null
}

/** Null when the nodes refused it as too large; the next one spans half as many blocks. */
export const queryLogs = async (
  rpc: Pick<Rpc, 'getLogs' | 'logMemory'>,
  filter: LogFilter,
): Promise<readonly Log[] | null> => {
  try {
    const logs = await rpc.getLogs(filter)
    rpc.logMemory.onAnswer()
    return logs
  } catch (error) {
    // A timeout halves it too, but not in this round: more of the same would take as long.
    const isSmaller = rpc.logMemory.onRefusal()
    if (isSmaller && isRefusal(error)) return null
    throw error
  }
}

/** Whether a node answered, and refused for another reason than too many requests. */
const isRefusal = (error: unknown): boolean => {
  if (error instanceof RpcError) return readRateLimit(error) === null
  return error instanceof Error && error.cause !== undefined && isRefusal(error.cause)
}

/** A block that is older than a time, and not by much more than one query spans; 0 when all are younger. */
const findBlockBefore = async (rpc: Rpc, since: Date, at: bigint): Promise<bigint> => {
  const seconds = BigInt(Math.floor(since.getTime() / 1_000)) - clockSlackSeconds
  const isOlder = async (number: bigint) => {
    const block = await rpc.getBlock(number)
    return block === null || block.timestamp < seconds
  }
  const { range } = rpc.logMemory
  let [older, younger, step] = [at, at, range]
  do {
    younger = older
    older = older > step ? older - step : 0n
    step *= 4n
  } while (older > 0n && !(await isOlder(older)))
  while (younger - older > range) {
    const middle = (older + younger) / 2n
    if (await isOlder(middle)) older = middle
    else younger = middle
  }
  return older
}
