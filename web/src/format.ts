/** `1234567` with 6 decimals is `1.234567`; at least two digits follow the point, and no zeros beyond them. */
export const formatUnits = (amount: string, decimals: number): string => {
  if (!/^\d+$/.test(amount)) return amount
  const digits = amount.padStart(decimals + 1, '0')
  const whole = groupThousands(digits.slice(0, digits.length - decimals))
  if (decimals === 0) return whole
  const fraction = digits.slice(digits.length - decimals).replace(/0+$/, '')
  return `${whole}.${fraction.padEnd(Math.min(2, decimals), '0')}`
}

export const groupThousands = (digits: string): string => digits.replace(/\B(?=(\d{3})+$)/g, ',')

export const formatCount = (count: number): string => groupThousands(String(Math.round(count)))

export const shorten = (text: string, [head, tail]: readonly [number, number] = [6, 4]): string =>
  text.length <= head + tail + 1 ? text : `${text.slice(0, head)}…${text.slice(-tail)}`

export const formatSeconds = (seconds: number): string => {
  if (seconds < 0.1) return 'under 0.1 s'
  if (seconds < 10) return `${seconds.toFixed(1)} s`
  if (seconds < 120) return `${Math.round(seconds)} s`
  if (seconds < 7_200) return `${Math.round(seconds / 60)} min`
  return `${Math.round(seconds / 3_600)} h`
}

export const formatShare = (share: number): string => {
  const percent = 100 * share
  // Rounding must not turn 99.96 % into 100 %.
  return percent === 100 || percent === 0
    ? `${percent} %`
    : `${Math.min(Math.max(percent, 0.1), 99.9).toFixed(1)} %`
}

const steps = [
  ['second', 60],
  ['minute', 60],
  ['hour', 24],
  ['day', 30],
  ['month', 12],
] as const

export const formatRelative = (at: Date, now: Date): string => {
  let amount = (now.getTime() - at.getTime()) / 1_000
  const [prefix, suffix] = amount < 0 ? ['in ', ''] : ['', ' ago']
  amount = Math.abs(amount)
  if (amount < 10) return 'just now'
  for (const [unit, next] of steps) {
    if (amount < next) return `${prefix}${formatUnit(Math.floor(amount), unit)}${suffix}`
    amount /= next
  }
  return `${prefix}${formatUnit(Math.floor(amount), 'year')}${suffix}`
}

const formatUnit = (count: number, unit: string): string => `${count} ${unit}${count === 1 ? '' : 's'}`
/** `0.01` with 6 decimals is 10000; null for what is no such amount. */
export const readUnits = (text: string, decimals: number): bigint | null => {
  const [, whole, fraction = ''] = /^(\d{1,20})(?:\.(\d{1,18}))?$/.exec(text.trim()) ?? []
  if (whole === undefined || fraction.length > decimals) return null
  return BigInt(`${whole}${fraction.padEnd(decimals, '0')}`)
}
