import { type Hex, parseTransaction, recoverTransactionAddress, type TransactionSerialized } from 'viem'
import { z } from 'zod'
import type { SignedTransaction } from '../../../../ports/settlementJournal.js'
import { asHex } from '../../abi/words.js'
import type { Block, Rpc } from '../../rpc/rpc.js'

const ourTransaction = z.custom<TransactionSerialized>(
  (bytes) => typeof bytes === 'string' && /^0x[0-9a-f]+$/.test(bytes),
)

// A nonce that was used this many blocks ago stays used: no reorganisation of the served chains is deeper.
const settledDepth = 32n

/**
 * Whether other transactions used all nonces of the recorded ones, at final depth: then none of ours can be
 * mined. Only possible when another program uses the same key.
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

/** Whether every transaction was mined, or shares its nonce with a mined one. */
export const areAllNoncesUsed = async (
  broadcasts: readonly SignedTransaction[],
  mined: readonly SignedTransaction[],
): Promise<boolean> => {
  if (broadcasts.length === mined.length) return true
  const used = await Promise.all(mined.map(readSlot))
  for (const broadcast of broadcasts) {
    const own = await readSlot(broadcast)
    if (!used.some(({ signer, nonce }) => signer === own.signer && nonce === own.nonce)) return false
  }
  return true
}

const readSlot = async ({ bytes }: SignedTransaction): Promise<{ signer: Hex; nonce: number }> => ({
  // RLP encodes a nonce of zero as absent.
  nonce: parseTransaction(asHex(bytes)).nonce ?? 0,
  signer: await recoverTransactionAddress({ serializedTransaction: ourTransaction.parse(bytes) }),
})
