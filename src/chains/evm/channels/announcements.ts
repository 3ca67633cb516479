import type { ChannelCare } from '../../../schemes/channelCare.js'
import { networkUnavailable } from '../../common/networkUnavailable.js'
import type { Endpoint } from '../../nodes/endpoint.js'
import { larger, smaller } from '../abi/words.js'
import { createLogMemory, type LogMemory } from '../rpc/logMemory.js'
import type { Rpc } from '../rpc/rpc.js'
import type { Block } from '../rpc/wireShapes.js'
import { queryLogs } from '../transactions/receipts/findLog.js'
import { settlementAddress, topics } from './contract.js'

/* Withdrawals that payers announce, read from the log of the chain. */

/** Announced withdrawals that are taken from one query. */
const maxAnnounced = 5_000
/** The time that a chain takes for so many blocks tells how fast it makes them. */
const sampleBlocks = 1_000n
// A chain can change its pace.
const measureEveryMs = 600_000
/** A reorg of a slow chain can replace so many blocks. */
const fewestRecent = 64n
/** With what came since the last round, these fit one query of the widest range. */
const mostRecent = 1_500n

export const createAnnouncements = (
  network: string,
  rpc: Pick<Rpc, 'getBlock' | 'listWitnesses' | 'viewOf'>,
): Pick<ChannelCare, 'readHead' | 'listAnnounced'> => {
  // These belong to the watch: what strangers announce must not shorten what other searches ask for.
  const logMemories = new WeakMap<Endpoint, LogMemory>()
  const memoryOf = (endpoint: Endpoint): LogMemory => {
    const memory = logMemories.get(endpoint) ?? createLogMemory()
    logMemories.set(endpoint, memory)
    return memory
  }

  let [recent, measuredAtMs] = [mostRecent, Number.NEGATIVE_INFINITY]

  const measureRecent = async ({ number, timestamp }: Block, seconds: number): Promise<void> => {
    const blocks = smaller(sampleBlocks, number)
    const older = await rpc.getBlock(number - blocks)
    if (older === null) return
    const took = timestamp - older.timestamp
    const counted = took > 0n ? (blocks * BigInt(seconds)) / took : mostRecent
    recent = larger(fewestRecent, smaller(mostRecent, counted))
    measuredAtMs = performance.now()
  }

  /** Asks one endpoint for what it has of the blocks. Null means that it refuses so many. */
  const askOne = async (
    endpoint: Endpoint,
    { from, to }: { readonly from: bigint; readonly to: bigint },
  ): ReturnType<ChannelCare['listAnnounced']> => {
    const view = rpc.viewOf(endpoint)
    const logMemory = memoryOf(endpoint)
    // A node answers an empty list for blocks that it does not have yet: the answer counts up to a block that it had before.
    const head = (await view.getBlock('latest'))?.number ?? -1n
    const toBlock = smaller(from + logMemory.range - 1n, smaller(to, head))
    if (toBlock < from) return { channelIds: [], nextBlock: from }
    const filter = { address: settlementAddress, topics: [topics.withdrawInitiated] }
    const getLogs = view.getLogs
    const logs = await queryLogs({ getLogs, logMemory }, { ...filter, fromBlock: from, toBlock })
    if (logs === null) return null
    // Anyone can announce many. What one block holds is read in any case.
    if (logs.length > maxAnnounced && toBlock > from) {
      logMemory.onRefusal()
      return null
    }
    const channelIds = logs.flatMap(({ topics: [, channelId] }) => channelId?.toLowerCase() ?? [])
    return { channelIds: [...new Set(channelIds)], nextBlock: toBlock + 1n }
  }

  return {
    readHead: async (seconds) => {
      const head = await rpc.getBlock('latest')
      if (head === null) return null
      if (performance.now() - measuredAtMs >= measureEveryMs) await measureRecent(head, seconds)
      return { number: head.number, recent }
    },

    listAnnounced: async ({ from, to, turn }) => {
      const witnesses = rpc.listWitnesses()
      const first = witnesses.length === 0 ? 0 : turn % witnesses.length
      const inTurn = [...witnesses.slice(first), ...witnesses.slice(0, first)]
      const failures: unknown[] = []
      let isRefused = false
      for (const endpoint of inTurn) {
        try {
          const found = await askOne(endpoint, { from, to })
          if (found === null) isRefused = true
          else if (found.nextBlock > from) return found
        } catch (error) {
          failures.push(error)
        }
      }
      if (isRefused) return null
      if (failures.length > 0 || inTurn.length === 0) throw failures[0] ?? networkUnavailable(network)
      return { channelIds: [], nextBlock: from }
    },
  }
}
