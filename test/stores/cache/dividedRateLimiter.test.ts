import { describe, expect, it } from 'vitest'
import { createDividedRateLimiter, createMemoryRateLimiter } from '../../../src/stores/cache/rateLimiter.js'
import { bucket } from '../../contracts/rateLimiterContract.js'
import { createManualClock } from '../../support/manualClock.js'

/** How many of 2,000 requests one of several instances allows. */
const allowedOf = async (instances: number, limit: number): Promise<number> => {
  const limiter = createDividedRateLimiter({
    limiter: createMemoryRateLimiter({ clock: createManualClock() }),
    countInstances: () => instances,
  })
  let allowed = 0
  for (let request = 0; request < 2_000; request += 1) {
    if ((await limiter.take([bucket({ limit })])).isAllowed) allowed += 1
  }
  return allowed
}

describe('an instance without a shared store', () => {
  it.each([
    [1, 1_000, 1_000],
    [4, 1_000, 250],
    [3, 1_000, 333],
    [4, 5, 1],
    [8, 5, 1],
    [4, 0, 0],
    [0, 10, 10],
  ])('one of %i, at a limit of %i, allows %i', async (instances, limit, allowed) => {
    expect(await allowedOf(instances, limit)).toBe(allowed)
  })
})
