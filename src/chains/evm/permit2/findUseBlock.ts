import type { Hex } from 'viem'
import { readWord } from '../abi/words.js'
import { type Rpc, tryCall } from '../rpc/rpc.js'
import { type Receipt } from '../rpc/wireShapes.js'
import { permit2Address } from './contracts.js'
import type { Permit } from './payload.js'
import { encodeBitmapCall, hasNonce } from './permitState.js'

// Receipts of a larger block are only read where one request returns them all.
const maxSingleReceipts = 250
const receiptsAtOnce = 10

/**
 * The block in which a nonce was used, up to one block; null where it is not used by then, or where no node has the
 * state of that time. Asks twice the logarithm of the age: the newest blocks first, which most nodes have.
 */
export const findUseBlock = async (
  rpc: Rpc,
  permit: Pick<Permit, 'from' | 'nonce'>,
  at: bigint,
): Promise<bigint | null> => {
  const { logMemory: memory } = rpc
  const name = `use of ${permit.from} ${permit.nonce}`
  // Progress of an earlier round, if no reorganisation undid it.
  const known = memory.recall(name)
  const start = known !== null && known <= at && (await isUsed(rpc, permit, known)) === true ? known : at
  if (start < 0n || (start !== known && (await isUsed(rpc, permit, start)) !== true)) return null

  let used = start
  let unused: bigint | null = null
  for (let step = 1n; unused === null; step *= 2n) {
    const earlier: bigint = used > step ? used - step : 0n
    if (earlier === used) return null
    const state = await isUsed(rpc, permit, earlier)
    if (state === null) return null
    if (state) used = earlier
    else unused = earlier
    memory.remember(name, used)
  }
  while (used - unused > 1n) {
    const middle: bigint = (used + unused) / 2n
    const state = await isUsed(rpc, permit, middle)
    if (state === null) return null
    if (state) used = middle
    else unused = middle
    memory.remember(name, used)
  }
  return used
}

/** Null where no node has the state of the block. */
const isUsed = async (
  rpc: Rpc,
  permit: Pick<Permit, 'from' | 'nonce'>,
  at: bigint,
): Promise<boolean | null> => {
  const answer = await tryCall(rpc, { at, to: permit2Address, data: encodeBitmapCall(permit) })
  // Permit2 was not deployed yet.
  if (answer === '0x') return false
  const bitmap = readWord(answer)
  return bitmap === null ? null : hasNonce(bitmap, permit.nonce)
}

/** Every receipt of a canonical block; null if one is missing. */
export const readAllReceipts = async (rpc: Rpc, number: bigint): Promise<readonly Receipt[] | null> => {
  const block = await rpc.getBlock(number)
  const hashes = block?.transactions
  if (block === null || hashes == null) return null
  const areOfBlock = (receipts: readonly Receipt[]) =>
    receipts.length === hashes.length && receipts.every(({ blockHash }) => blockHash === block.hash)

  // Not every node has the method.
  const together = await rpc.getBlockReceipts(number).catch(() => null)
  if (together !== null && areOfBlock(together)) return together
  if (hashes.length > maxSingleReceipts) return null
  const single: Receipt[] = []
  for (let next = 0; next < hashes.length; next += receiptsAtOnce) {
    single.push(...(await readReceipts(rpc, hashes.slice(next, next + receiptsAtOnce))))
  }
  return areOfBlock(single) ? single : null
}

const readReceipts = async (rpc: Rpc, hashes: readonly Hex[]): Promise<readonly Receipt[]> => {
  const receipts = await Promise.all(hashes.map((hash) => rpc.getReceipt(hash)))
  return receipts.filter((receipt) => receipt !== null)
}
