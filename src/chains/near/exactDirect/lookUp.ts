import type { LookUp, LookUpQuery } from '../../../schemes/exactDirect/directChain.js'
import type { Ask } from '../../common/direct/node.js'
import { readBlock, readFinalBlock, readTransaction } from '../rpc/rpc.js'
import type { FinalTransaction } from '../rpc/wireShapes.js'
import { isAuthorizedBy, listTransfers } from './transfers.js'

/**
 * Three requests. Only `FINAL` counts: all receipts, refunds included, are in final blocks. The time is that of the
 * transaction's own block; receipts follow it.
 */
export const readDirectTransaction = async (
  { transaction, from }: LookUpQuery,
  ask: Ask,
): Promise<LookUp> => {
  const found = await readTransaction(ask, { transaction, sender: from })
  if (found === 'missing' || found === 'pending') return { state: found }
  const [block, final] = await Promise.all([readBlock(ask, found.blockHash), readFinalBlock(ask)])
  // Endpoints differ: this one has not seen the block as final.
  if (block.height > final.height) return { state: 'pending' }
  const transfers = listTransfers(found)
  if (transfers.length === 0 && hasFailed(found)) return { state: 'failed' }
  const isAuthorized = isAuthorizedBy(found, from)
  return {
    state: 'successful',
    includedAt: block.time,
    transfers: transfers.filter((transfer) => isAuthorized || transfer.from !== from),
  }
}

/** The transaction's own status says nothing about receipts that it did not wait for. */
const hasFailed = ({ isSuccessful, receipts }: FinalTransaction): boolean =>
  !isSuccessful || receipts.some((receipt) => !receipt.isSuccessful)
