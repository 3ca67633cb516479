import { encodeEventTopics, type Hex, pad } from 'viem'
import { tokenAbi, isTransfer } from '../tokens/erc20.js'
import type { Rpc } from '../rpc/rpc.js'
import type { Log, Receipt } from '../rpc/wireShapes.js'
import { searchLogs } from '../transactions/receipts/findLog.js'
import { findReceipt, type ReceiptPolicy } from '../transactions/receipts/findReceipt.js'
import type { Execution, ExecutionQuery } from '../transactions/settlementCall.js'
import { permit2Abi, permit2Address } from './contracts.js'
import type { PermitExecution } from './execution.js'
import { findUseBlock, readAllReceipts } from './findUseBlock.js'
import { hasNonce, wordOf } from './permitState.js'

const [transferTopic] = encodeEventTopics({ abi: tokenAbi, eventName: 'Transfer' })
const [invalidatedTopic] = encodeEventTopics({ abi: permit2Abi, eventName: 'UnorderedNonceInvalidation' })

type Query = Omit<ExecutionQuery, 'view'>

/**
 * Who used a nonce: a transaction whose calldata contains the permit, an invalidation, else whatever the block contains
 * in which it was used. Where the nodes cannot tell, the use stays unknown.
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
 * A nonce is used once: what its block does not contain was never paid. Only in a block that is as deep as the policy
 * requires, of which every receipt was read.
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
