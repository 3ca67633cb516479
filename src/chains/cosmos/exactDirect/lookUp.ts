import type { LookUp, LookUpQuery } from '../../../schemes/exactDirect/directChain.js'
import type { Ask } from '../../common/direct/node.js'
import { findTransaction, readHeader } from '../rpc/rpc.js'
import { listTransfers } from './transfers.js'

/**
 * Two requests. The bytes must have the hash, and be in the tree of which the block's header names the root. A block is
 * final as soon as there is one. Failed transactions are in blocks too, with a code.
 */
export const createReadTransaction =
  ({ chainId, prefix }: { readonly chainId: string; readonly prefix: string }) =>
  async ({ transaction }: LookUpQuery, ask: Ask): Promise<LookUp> => {
    const found = await findTransaction(ask, transaction)
    if (found === null) return { state: 'missing' }
    const { height, dataHash, code } = found
    const header = await readHeader(ask, { chainId, height, dataHash })
    if (code !== 0) return { state: 'failed' }
    return { state: 'successful', includedAt: header.time, transfers: listTransfers(found, prefix) }
  }
