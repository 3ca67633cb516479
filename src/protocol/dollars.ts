const form = /^\$?(?<whole>[0-9]{1,20})(?:\.(?<fraction>[0-9]{1,30}))?$/

/** Smallest units of a token for a price such as `$0.01` or 0.01; null if it is none, or not exact in the token. */
export const readDollars = (price: string | number, decimals: number): bigint | null => {
  const { whole, fraction = '' } = form.exec(String(price).trim())?.groups ?? {}
  if (whole === undefined) return null
  const excess = fraction.slice(decimals)
  if (/[1-9]/.test(excess)) return null
  return BigInt(`${whole}${fraction.slice(0, decimals).padEnd(decimals, '0')}`)
}
