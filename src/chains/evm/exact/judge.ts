import { encodeEventTopics, type Hex, hexToBigInt, pad } from 'viem'
import { isSameAddress } from '../abi/address.js'
import { tokenAbi } from '../abi/contracts.js'
import type { Log, Receipt } from '../rpc/rpc.js'

/** The transfer that a payment must have caused. */
export interface ExpectedTransfer {
  readonly asset: Hex
  readonly from: Hex
  readonly to: Hex
  readonly value: bigint
}

/** `paid`: status and the token's own Transfer both say so. `unpaid`: mined without the transfer. */
export type Judgement = 'paid' | 'reverted' | 'unpaid'

const [transferTopic] = encodeEventTopics({ abi: tokenAbi, eventName: 'Transfer' })
const [usedTopic] = encodeEventTopics({ abi: tokenAbi, eventName: 'AuthorizationUsed' })

/** The one function that decides whether a mined transaction of our own paid. */
export const judgeReceipt = (receipt: Receipt, expected: ExpectedTransfer): Judgement => {
  if (!receipt.status) return 'reverted'
  return receipt.logs.some((log) => isTransfer(log, expected)) ? 'paid' : 'unpaid'
}

/**
 * The same for a transaction that a stranger sent. It may use up several authorizations beside one payment, so
 * the transfer must be this authorization's own: the token's next event after its use (EIP-3009).
 */
export const judgeForeignReceipt = (receipt: Receipt, nonce: Hex, expected: ExpectedTransfer): Judgement => {
  if (!receipt.status) return 'reverted'
  const events = receipt.logs.filter(
    ({ address, topics }) =>
      isSameAddress(address, expected.asset) && (topics[0] === transferTopic || topics[0] === usedTopic),
  )
  const isPaid = events.some((event, index) => {
    const next = events[index + 1]
    return isUse(event, nonce, expected) && next !== undefined && isTransfer(next, expected)
  })
  return isPaid ? 'paid' : 'unpaid'
}

/**
 * The same for one payment of a batch of ours: accounts without code, tokens that are vouched for. The use must be
 * there and a transfer of this kind, and of all the payer's uses each must have moved something: some tokens tell
 * of the transfer first.
 */
export const judgeSharedReceipt = (receipt: Receipt, nonce: Hex, expected: ExpectedTransfer): Judgement => {
  if (!receipt.status) return 'reverted'
  if (judgeForeignReceipt(receipt, nonce, expected) === 'paid') return 'paid'
  const own = receipt.logs.filter(({ address }) => isSameAddress(address, expected.asset))
  const isPayers = ({ topics }: Log) => topics[1]?.toLowerCase() === pad(expected.from).toLowerCase()
  const uses = own.filter((log) => log.topics[0] === usedTopic && isPayers(log))
  const transfers = own.filter((log) => log.topics[0] === transferTopic && isPayers(log))
  const isPaid =
    uses.some((log) => isUse(log, nonce, expected)) &&
    transfers.some((log) => isTransfer(log, expected)) &&
    transfers.length >= uses.length
  return isPaid ? 'paid' : 'unpaid'
}

const isUse = ({ topics }: Log, nonce: Hex, { from }: ExpectedTransfer): boolean =>
  topics[0] === usedTopic &&
  topics[1]?.toLowerCase() === pad(from).toLowerCase() &&
  topics[2]?.toLowerCase() === nonce.toLowerCase()

const isTransfer = (log: Log, { asset, from, to, value }: ExpectedTransfer): boolean =>
  isSameAddress(log.address, asset) &&
  log.topics[0] === transferTopic &&
  log.topics[1]?.toLowerCase() === pad(from).toLowerCase() &&
  log.topics[2]?.toLowerCase() === pad(to).toLowerCase() &&
  log.data.length === 66 &&
  hexToBigInt(log.data) === value
