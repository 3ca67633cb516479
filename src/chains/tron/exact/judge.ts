import type { Outcome } from '../../../schemes/scheme.js'
import { canCrossCheck, collectBallots, passesCrossCheck, type Vote } from '../../nodes/crossCheck.js'
import type { Endpoint } from '../../nodes/endpoint.js'
import { type TronAddress, toWord } from '../encoding/address.js'
import type { Rpc } from '../rpc/rpc.js'
import { type Log, type Receipt, receiptShapeOf } from '../rpc/wireShapes.js'
import type { SignedTransfer } from './decode.js'

interface ExpectedTransfer {
  readonly asset: TronAddress
  readonly from: TronAddress
  readonly to: TronAddress
  readonly value: bigint
}

/** `paid`: SUCCESS and the Transfer event. `unpaid`: SUCCESS without it. `failed`: any other result. */
type Judgement = 'paid' | 'failed' | 'unpaid'

// keccak256 of Transfer(address,address,uint256)
const transferTopic = 'ddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef'

/**
 * The only decision whether a transaction paid. The return value of `transfer` is ignored: USDT on TRON
 * returns false on success.
 */
export const judgeReceipt = (
  { result, logs }: Pick<Receipt, 'result' | 'logs'>,
  expected: ExpectedTransfer,
): Judgement => {
  if (result !== 'SUCCESS') return 'failed'
  return logs.some((log) => isTransfer(log, expected)) ? 'paid' : 'unpaid'
}

/** Whether a log is the token's Transfer event of exactly this payment. */
export const isTransfer = (log: Log, { asset, from, to, value }: ExpectedTransfer): boolean =>
  log.address === asset.slice(2) &&
  log.topics[0] === transferTopic &&
  log.topics[1] === toWord(from) &&
  log.topics[2] === toWord(to) &&
  log.data.length === 64 &&
  BigInt(`0x${log.data}`) === value

export const expectedOf = ({ contract, owner, to, value }: SignedTransfer): ExpectedTransfer => ({
  asset: contract,
  from: owner,
  to,
  value,
})

interface JudgeQuery {
  readonly expected: ExpectedTransfer
  readonly isCrossChecked: boolean
}

export const toJudgeQuery = (transfer: SignedTransfer, crossCheckAmount: bigint): JudgeQuery => ({
  expected: expectedOf(transfer),
  isCrossChecked: transfer.value >= crossCheckAmount,
})

/**
 * Outcome that a receipt proves. `confirmed` once in a block, with the block's id, because it can be
 * orphaned. `failed` only when the block is solid: after a reorg the transaction might succeed.
 */
export const resolveReceipt = async (
  rpc: Rpc,
  receipt: Receipt,
  { expected, isCrossChecked }: JudgeQuery,
): Promise<Outcome> => {
  const transaction = receipt.id
  const judgement = judgeReceipt(receipt, expected)
  if (judgement !== 'paid') {
    const solid = await rpc.findReceipt(transaction, 'walletsolidity')
    const isProven = solid !== null && judgeReceipt(solid, expected) === judgement
    if (!isProven) return { state: 'pending', transaction }
    if (isCrossChecked && !(await isAgreedOn(rpc, 'failure', { transaction, expected }))) {
      return { state: 'pending', transaction }
    }
    return {
      state: 'failed',
      reason: judgement === 'failed' ? 'transaction_failed' : 'transfer_event_mismatch',
      transaction,
    }
  }
  if (isCrossChecked && !(await isAgreedOn(rpc, 'success', { transaction, expected }))) {
    return { state: 'pending', transaction }
  }
  const header = await rpc.findHeader(receipt.blockNumber)
  // The block was replaced, or another node answered.
  if (header === null || header.timestamp !== receipt.blockTimeStamp) return { state: 'pending', transaction }
  return { state: 'confirmed', transaction, block: { number: BigInt(header.number), hash: header.id } }
}

/** By the receipt in the newest block for a success, in a solid block for a failure. */
const isAgreedOn = async (
  rpc: Rpc,
  outcome: 'success' | 'failure',
  query: ReceiptQuery,
): Promise<boolean> => {
  const { endpoints } = rpc
  if (!canCrossCheck(endpoints)) return true
  const view = outcome === 'success' ? '/wallet' : '/walletsolidity'
  const ballots = await collectBallots(rpc.listWitnesses(), async (endpoint): Promise<Vote> => {
    const judgement = await judgeAt(endpoint, view, query)
    if (judgement === null) return 'unknown'
    return (judgement === 'paid') === (outcome === 'success') ? 'confirms' : 'contradicts'
  })
  return passesCrossCheck({ ballots, endpoints, outcome })
}

interface ReceiptQuery {
  readonly transaction: string
  readonly expected: ExpectedTransfer
}

/** By the receipt of one endpoint; null if it has none or does not respond. */
const judgeAt = async (
  endpoint: Endpoint,
  view: '/wallet' | '/walletsolidity',
  { transaction, expected }: ReceiptQuery,
): Promise<Judgement | null> => {
  try {
    const body = { value: transaction }
    const shape = receiptShapeOf(transaction)
    const receipt = await endpoint.request(`${view}/gettransactioninfobyid`, body, shape)
    return receipt === null ? null : judgeReceipt(receipt, expected)
  } catch {
    return null
  }
}
