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
