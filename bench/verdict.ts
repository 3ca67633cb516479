/** What a target asks for, and whether this run met it. */
export interface Verdict {
  /** The figure and what it should be, in words. */
  readonly text: string
  readonly isMet: boolean
}

/** A figure that must not be exceeded. */
export const atMost = (what: string, value: number, { limit, unit }: Bound): Verdict => ({
  text: `${what}: ${round(value)} ${unit} (target: at most ${limit} ${unit})`,
  isMet: value <= limit,
})

/** A figure that must be reached. */
export const atLeast = (what: string, value: number, { limit, unit }: Bound): Verdict => ({
  text: `${what}: ${round(value)} ${unit} (target: at least ${limit} ${unit})`,
  isMet: value >= limit,
})

/** Requests of which none may fail, and what else was wrong with them, in sentences. */
export const noFailures = (
  what: string,
  { sent, failures }: { readonly sent: number; readonly failures: number },
  wrongs: readonly string[] = [],
): Verdict => ({
  text: [`${what}: ${failures} of ${sent} failed (target: none)`, ...wrongs].join('; '),
  isMet: failures === 0 && wrongs.length === 0,
})

/** A target's figure and its unit. */
export interface Bound {
  readonly limit: number
  readonly unit: string
}

const round = (value: number): string => {
  if (!Number.isFinite(value)) return Number.isNaN(value) ? 'no figure' : 'endlessly many'
  return String(Number(value.toPrecision(3)))
}
