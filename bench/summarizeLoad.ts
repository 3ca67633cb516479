import type { Exchange } from './runLoad.js'

export interface LoadSummary {
  readonly sent: number
  readonly successes: number
  readonly failures: number
  /** Measured until the last success, so that a hanging request does not distort the rate. */
  readonly perSecond: number
  readonly p50Ms: number
  readonly p99Ms: number
}

export const summarizeLoad = (
  exchanges: readonly Exchange[],
  isSuccess: (answer: string) => boolean,
): LoadSummary => {
  const good = exchanges.filter(({ answer }) => isSuccess(answer))
  const latencies = good.map(({ latencyMs }) => latencyMs).sort((left, right) => left - right)
  const at = (share: number): number =>
    latencies[Math.min(latencies.length - 1, Math.floor(latencies.length * share))] ?? Number.NaN
  const lastMs = good.reduce((latest, { endedAtMs }) => Math.max(latest, endedAtMs), 0)
  return {
    sent: exchanges.length,
    successes: good.length,
    failures: exchanges.length - good.length,
    perSecond: good.length === 0 ? 0 : (good.length * 1_000) / lastMs,
    p50Ms: at(0.5),
    p99Ms: at(0.99),
  }
}

/** Of an even number, the greater of the two in the middle; NaN of none. */
export const median = (values: readonly number[]): number =>
  [...values].sort((left, right) => left - right)[Math.floor(values.length / 2)] ?? Number.NaN
