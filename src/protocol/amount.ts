const uint256Max = 2n ** 256n - 1n
const decimalDigits = /^[0-9]{1,78}$/

/** Null unless decimal digits of a uint256. `BigInt` alone would accept "", " 7 ", "0x10" and "-1". */
export const readUint256 = (value: unknown): bigint | null => {
  const text = typeof value === 'number' && Number.isSafeInteger(value) ? String(value) : value
  if (typeof text !== 'string' || !decimalDigits.test(text)) return null
  const amount = BigInt(text)
  return amount <= uint256Max ? amount : null
}

/** `digits` / 10^`scale`, exactly. Never negative. */
export interface Decimal {
  readonly digits: bigint
  readonly scale: number
}

const plain = /^([0-9]{1,78})(?:\.([0-9]{1,36}))?$/

/** Null unless plain decimal digits with an optional fraction; the length is bounded. */
export const readDecimal = (text: string): Decimal | null => {
  const [, whole, fraction = ''] = plain.exec(text) ?? []
  return whole === undefined ? null : { digits: BigInt(whole + fraction), scale: fraction.length }
}

const printed = /^([0-9]+)(?:\.([0-9]+))?(?:e([+-][0-9]+))?$/

/** The decimal text of a JSON number, exactly: 0.1 is one tenth. Null if negative or not finite. */
export const decimalOf = (value: number): Decimal | null => {
  // `String` prints the shortest decimal that reads as the same double, so at most 17 digits and an exponent.
  const [, whole, fraction = '', exponent = '0'] = printed.exec(String(value)) ?? []
  if (whole === undefined) return null
  const digits = BigInt(whole + fraction)
  const scale = fraction.length - Number(exponent)
  return scale >= 0 ? { digits, scale } : { digits: digits * 10n ** BigInt(-scale), scale: 0 }
}

export const multiply = (left: Decimal, right: Decimal): Decimal => ({
  digits: left.digits * right.digits,
  scale: left.scale + right.scale,
})

export const isEqual = (left: Decimal, right: Decimal): boolean =>
  left.digits * 10n ** BigInt(right.scale) === right.digits * 10n ** BigInt(left.scale)

/** Without trailing zeros of the fraction. */
export const formatDecimal = ({ digits, scale }: Decimal): string => {
  const text = digits.toString().padStart(scale + 1, '0')
  const fraction = text.slice(text.length - scale).replace(/0+$/, '')
  const whole = text.slice(0, text.length - scale)
  return scale === 0 || fraction === '' ? whole : `${whole}.${fraction}`
}

const form = /^\$?(?<whole>[0-9]{1,20})(?:\.(?<fraction>[0-9]{1,30}))?$/

/** Smallest units of a token for a price such as `$0.01` or 0.01; null if it is none, or not exact in the token. */
export const readDollars = (price: string | number, decimals: number): bigint | null => {
  const { whole, fraction = '' } = form.exec(String(price).trim())?.groups ?? {}
  if (whole === undefined) return null
  const excess = fraction.slice(decimals)
  if (/[1-9]/.test(excess)) return null
  return BigInt(`${whole}${fraction.slice(0, decimals).padEnd(decimals, '0')}`)
}

export const larger = (left: bigint, right: bigint): bigint => (left > right ? left : right)
