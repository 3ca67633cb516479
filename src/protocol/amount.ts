const uint256Max = 2n ** 256n - 1n
const decimalDigits = /^[0-9]{1,78}$/

/**
 * Reads an amount in a token's smallest unit: decimal digits only, at most 2^256 - 1.
 * Returns null for everything else. `BigInt` alone would take "", " 7 ", "0x10" and "-1".
 */
export const readUint256 = (value: unknown): bigint | null => {
  const text = typeof value === 'number' && Number.isSafeInteger(value) ? String(value) : value
  if (typeof text !== 'string' || !decimalDigits.test(text)) return null
  const amount = BigInt(text)
  return amount <= uint256Max ? amount : null
}
