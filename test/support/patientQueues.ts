import { afterEach, beforeEach, vi } from 'vitest'

/**
 * For suites whose calls wait for each other: `performance.now()`, by which the queues of the stores and of lanes give up
 * what waited for too long, stands still. What a busy machine makes slow is not refused.
 */
export const usePatientQueues = (): void => {
  beforeEach(() => void vi.useFakeTimers({ toFake: ['performance'] }))
  afterEach(() => void vi.useRealTimers())
}
