import type { HealthTime } from './endpointHealth.js'

export const systemTime: HealthTime = {
  monotonicMs: () => performance.now(),
  unixSeconds: () => Date.now() / 1_000,
}
