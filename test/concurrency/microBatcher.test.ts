import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { createMicroBatcher, type MicroBatcherOptions } from '../../src/concurrency/microBatcher.js'

/** Batches that run until the test ends them. */
const setup = (options: Partial<MicroBatcherOptions<number>> = {}) => {
  const batches: (readonly number[])[] = []
  const ends: (() => void)[] = []
  const batcher = createMicroBatcher<number>({
    maxItems: 3,
    ...options,
    run: (items) => {
      batches.push(items)
      return new Promise((resolve) => ends.push(resolve))
    },
  })
  const add = (...items: readonly number[]) => {
    for (const item of items) batcher.add(item)
  }
  return { add, batches, endOne: () => ends.shift()?.() }
}

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
})
afterEach(() => {
  vi.useRealTimers()
})

const microtasks = async () => {
  for (let turn = 0; turn < 10; turn += 1) await Promise.resolve()
}

describe('without a wait', () => {
  it('items of one moment go together, and a lone one waits for none', async () => {
    const { add, batches } = setup()
    add(1)
    await microtasks()
    add(2, 3)
    await microtasks()
    expect(batches).toEqual([[1], [2, 3]])
  })

  it('no batch is larger than allowed', async () => {
    const { add, batches } = setup()
    add(1, 2, 3, 4, 5, 6, 7)
    await microtasks()
    expect(batches).toEqual([[1, 2, 3], [4, 5, 6], [7]])
  })

  it('what comes while enough batches run goes together when one of them ends', async () => {
    const { add, batches, endOne } = setup({ maxUnderWay: 1 })
    add(1)
    await microtasks()
    add(2)
    await microtasks()
    add(3)
    await microtasks()
    expect(batches).toEqual([[1]])
    endOne()
    await microtasks()
    expect(batches).toEqual([[1], [2, 3]])
  })
})

describe('with a wait', () => {
  it('the first item waits no longer than that for others', async () => {
    const { add, batches } = setup({ maxWaitMs: 20 })
    add(1)
    await vi.advanceTimersByTimeAsync(19)
    add(2)
    expect(batches).toEqual([])
    await vi.advanceTimersByTimeAsync(1)
    expect(batches).toEqual([[1, 2]])
    add(3)
    await vi.advanceTimersByTimeAsync(20)
    expect(batches).toEqual([[1, 2], [3]])
  })

  it('a full batch goes at once, and the next item waits its own time', async () => {
    const { add, batches } = setup({ maxWaitMs: 20 })
    add(1, 2, 3)
    expect(batches).toEqual([[1, 2, 3]])
    await vi.advanceTimersByTimeAsync(10)
    add(4)
    await vi.advanceTimersByTimeAsync(19)
    expect(batches).toEqual([[1, 2, 3]])
    await vi.advanceTimersByTimeAsync(1)
    expect(batches).toEqual([[1, 2, 3], [4]])
  })
})
