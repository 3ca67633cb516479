import type { Receipt, Rpc } from '../../rpc/rpc.js'

/** All receipts of a block in one answer, or none where the nodes cannot give them. */
export type ReadBlockReceipts = (at: bigint) => Promise<readonly Receipt[]>

// A node that has not got the method does not learn it soon; one that only failed is asked again.
const pauseMs = 60_000

/** Builds what reads a block's receipts; a failure is only a longer way. */
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
