import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import {
  createCallQueue,
  type QueuedCall,
} from '../../../../../src/chains/evm/transactions/batching/callQueue.js'
import { chooseBatchWait } from '../../../../../src/chains/evm/transactions/submit.js'
import { drainEventLoop } from '../../../../support/manualClock.js'

const item = (id: string, deadline = 100n): QueuedCall => ({ call: { id, deadline } })
const idsOf = (items: readonly QueuedCall[]) => items.map(({ call }) => call.id)

/** A queue whose sends the test completes. */
const openQueue = ({
  maxItems = 3,
  maxWaitMs = 600_000,
  ...waits
}: {
  readonly maxItems?: number
  readonly maxWaitMs?: number
  readonly waitsWhenIdle?: boolean
} = {}) => {
  const sent: (readonly string[])[] = []
  const refused: { readonly ids: readonly string[]; readonly error: unknown }[] = []
  const ends: (() => void)[] = []
  let readiness: () => boolean = () => true
  let announce: () => void = () => undefined
  let checks = 0
  const queue = createCallQueue<QueuedCall>({
    maxItems,
    maxWaitMs: () => maxWaitMs,
    ...waits,
    isReady: () => {
      checks += 1
      return readiness()
    },
    whenChanged: () =>
      new Promise((resolve) => {
        announce = resolve
      }),
    send: (items) =>
      new Promise((resolve) => {
        sent.push(idsOf(items))
        ends.push(resolve)
      }),
    refuse: (items, error) => void refused.push({ ids: idsOf(items), error }),
  })
  return {
    queue,
    sent,
    refused,
    countChecks: () => checks,
    setReady: (next: () => boolean) => {
      readiness = next
      announce()
    },
    /** Completes the oldest send in flight. */
    end: async () => {
      ends.shift()?.()
      await drainEventLoop()
    },
  }
}

const pass = async (milliseconds: number) => {
  vi.advanceTimersByTime(milliseconds)
  await drainEventLoop()
}

describe('the call queue', () => {
  beforeEach(() => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] })
  })
  afterEach(() => {
    vi.useRealTimers()
  })

  it('sends at once when idle, with the items of the same tick', async () => {
    const { queue, sent } = openQueue()
    queue.add(item('a'))
    queue.add(item('b'))
    await drainEventLoop()
    expect(sent).toEqual([['a', 'b']])
    expect(queue.length).toBe(0)
  })

  it('gathers items while a batch is in flight, then until the oldest has waited long enough', async () => {
    const { queue, sent, end } = openQueue({ maxWaitMs: 50 })
    queue.add(item('a'))
    await drainEventLoop()
    queue.add(item('b'))
    await drainEventLoop()
    queue.add(item('c'))
    await drainEventLoop()
    expect(sent).toEqual([['a']])
    await end()
    await pass(49)
    expect(sent).toEqual([['a']])
    await pass(1)
    expect(sent).toEqual([['a'], ['b', 'c']])
  })

  it('lets the first of the next burst wait for the others, and no call long after one', async () => {
    const { queue, sent, end } = openQueue({ maxItems: 8, maxWaitMs: 50 })
    const burst = Array.from({ length: 8 }, (_, index) => `${index}`)
    for (const id of burst) queue.add(item(id))
    await drainEventLoop()
    await end()
    await pass(10_000)
    queue.add(item('a'))
    await pass(49)
    queue.add(item('b'))
    await pass(1)
    expect(sent).toEqual([burst, ['a', 'b']])
    await end()
    await pass(10_001)
    queue.add(item('c'))
    await drainEventLoop()
    expect(sent).toEqual([burst, ['a', 'b'], ['c']])
  })

  it.each([
    { instances: 1, inclusionMs: 2_000, expected: 25 },
    { instances: 4, inclusionMs: 2_000, expected: 100 },
    { instances: 40, inclusionMs: 2_000, expected: 500 },
    { instances: 4, inclusionMs: 200, expected: 50 },
    { instances: 4, inclusionMs: 0, expected: 25 },
  ])('of $instances instances waits $expected ms where a block takes $inclusionMs ms', (given) => {
    expect(chooseBatchWait(given.instances, given.inclusionMs)).toBe(given.expected)
  })

  it('sends a full batch without waiting for the one in flight', async () => {
    const { queue, sent } = openQueue({ maxItems: 3 })
    queue.add(item('a'))
    await drainEventLoop()
    for (const id of ['b', 'c', 'd', 'e']) queue.add(item(id))
    await drainEventLoop()
    expect(sent).toEqual([['a'], ['b', 'c', 'd']])
    expect(queue.length).toBe(1)
  })

  it('waits no longer than the limit, however many items arrive meanwhile', async () => {
    const { queue, sent } = openQueue({ maxItems: 1_000, maxWaitMs: 40 })
    queue.add(item('first'))
    await drainEventLoop()
    const ids = Array.from({ length: 40 }, (_, index) => `${index}`)
    for (const id of ids) {
      expect(sent).toEqual([['first']])
      queue.add(item(id))
      await pass(1)
    }
    expect(sent).toEqual([['first'], ids])
  })

  it('waits also when idle, where that is asked for', async () => {
    const { queue, sent } = openQueue({ maxItems: 1_000, maxWaitMs: 40, waitsWhenIdle: true })
    queue.add(item('a'))
    await pass(39)
    queue.add(item('b'))
    await drainEventLoop()
    expect(sent).toEqual([])
    await pass(1)
    expect(sent).toEqual([['a', 'b']])
  })

  it('sends the last item after the maximum wait', async () => {
    const { queue, sent } = openQueue({ maxWaitMs: 20 })
    queue.add(item('a'))
    await drainEventLoop()
    queue.add(item('b'))
    await pass(19)
    expect(sent).toEqual([['a']])
    await pass(1)
    expect(sent).toEqual([['a'], ['b']])
  })

  it('never puts one id into a batch twice', async () => {
    const { queue, sent } = openQueue({ maxWaitMs: 20 })
    queue.add(item('same'))
    queue.add(item('same'))
    queue.add(item('other'))
    await drainEventLoop()
    expect(sent).toEqual([['same', 'other']])
    await pass(20)
    expect(sent).toEqual([['same', 'other'], ['same']])
  })

  it('sends the earliest deadline first', async () => {
    const { queue, sent } = openQueue({ maxItems: 2 })
    queue.add(item('late', 300n))
    queue.add(item('early', 100n))
    queue.add(item('middle', 200n))
    await drainEventLoop()
    expect(sent[0]).toEqual(['early', 'middle'])
  })

  it('sends nothing without a free slot, and everything together afterwards', async () => {
    const { queue, sent, setReady } = openQueue({ maxWaitMs: 1 })
    setReady(() => false)
    queue.add(item('a'))
    await drainEventLoop()
    queue.add(item('b'))
    await drainEventLoop()
    expect(sent).toEqual([])
    setReady(() => true)
    await drainEventLoop()
    expect(sent).toEqual([['a', 'b']])
  })

  it('rejects all waiting items when no account can send, and accepts later ones', async () => {
    const { queue, sent, refused, setReady } = openQueue()
    const error = new Error('no account can pay')
    setReady(() => {
      throw error
    })
    queue.add(item('a'))
    queue.add(item('b'))
    await drainEventLoop()
    expect(refused).toEqual([{ ids: ['a', 'b'], error }])
    setReady(() => true)
    queue.add(item('c'))
    await drainEventLoop()
    expect(sent).toEqual([['c']])
  })

  it('drops a removed item, and does not poll while empty', async () => {
    const { queue, sent, setReady, countChecks } = openQueue()
    setReady(() => false)
    const leaving = item('leaving')
    queue.add(leaving)
    await drainEventLoop()
    expect(queue.remove(leaving)).toBe(true)
    expect(queue.remove(leaving)).toBe(false)
    setReady(() => false)
    await drainEventLoop()
    const before = countChecks()
    setReady(() => true)
    await drainEventLoop()
    expect(countChecks()).toBe(before)
    expect(sent).toEqual([])
    queue.add(item('next'))
    await drainEventLoop()
    expect(sent).toEqual([['next']])
  })

  it('cannot remove an item that is being sent', async () => {
    const { queue } = openQueue()
    const going = item('going')
    queue.add(going)
    await drainEventLoop()
    expect(queue.remove(going)).toBe(false)
  })
})
