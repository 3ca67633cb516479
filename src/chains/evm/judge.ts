import { encodeEventTopics, type Hex, hexToBigInt, isAddressEqual, pad } from 'viem'
import { tokenAbi } from './abi.js'
import type { Log, Receipt } from './rpc.js'

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

/** The one function that decides whether a mined transaction paid. */
export const judgeReceipt = (receipt: Receipt, expected: ExpectedTransfer): Judgement => {
  if (!receipt.status) return 'reverted'
  return receipt.logs.some((log) => isTransfer(log, expected)) ? 'paid' : 'unpaid'
}

const isTransfer = (log: Log, { asset, from, to, value }: ExpectedTransfer): boolean =>
  isAddressEqual(log.address, asset) &&
  log.topics[0] === transferTopic &&
  log.topics[1]?.toLowerCase() === pad(from).toLowerCase() &&
  log.topics[2]?.toLowerCase() === pad(to).toLowerCase() &&
  log.data.length === 66 &&
  hexToBigInt(log.data) === value
