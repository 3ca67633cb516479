import type { Outcome } from '../../../schemes/scheme.js'
import type { Endpoint } from '../../nodes/endpoint.js'
import type { TronRpc } from '../rpc/rpc.js'
import { type Receipt, receiptShapeOf } from '../rpc/wireShapes.js'
import type { SignedTransfer } from './decode.js'
import { type ExpectedTransfer, expectedOf, judgeReceipt } from './judge.js'

/** What a payment must have moved, and whether a second node has to say so too. */
export interface JudgeQuery {
  readonly expected: ExpectedTransfer
  readonly isCrossChecked: boolean
}

/** How the receipt of a transfer is to be read. */
export const judgeBy = (transfer: SignedTransfer, crossCheckAmount: bigint): JudgeQuery => ({
  expected: expectedOf(transfer),
  isCrossChecked: transfer.value >= crossCheckAmount,
})

/**
 * What a transaction in a block proves. A payment counts as soon as it stands in a block, whose id is named because it
 * may be taken back; one that failed is `failed` only when its block cannot be: in another block it might succeed.
 */
export const toOutcome = async (
  node: TronRpc,
  receipt: Receipt,
  { expected, isCrossChecked }: JudgeQuery,
): Promise<Outcome> => {
  const transaction = receipt.id
  const judgement = judgeReceipt(receipt, expected)
  if (judgement !== 'paid') {
    const solid = await node.findReceipt(transaction, 'walletsolidity')
    if (solid === null || judgeReceipt(solid, expected) === 'paid') return { state: 'pending', transaction }
    return {
      state: 'failed',
      reason: judgement === 'failed' ? 'transaction_failed' : 'transfer_event_mismatch',
      transaction,
    }
  }
  if (isCrossChecked && !(await isConfirmedTwice(node.listWitnesses(), transaction, expected))) {
    return { state: 'pending', transaction }
  }
  const header = await node.findHeader(receipt.blockNumber)
  // Another block stands there by now, or another node answered.
  if (header === null || header.timestamp !== receipt.blockTimeStamp) return { state: 'pending', transaction }
  return { state: 'confirmed', transaction, block: { number: BigInt(header.number), hash: header.id } }
}

/** Whether two nodes say that it paid, where there are two: one of them may lie. */
const isConfirmedTwice = async (
  witnesses: readonly Endpoint[],
  transaction: string,
  expected: ExpectedTransfer,
): Promise<boolean> => {
  if (witnesses.length < 2) return true
  const saysPaid = async (endpoint: Endpoint): Promise<boolean> => {
    const body = { value: transaction }
    const shape = receiptShapeOf(transaction)
    const receipt = await endpoint.request('/wallet/gettransactioninfobyid', body, shape)
    return receipt !== null && judgeReceipt(receipt, expected) === 'paid'
  }
  const answers = await Promise.all(witnesses.map((endpoint) => saysPaid(endpoint).catch(() => false)))
  return answers.filter((isPaid) => isPaid).length >= 2
}
