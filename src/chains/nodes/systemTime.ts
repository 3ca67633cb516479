import type { HealthTime } from './endpointHealth.js'

/** This machine's time, as the health of nodes is measured with. */
export const systemTime: HealthTime = {
  monotonicMs: () => performance.now(),
  unixSeconds: () => Date.now() / 1_000,
}
