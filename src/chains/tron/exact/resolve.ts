import type { Outcome } from '../../../schemes/scheme.js'
import type { RecordedSettlement, Resolution } from '../../common/settling/exactScheme.js'
import { canCrossCheck, collectBallots, passesCrossCheck, type Vote } from '../../nodes/crossCheck.js'
import type { Endpoint } from '../../nodes/endpoint.js'
import { type TronAddress, toWord } from '../encoding/address.js'
import type { Rpc } from '../rpc/rpc.js'
import { headerShape, type Log, type Receipt, receiptShapeOf } from '../rpc/wireShapes.js'
import { decodeTransfer, type SignedTransfer } from './decode.js'

interface ResolvePolicy {
  readonly crossCheckAmount: bigint
  /** Called with a transaction that has a receipt, whatever it proves, or that can get none any more. */
  readonly onOver: (transaction: string) => void
}

/** The outcome that a recorded transaction has now; it is worth sending while it can still be included. */
export const resolveSettlement = async (
  rpc: Rpc,
  { newest }: RecordedSettlement,
  { crossCheckAmount, onOver }: ResolvePolicy,
): Promise<Resolution> => {
  const reading = decodeTransfer(newest.bytes)
  if ('reason' in reading) throw new Error('The recorded transaction is not a transfer')
  const { transfer } = reading
  const { transaction } = transfer

  const receipt = await rpc.findReceipt(transaction)
  if (receipt !== null) {
    onOver(transaction)
    const outcome = await resolveReceipt(rpc, receipt, toJudgeQuery(transfer, crossCheckAmount))
    return { outcome, isWorthSending: false }
  }
  if (await hasExpired(rpc, { ...transfer, isCrossChecked: transfer.value >= crossCheckAmount })) {
    onOver(transaction)
    const reason = 'authorization_expired_unsettled'
    return { outcome: { state: 'failed', reason, transaction }, isWorthSending: false }
  }
  return { outcome: { state: 'pending', transaction }, isWorthSending: true }
}

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

/** The receipt in the newest block confirms a success, one in a solid block a failure. */
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

/** Judges the receipt of one endpoint; null if it has none or does not respond. */
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

interface RecordedTransfer {
  readonly transaction: string
  /** Unix ms. */
  readonly expiration: number
  readonly isCrossChecked: boolean
}

// A load balancer may mix nodes, of which one is behind.
const slackMs = 30_000

/**
 * Proves that a transaction can no longer land: a block accepts only transactions that expire after its
 * parent's time, so none can follow a solid block at or after the expiration. Every healthy endpoint must report such
 * a solid block first, and then that it does not know the transaction.
 */
const hasExpired = async (
  rpc: Rpc,
  { transaction, expiration, isCrossChecked }: RecordedTransfer,
): Promise<boolean> => {
  const ballots = await collectBallots(rpc.listWitnesses(), async (endpoint): Promise<Vote> => {
    const isConfirmed = await confirmsExpiry(endpoint, transaction, expiration).catch(() => false)
    return isConfirmed ? 'confirms' : 'unknown'
  })
  if (ballots.length === 0 || ballots.some(({ vote }) => vote !== 'confirms')) return false
  return !isCrossChecked || passesCrossCheck({ ballots, endpoints: rpc.endpoints, outcome: 'failure' })
}

const confirmsExpiry = async (
  endpoint: Endpoint,
  transaction: string,
  expiration: number,
): Promise<boolean> => {
  const solid = await endpoint.request('/walletsolidity/getblock', { detail: false }, headerShape)
  if (solid === null || solid.timestamp < expiration + slackMs) return false
  const ask = (view: string) =>
    endpoint.request(`/${view}/gettransactioninfobyid`, { value: transaction }, receiptShapeOf(transaction))
  const [found, foundSolid] = await Promise.all([ask('wallet'), ask('walletsolidity')])
  return found === null && foundSolid === null
}
