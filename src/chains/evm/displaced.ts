import { parseTransaction, recoverTransactionAddress, type TransactionSerialized } from 'viem'
import { z } from 'zod'
import type { SignedTransaction } from '../../ports/settlementJournal.js'
import { asHex } from './hex.js'
import type { Block, Rpc } from './rpc.js'

const ourTransaction = z.custom<TransactionSerialized>(
  (bytes) => typeof bytes === 'string' && /^0x[0-9a-f]+$/.test(bytes),
)

// So many blocks back no reorganisation of the chains that we serve gives a used number free again.
const settledDepth = 32n

/**
 * Whether other transactions took the numbers of everything that was recorded, long ago: then none of our bytes
 * can ever be mined. Happens only when another program sends with the same key.
 */
export const areDisplaced = async (
  rpc: Rpc,
  broadcasts: readonly SignedTransaction[],
  head: Block,
): Promise<boolean> => {
  if (head.number < settledDepth) return false
  for (const { bytes } of broadcasts) {
    const { nonce } = parseTransaction(asHex(bytes))
    const signer = await recoverTransactionAddress({ serializedTransaction: ourTransaction.parse(bytes) })
    const used = await rpc.getTransactionCount(signer, head.number - settledDepth)
    if (nonce === undefined || used <= nonce) return false
  }
  return true
}
