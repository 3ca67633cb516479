import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { createStallDetector } from '../../src/platform/clock.js'

describe('the stall detector', () => {
  let nowMs = 0
  /** The process runs: its timers fire in time. */
  const run = (milliseconds: number): void => {
    for (let passed = 0; passed < milliseconds; passed += 250) {
      nowMs += 250
      vi.advanceTimersByTime(250)
    }
  }
  const standStill = (milliseconds: number): void => {
    nowMs += milliseconds
  }
  const open = () => createStallDetector({ now: () => nowMs })

  beforeEach(() => {
    vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] })
  })
  afterEach(() => void vi.useRealTimers())

  it('notices a second without a timer at once, and remembers it for as long as it is asked about', () => {
    const stalls = open()
    run(5_000)
    expect(stalls.hasStalled(60_000)).toBe(false)
    standStill(1_251)
    expect(stalls.hasStalled(1)).toBe(true)
    run(10_000)
    expect(stalls.hasStalled(9_999)).toBe(false)
    expect(stalls.hasStalled(10_000)).toBe(true)
  })

  it('takes no delay of up to a second for a stall', () => {
    const stalls = open()
    for (let round = 0; round < 5; round += 1) {
      standStill(1_000)
      run(250)
    }
    expect(stalls.hasStalled(60_000)).toBe(false)
  })
})
