import type { Hex } from 'viem'
import type { Block, Receipt, Rpc } from '../../rpc/rpc.js'

/** What was just read of the newest blocks. */
export interface RecentBlocks {
  /** Oldest first; the last one is the head. */
  readonly blocks: readonly Block[]
  /** By transaction hash, in lower case. */
  readonly receipts: ReadonlyMap<Hex, Receipt>
}

/** Answers from what was just read, else asks; a call that names an endpoint always asks that endpoint. */
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

/** The form of a hash in which receipts and watches are keyed. */
export const lowerCase = (transaction: Hex): Hex => `0x${transaction.slice(2).toLowerCase()}`

/** All receipts of a block in one answer; empty when the nodes cannot give them. */
export type ReadBlockReceipts = (at: bigint) => Promise<readonly Receipt[]>

// Not every node has eth_getBlockReceipts; a failure is not repeated for this long.
const pauseMs = 60_000

/** Builds the reader of block receipts; after a failure receipts are read one by one. */
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
