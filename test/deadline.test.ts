import { describe, expect, it } from 'vitest'
import { withinDeadline } from '../src/deadline.js'

const never = new AbortController().signal

/** Work that ends when it is told to, and says why. */
const untilAborted = (signal: AbortSignal): Promise<unknown> =>
  new Promise((resolve) => {
    if (signal.aborted) resolve(signal.reason)
    signal.addEventListener('abort', () => resolve(signal.reason))
  })

describe('work within a deadline', () => {
  it('is told when its time is up', async () => {
    const reason = await withinDeadline({ milliseconds: 20, stopped: never }, untilAborted)
    expect(reason).toEqual(new Error('The deadline passed'))
  })

  it('is told when it is stopped, also when that was before', async () => {
    const stopping = new AbortController()
    const work = withinDeadline({ milliseconds: 600_000, stopped: stopping.signal }, untilAborted)
    stopping.abort('closing')
    expect(await work).toBe('closing')
    expect(await withinDeadline({ milliseconds: 600_000, stopped: stopping.signal }, untilAborted)).toBe(
      'closing',
    )
  })

  it('answers and fails as the work does', async () => {
    const deadline = { milliseconds: 600_000, stopped: never }
    expect(await withinDeadline(deadline, async () => 7)).toBe(7)
    await expect(withinDeadline(deadline, () => Promise.reject(new Error('no')))).rejects.toThrow('no')
  })
})
