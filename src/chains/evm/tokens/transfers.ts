import { encodeEventTopics, type Hex, hexToBigInt, pad } from 'viem'
import { isSameAddress } from '../abi/address.js'
import { tokenAbi } from '../abi/contracts.js'
import type { Log, Receipt } from '../rpc/wireShapes.js'
import type { Judgement } from '../transactions/settlementCall.js'

export interface ExpectedTransfer {
  readonly asset: Hex
  readonly from: Hex
  readonly to: Hex
  readonly value: bigint
}

export const [transferTopic] = encodeEventTopics({ abi: tokenAbi, eventName: 'Transfer' })

/** Whether the token logged exactly this transfer. */
export const isTransfer = (log: Log, { asset, from, to, value }: ExpectedTransfer): boolean =>
  isSameAddress(log.address, asset) &&
  log.topics[0] === transferTopic &&
  log.topics[1]?.toLowerCase() === pad(from).toLowerCase() &&
  log.topics[2]?.toLowerCase() === pad(to).toLowerCase() &&
  log.data.length === 66 &&
  hexToBigInt(log.data) === value

/** A transaction of ours that carries only this payment: its status and the token's Transfer decide. */
export const judgeReceipt = (receipt: Receipt, expected: ExpectedTransfer): Judgement => {
  if (!receipt.status) return 'reverted'
  return receipt.logs.some((log) => isTransfer(log, expected)) ? 'paid' : 'unpaid'
}
