import { type TronAddress, toWord } from '../encoding/address.js'
import type { Log, Receipt } from '../rpc/wireShapes.js'
import type { SignedTransfer } from './decode.js'

/** The transfer that a payment must have caused. */
export interface ExpectedTransfer {
  readonly asset: TronAddress
  readonly from: TronAddress
  readonly to: TronAddress
  readonly value: bigint
}

/** `paid`: receipt and the token's own event both say so. `unpaid`: executed without the transfer. */
export type Judgement = 'paid' | 'failed' | 'unpaid'

// keccak256 of Transfer(address,address,uint256)
const transferTopic = 'ddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef'

/**
 * The one function that decides whether a transaction in a block paid. What `transfer` returned is not asked:
 * Tether's own contract on TRON returns false when it succeeds.
 */
export const judgeReceipt = (
  { result, logs }: Pick<Receipt, 'result' | 'logs'>,
  expected: ExpectedTransfer,
): Judgement => {
  if (result !== 'SUCCESS') return 'failed'
  return logs.some((log) => isTransfer(log, expected)) ? 'paid' : 'unpaid'
}

/** Whether an event is the token's own word that exactly this value went from payer to payee. */
export const isTransfer = (log: Log, { asset, from, to, value }: ExpectedTransfer): boolean =>
  log.address === asset.slice(2) &&
  log.topics[0] === transferTopic &&
  log.topics[1] === toWord(from) &&
  log.topics[2] === toWord(to) &&
  log.data.length === 64 &&
  BigInt(`0x${log.data}`) === value

/** What a transfer moves where it succeeds. */
export const expectedOf = ({ contract, owner, to, value }: SignedTransfer): ExpectedTransfer => ({
  asset: contract,
  from: owner,
  to,
  value,
})
