const uint256Max = 2n ** 256n - 1n
const decimalDigits = /^[0-9]{1,78}$/

/** Null unless decimal digits of a uint256. `BigInt` alone would accept "", " 7 ", "0x10" and "-1". */
export const readUint256 = (value: unknown): bigint | null => {
  const text = typeof value === 'number' && Number.isSafeInteger(value) ? String(value) : value
  if (typeof text !== 'string' || !decimalDigits.test(text)) return null
  const amount = BigInt(text)
  return amount <= uint256Max ? amount : null
}
