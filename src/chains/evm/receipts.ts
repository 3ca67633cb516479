import type { Hex } from 'viem'
import type { Receipt, Rpc } from './rpc.js'

/** What must hold before a receipt is believed. */
export interface ReceiptPolicy {
  readonly confirmations: number
  /** Demands that a second endpoint tells the same, where there is one. */
  readonly isCrossChecked: boolean
}

/**
 * A receipt that can be built on, or null: it names our own hash, its block is on the chain that the node
 * itself has, deep enough, and a second node agrees where the value is high.
 */
export const findReceipt = async (
  rpc: Rpc,
  transaction: Hex,
  { confirmations, isCrossChecked }: ReceiptPolicy,
): Promise<Receipt | null> => {
  const receipt = await rpc.getReceipt(transaction)
  if (receipt === null || receipt.transactionHash.toLowerCase() !== transaction.toLowerCase()) return null

  const [canonical, head] = await Promise.all([
    rpc.getBlock(receipt.blockNumber),
    confirmations > 1 ? rpc.getBlock('latest') : null,
  ])
  if (canonical?.hash !== receipt.blockHash) return null
  if (
    confirmations > 1 &&
    (head === null || head.number - receipt.blockNumber + 1n < BigInt(confirmations))
  ) {
    return null
  }
  if (isCrossChecked && rpc.endpoints.length > 1 && !(await isSeenTwice(rpc, receipt))) return null
  return receipt
}

const isSeenTwice = async (rpc: Rpc, receipt: Receipt): Promise<boolean> => {
  const answers = await Promise.allSettled(
    rpc.endpoints.map((endpoint) => rpc.getReceipt(receipt.transactionHash, endpoint)),
  )
  const agreeing = answers.filter(
    (answer) =>
      answer.status === 'fulfilled' &&
      answer.value?.blockHash === receipt.blockHash &&
      answer.value.status === receipt.status,
  )
  return agreeing.length > 1
}
