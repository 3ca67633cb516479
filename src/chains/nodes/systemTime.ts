import type { HealthTime } from './endpointHealth.js'

/** The machine's clocks. */
export const systemTime: HealthTime = {
  monotonicMs: () => performance.now(),
  unixSeconds: () => Date.now() / 1_000,
}
