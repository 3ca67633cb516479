import type { Hex } from 'viem'
import type { Rpc } from '../../rpc/rpc.js'
import type { Block, Receipt } from '../../rpc/wireShapes.js'

export interface RecentBlocks {
  /** Oldest first; the last one is the head. */
  readonly blocks: readonly Block[]
  /** By transaction hash, in lower case. */
  readonly receipts: ReadonlyMap<Hex, Receipt>
}

/** Serves from the last read, else requests; a call for one endpoint is always forwarded to it. */
export const withRecentBlocks = (rpc: Rpc, { blocks, receipts }: RecentBlocks): Rpc => ({
  ...rpc,
  getBlock: async (at, ...rest) => {
    const known = at === 'latest' ? blocks.at(-1) : blocks.find(({ number }) => number === at)
    return rest.length === 0 && known !== undefined ? known : await rpc.getBlock(at, ...rest)
  },
  getReceipt: async (transaction, endpoint) => {
    const known = endpoint === undefined ? receipts.get(lowerCase(transaction)) : undefined
    return known ?? (await rpc.getReceipt(transaction, endpoint))
  },
})

export const lowerCase = (transaction: Hex): Hex => `0x${transaction.slice(2).toLowerCase()}`

/** All receipts of a block in one request; empty when unavailable. */
export type ReadBlockReceipts = (at: bigint) => Promise<readonly Receipt[]>

// Not every node has eth_getBlockReceipts; a failure is not repeated for this long.
const pauseMs = 60_000

/** After a failure, receipts are requested one by one. */
export const createReadBlockReceipts = (rpc: Pick<Rpc, 'getBlockReceipts'>): ReadBlockReceipts => {
  let askFrom = 0
  return async (at) => {
    if (performance.now() < askFrom) return []
    try {
      return (await rpc.getBlockReceipts(at)) ?? []
    } catch {
      askFrom = performance.now() + pauseMs
      return []
    }
  }
}
