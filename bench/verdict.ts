export interface Verdict {
  readonly text: string
  readonly isMet: boolean
}

export const atMost = (what: string, value: number, { limit, unit }: Bound): Verdict => ({
  text: `${what}: ${round(value)} ${unit} (target: at most ${limit} ${unit})`,
  isMet: value <= limit,
})

export const atLeast = (what: string, value: number, { limit, unit }: Bound): Verdict => ({
  text: `${what}: ${round(value)} ${unit} (target: at least ${limit} ${unit})`,
  isMet: value >= limit,
})

/** Met if no request failed and there are no mismatches. */
export const noFailures = (
  what: string,
  { sent, failures }: { readonly sent: number; readonly failures: number },
  mismatches: readonly string[] = [],
): Verdict => ({
  text: [`${what}: ${failures} of ${sent} failed (target: none)`, ...mismatches].join('; '),
  isMet: failures === 0 && mismatches.length === 0,
})

export interface Bound {
  readonly limit: number
  readonly unit: string
}

const round = (value: number): string => {
  if (!Number.isFinite(value)) return Number.isNaN(value) ? 'not measured' : 'infinite'
  return String(Number(value.toPrecision(3)))
}
