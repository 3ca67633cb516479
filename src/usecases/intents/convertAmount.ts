import { readUint256 } from '../../protocol/amount.js'

/** The same amount in a token with other decimals; null if it cannot be expressed exactly. */
export const convertAmount = (amount: bigint, from: number, to: number): bigint | null => {
  if (to >= from) return readUint256((amount * 10n ** BigInt(to - from)).toString())
  const divisor = 10n ** BigInt(from - to)
  return amount % divisor === 0n ? amount / divisor : null
}
