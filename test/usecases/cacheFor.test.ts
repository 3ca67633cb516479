import { describe, expect, it } from 'vitest'
import { cacheFor } from '../../src/usecases/cacheFor.js'
import { createManualClock } from '../support/manualClock.js'

describe('cacheFor', () => {
  const setup = (answer: (reading: number) => Promise<number> = async (reading) => reading) => {
    const clock = createManualClock()
    let readings = 0
    const read = cacheFor(clock, 1_000, () => {
      readings += 1
      return answer(readings)
    })
    return { clock, read }
  }

  it('reads once for concurrent calls and for calls within the maximum age', async () => {
    const { clock, read } = setup()
    expect(await Promise.all([read(), read()])).toEqual([1, 1])
    await clock.advance(999)
    expect(await read()).toBe(1)
    await clock.advance(1)
    expect(await read()).toBe(2)
  })

  it('reads again after a failure', async () => {
    const { read } = setup(async (reading) => {
      if (reading === 1) throw new Error('down')
      return reading
    })
    await expect(read()).rejects.toThrow('down')
    expect(await read()).toBe(2)
  })

  it('does not keep a value after the clock was set back', async () => {
    const { clock, read } = setup()
    await read()
    await clock.advance(-3_600_000)
    expect(await read()).toBe(2)
  })
})
