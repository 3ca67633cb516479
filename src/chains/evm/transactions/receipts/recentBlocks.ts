import type { Hex } from 'viem'
import type { Block, Receipt, Rpc } from '../../rpc/rpc.js'

/** What was read of the newest blocks a moment ago. */
export interface RecentBlocks {
  /** Oldest first; the last one is the newest that there is. */
  readonly blocks: readonly Block[]
  /** By transaction hash, in lower case. */
  readonly receipts: ReadonlyMap<Hex, Receipt>
}

/** The nodes, but what was just read of a block is not read again; who asks a node by name gets its own word. */
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

/** A hash as the readings are keyed by it. */
export const lowerCase = (transaction: Hex): Hex => `0x${transaction.slice(2).toLowerCase()}`
