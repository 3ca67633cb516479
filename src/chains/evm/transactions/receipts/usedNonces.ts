import { type Hex, parseTransaction, recoverTransactionAddress, type TransactionSerialized } from 'viem'
import { z } from 'zod'
import type { SignedTransaction } from '../../../../ports/settlementJournal.js'
import { asHex } from '../../abi/words.js'
import type { Rpc } from '../../rpc/rpc.js'
import type { Block } from '../../rpc/wireShapes.js'

const ourTransaction = z.custom<TransactionSerialized>(
  (bytes) => typeof bytes === 'string' && /^0x[0-9a-f]+$/.test(bytes),
)

/** The newest block, and how many blocks below it a nonce must have been used. */
interface UsedSince {
  readonly head: Block
  readonly depth: number
}

// Bytes whose nonce was used more recently are sent again meanwhile: a reorganisation may free it.
const minDepth = 32

/**
 * Whether other transactions used all nonces of the recorded ones, at final depth: then none of ours can be
 * mined. Only possible when another program uses the same key.
 */
export const areReplacedExternally = async (
  rpc: Rpc,
  broadcasts: readonly SignedTransaction[],
  { head, depth }: UsedSince,
): Promise<boolean> => {
  const at = head.number - BigInt(Math.max(depth, minDepth))
  if (at < 0n) return false
  for (const broadcast of broadcasts) {
    const { nonce, signer } = await readSlot(broadcast)
    // Nodes drop the state of old blocks; without it nothing is proven.
    const used = await rpc.getTransactionCount(signer, at).catch(() => 0)
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

/** Replacements of a transaction are not counted beside it: at most one of them is mined. */
export const countNonces = async (broadcasts: readonly SignedTransaction[]): Promise<number> => {
  const slots = await Promise.all(broadcasts.map(readSlot))
  return new Set(slots.map(({ signer, nonce }) => `${signer} ${nonce}`)).size
}

const readSlot = async ({ bytes }: SignedTransaction): Promise<{ signer: Hex; nonce: number }> => ({
  // RLP encodes a nonce of zero as absent.
  nonce: parseTransaction(asHex(bytes)).nonce ?? 0,
  signer: await recoverTransactionAddress({ serializedTransaction: ourTransaction.parse(bytes) }),
})
