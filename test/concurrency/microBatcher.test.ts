import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { createMicroBatcher, type MicroBatcherOptions } from '../../src/concurrency/microBatcher.js'

/** Batches that run until the test ends them. */
const setup = (options: Partial<MicroBatcherOptions<number>> = {}) => {
  const batches: (readonly number[])[] = []
  const ends: (() => void)[] = []
  const batcher = createMicroBatcher<number>({
    maxItems: () => 3,
    ...options,
    run: (items) => {
      batches.push(items)
      return new Promise((resolve) => ends.push(resolve))
    },
  })
  const add = (...items: readonly number[]) => {
    for (const item of items) batcher.add(item)
  }
  const endOne = async () => {
    ends.shift()?.()
    await endOfTurn()
  }
  return { add, batches, endOne }
}

const endOfTurn = () => new Promise((resolve) => setImmediate(resolve))

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
})
afterEach(() => {
  vi.useRealTimers()
})

describe('without a wait', () => {
  it('items of one turn of the event loop share a batch, and a lone item does not wait', async () => {
    const { add, batches } = setup()
    add(1)
    await endOfTurn()
    add(2)
    await Promise.resolve()
    add(3)
    expect(batches).toEqual([[1]])
    await endOfTurn()
    expect(batches).toEqual([[1], [2, 3]])
  })

  it('no batch exceeds the maximum', async () => {
    const { add, batches } = setup()
    add(1, 2, 3, 4, 5, 6, 7)
    await endOfTurn()
    expect(batches).toEqual([[1, 2, 3], [4, 5, 6], [7]])
  })

  it('the maximum is read for every batch', async () => {
    let maxItems = 2
    const { add, batches } = setup({ maxItems: () => maxItems })
    add(1, 2, 3)
    maxItems = 1
    await endOfTurn()
    add(4, 5)
    expect(batches).toEqual([[1, 2], [3], [4], [5]])
  })

  it('items wait while the maximum number of batches run, and share the next one', async () => {
    const { add, batches, endOne } = setup({ maxInFlight: 1 })
    add(1)
    await endOfTurn()
    add(2)
    await endOfTurn()
    add(3, 4, 5)
    expect(batches).toEqual([[1]])
    await endOne()
    expect(batches).toEqual([[1], [2, 3, 4]])
    await endOne()
    expect(batches).toEqual([[1], [2, 3, 4], [5]])
  })
})

describe('with a wait', () => {
  it('an idle batcher starts at the end of the turn', async () => {
    const { add, batches } = setup({ maxWaitMs: 20 })
    add(1, 2)
    await endOfTurn()
    expect(batches).toEqual([[1, 2]])
  })

  it('while a batch runs, the first item waits that long for others', async () => {
    const { add, batches } = setup({ maxWaitMs: 20 })
    add(1)
    await endOfTurn()
    add(2)
    await vi.advanceTimersByTimeAsync(19)
    add(3)
    expect(batches).toEqual([[1]])
    await vi.advanceTimersByTimeAsync(1)
    expect(batches).toEqual([[1], [2, 3]])
    add(4)
    await vi.advanceTimersByTimeAsync(20)
    expect(batches).toEqual([[1], [2, 3], [4]])
  })

  it('items start before their wait is over when the last running batch ends', async () => {
    const { add, batches, endOne } = setup({ maxWaitMs: 20 })
    add(1)
    await endOfTurn()
    add(2)
    await endOne()
    expect(batches).toEqual([[1], [2]])
  })

  it('a full batch starts at once, and the next item has a wait of its own', async () => {
    const { add, batches } = setup({ maxWaitMs: 20 })
    add(0)
    await endOfTurn()
    add(1, 2, 3)
    expect(batches).toEqual([[0], [1, 2, 3]])
    await vi.advanceTimersByTimeAsync(10)
    add(4)
    await vi.advanceTimersByTimeAsync(19)
    expect(batches).toEqual([[0], [1, 2, 3]])
    await vi.advanceTimersByTimeAsync(1)
    expect(batches).toEqual([[0], [1, 2, 3], [4]])
  })

  it('items whose wait ended while too many batches ran start when one ends', async () => {
    const { add, batches, endOne } = setup({ maxWaitMs: 20, maxInFlight: 2 })
    add(1)
    await endOfTurn()
    add(2, 3, 4)
    add(5)
    await vi.advanceTimersByTimeAsync(20)
    expect(batches).toEqual([[1], [2, 3, 4]])
    await endOne()
    expect(batches).toEqual([[1], [2, 3, 4], [5]])
  })
})
