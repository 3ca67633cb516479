import { describe, expect, it } from 'vitest'
import { createWorkerPool, type WorkerPoolOptions } from '../../src/concurrency/workerPool.js'
import { drainEventLoop } from '../support/manualClock.js'

const numbers = (count: number): readonly number[] => Array.from({ length: count }, (_, index) => index)

const setup = (changes: Partial<WorkerPoolOptions<number>> = {}) => {
  const failed: number[] = []
  const pool = createWorkerPool<number>({
    concurrency: 3,
    keyOf: (item) => (item % 2 === 0 ? 'even' : 'odd'),
    maxFailuresPerKey: 2,
    stopped: new AbortController().signal,
    onFailure: (item) => void failed.push(item),
    ...changes,
  })
  return { pool, failed }
}

describe('a worker pool', () => {
  it('processes each item once with limited concurrency, and resolves with the last', async () => {
    const { pool } = setup()
    const done: number[] = []
    let underWay = 0
    let most = 0
    await pool.run(numbers(10), async (item) => {
      underWay += 1
      most = Math.max(most, underWay)
      await drainEventLoop()
      underWay -= 1
      done.push(item)
    })
    expect(done.toSorted((left, right) => left - right)).toEqual(numbers(10))
    expect(most).toBe(3)
    expect(underWay).toBe(0)
  })

  it('skips the remaining items of a key after its failures, across runs, and continues with other keys', async () => {
    const { pool, failed } = setup({ concurrency: 1 })
    const tried: number[] = []
    const work = async (item: number) => {
      tried.push(item)
      if (item % 2 === 0) throw new Error('even')
    }
    await pool.run(numbers(7), work)
    await pool.run([8, 9], work)
    expect(tried).toEqual([0, 1, 2, 3, 5, 9])
    expect(failed).toEqual([0, 2])
  })

  it('starts no item once stopped, and waits for started items', async () => {
    const stopping = new AbortController()
    const { pool } = setup({ concurrency: 2, stopped: stopping.signal })
    const done: number[] = []
    await pool.run(numbers(10), async (item) => {
      stopping.abort()
      await drainEventLoop()
      done.push(item)
    })
    expect(done).toEqual([0])
  })

  it('resolves without items', async () => {
    const { pool } = setup()
    await pool.run([], () => Promise.reject(new Error('never called')))
  })
})
