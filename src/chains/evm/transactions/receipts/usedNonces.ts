import { type Hex, parseTransaction, recoverTransactionAddress, type TransactionSerialized } from 'viem'
import { z } from 'zod'
import type { SignedTransaction } from '../../../../ports/settlementJournal.js'
import { asHex } from '../../abi/hex.js'
import type { Block, Rpc } from '../../rpc/rpc.js'

const ourTransaction = z.custom<TransactionSerialized>(
  (bytes) => typeof bytes === 'string' && /^0x[0-9a-f]+$/.test(bytes),
)

// So many blocks back no reorganisation of the chains that we serve gives a used number free again.
const settledDepth = 32n

/**
 * Whether other transactions took the numbers of everything that was recorded, long ago: then none of our bytes
 * can ever be mined. Happens only when another program sends with the same key.
 */
export const areReplacedExternally = async (
  rpc: Rpc,
  broadcasts: readonly SignedTransaction[],
  head: Block,
): Promise<boolean> => {
  if (head.number < settledDepth) return false
  for (const broadcast of broadcasts) {
    const { nonce, signer } = await readSlot(broadcast)
    const used = await rpc.getTransactionCount(signer, head.number - settledDepth)
    if (used <= nonce) return false
  }
  return true
}

/** Whether every one of several transactions was mined, or has a number that a mined one of them has used up. */
export const areAllNoncesUsed = async (
  broadcasts: readonly SignedTransaction[],
  mined: readonly SignedTransaction[],
): Promise<boolean> => {
  if (broadcasts.length === mined.length) return true
  const used = await Promise.all(mined.map(readSlot))
  for (const broadcast of broadcasts) {
    const place = await readSlot(broadcast)
    if (!used.some(({ signer, nonce }) => signer === place.signer && nonce === place.nonce)) return false
  }
  return true
}

const readSlot = async ({ bytes }: SignedTransaction): Promise<{ signer: Hex; nonce: number }> => ({
  // An absent number is the encoding of zero.
  nonce: parseTransaction(asHex(bytes)).nonce ?? 0,
  signer: await recoverTransactionAddress({ serializedTransaction: ourTransaction.parse(bytes) }),
})
