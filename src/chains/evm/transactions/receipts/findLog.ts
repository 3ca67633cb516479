import type { Log, LogFilter, Rpc } from '../../rpc/rpc.js'

// Providers limit the block range of a log query; a longer search continues in the reconciler's next round.
const blocksPerQuery = 2_000n
const maxQueries = 50
// A block's timestamp may lag behind the clock that recorded `since`.
const clockSlackSeconds = 300n

/** Backwards from a block to a time. */
export interface LogSearch extends Pick<LogFilter, 'address' | 'topics'> {
  readonly at: bigint
  readonly since: Date
}

/** From the newest range with a match; null when there is none. */
export const findLog = async (rpc: Rpc, { address, topics, at, since }: LogSearch): Promise<Log | null> => {
  const oldest = BigInt(Math.floor(since.getTime() / 1_000)) - clockSlackSeconds
  let toBlock = at
  for (let query = 0; query < maxQueries; query++) {
    const fromBlock = toBlock >= blocksPerQuery ? toBlock - blocksPerQuery + 1n : 0n
    const [log] = await rpc.getLogs({ address, topics, fromBlock, toBlock })
    if (log !== undefined) return log
    if (fromBlock === 0n) return null
    const reached = await rpc.getBlock(fromBlock)
    if (reached !== null && reached.timestamp < oldest) return null
    toBlock = fromBlock - 1n
  }
  return null
}
