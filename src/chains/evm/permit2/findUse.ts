import { encodeEventTopics, type Hex, pad } from 'viem'
import { readWord } from '../abi/words.js'
import { type Rpc, tryCall } from '../rpc/rpc.js'
import type { Log, Receipt, Transaction } from '../rpc/wireShapes.js'
import { type ExpectedTransfer, isTransfer, transferTopic } from '../tokens/erc20.js'
import { searchLogs } from '../transactions/receipts/findLog.js'
import { findReceipt, type ReceiptPolicy } from '../transactions/receipts/findReceipt.js'
import type { Execution, ExecutionQuery, FailureReasons } from '../transactions/settlementCall.js'
import { encodeBitmapCall, hasNonce, wordOf } from './call.js'
import { type Permit, permit2Abi, permit2Address } from './payload.js'

/** One execution of a permit, and what proves it. */
export interface PermitExecution {
  /** The payment's identity. */
  readonly id: string
  readonly nonce: bigint
  readonly transfer: ExpectedTransfer
  /** What every calldata contains that executes it directly or through another contract. */
  readonly words: string
  /** The router that may have executed it beside other payments; null for none. */
  readonly router: Hex | null
  /** The only account that may send it; absent: any of ours. */
  readonly sender?: Hex | null
  readonly reasons: FailureReasons
  /** Judges a transaction with a transfer of these terms, by any sender; `unpaid`: it did not execute this permit. */
  judgeTransaction(
    receipt: Receipt,
    transaction: Pick<Transaction, 'to' | 'input'>,
  ): 'paid' | 'unpaid' | 'unknown'
}

const [invalidatedTopic] = encodeEventTopics({ abi: permit2Abi, eventName: 'UnorderedNonceInvalidation' })

type Query = Omit<ExecutionQuery, 'view'>

/**
 * Finds who used a nonce: a transaction whose calldata contains the permit, an invalidation, else whatever the block
 * contains in which it was used. Where the nodes cannot tell, the use stays unknown.
 */
export const findUse = async (rpc: Rpc, execution: PermitExecution, query: Query): Promise<Execution> => {
  const { transfer, nonce, words } = execution
  const { at, since, policy } = query
  const paying = await searchLogs(rpc, {
    address: transfer.asset,
    topics: [transferTopic, pad(transfer.from), pad(transfer.to)],
    at,
    since,
    only: { key: words, isWanted: (log) => carriesPermit(rpc, log, execution) },
  })
  const paid = paying.log?.transactionHash
  if (paid != null) return await judgeUse(rpc, paid, execution, policy)
  // A payment may be in a later range: until all are searched, an invalidation proves nothing.
  if (paying.isComplete) {
    const invalidating = await searchLogs(rpc, {
      address: permit2Address,
      topics: [invalidatedTopic, pad(transfer.from)],
      at,
      since,
      only: { key: words, isWanted: async (log) => invalidates(log, nonce) },
    })
    const hash = invalidating.log?.transactionHash
    if (hash != null) {
      const receipt = await findReceipt(rpc, hash, policy)
      return receipt?.status === true ? { state: 'void' } : { state: 'unknown' }
    }
  }
  return await judgeUseBlock(rpc, execution, query)
}

const carriesPermit = async (rpc: Rpc, log: Log, execution: PermitExecution): Promise<boolean> => {
  const { transfer, words, judgeTransaction } = execution
  if (log.transactionHash == null || !isTransfer(log, transfer)) return false
  const transaction = await rpc.getTransaction(log.transactionHash)
  if (transaction?.input.toLowerCase().includes(words) !== true) return false
  // A batch of ours contains the permit also where its call failed.
  const receipt = await rpc.getReceipt(log.transactionHash)
  return receipt !== null && judgeTransaction(receipt, transaction) !== 'unpaid'
}

const invalidates = ({ data }: Log, nonce: bigint): boolean => {
  if (data.length !== 2 + 2 * 64) return false
  const [word, mask] = [BigInt(data.slice(0, 66)), BigInt(`0x${data.slice(66)}`)]
  return word === wordOf(nonce) && hasNonce(mask, nonce)
}

const judgeUse = async (
  rpc: Rpc,
  hash: Hex,
  { judgeTransaction }: PermitExecution,
  policy: ReceiptPolicy,
): Promise<Execution> => {
  const receipt: Receipt | null = await findReceipt(rpc, hash, policy)
  const transaction = receipt === null ? null : await rpc.getTransaction(hash)
  if (receipt === null || transaction === null) return { state: 'unknown' }
  switch (judgeTransaction(receipt, transaction)) {
    case 'paid':
      return { state: 'paid', receipt }
    case 'unpaid':
      return { state: 'void' }
    case 'unknown':
      return { state: 'unknown' }
  }
}

/**
 * A nonce is used once: what its block does not contain was never paid. This counts only in a block that is as deep as
 * the policy requires, and of which every receipt was read.
 */
const judgeUseBlock = async (
  rpc: Rpc,
  execution: PermitExecution,
  { at, policy }: Query,
): Promise<Execution> => {
  const { transfer, nonce, judgeTransaction } = execution
  const deepest = at - BigInt(policy.confirmations - 1)
  const block = await findUseBlock(rpc, { from: transfer.from, nonce }, deepest)
  const receipts = block === null ? null : await readAllReceipts(rpc, block)
  if (receipts === null) return { state: 'unknown' }
  let isVoid = true
  for (const receipt of receipts) {
    if (!receipt.logs.some((log) => isTransfer(log, transfer))) continue
    const transaction = await rpc.getTransaction(receipt.transactionHash)
    const judgement = transaction === null ? 'unknown' : judgeTransaction(receipt, transaction)
    if (judgement === 'paid') return await judgeUse(rpc, receipt.transactionHash, execution, policy)
    if (judgement === 'unknown') isVoid = false
  }
  return { state: isVoid ? 'void' : 'unknown' }
}

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
  // An earlier round got this far, if no reorganisation undid it.
  const known = memory.recall(name)?.nextBlock ?? null
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
