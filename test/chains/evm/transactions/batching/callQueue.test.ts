import { describe, expect, it } from 'vitest'
import { createCallQueue } from '../../../../../src/chains/evm/transactions/batching/callQueue.js'
import { drainEventLoop } from '../../../../support/manualClock.js'
import { pollUntil } from '../../../../support/pollUntil.js'

interface Item {
  readonly key: string
  readonly validBefore: bigint
}

const item = (key: string, validBefore = 100n): Item => ({ key, validBefore })

/** A queue whose sends end when the test says so. */
const openQueue = ({ maxItems = 3, longestWaitMs = 600_000 } = {}) => {
  const sent: (readonly string[])[] = []
  const refused: { readonly keys: readonly string[]; readonly error: unknown }[] = []
  const ends: (() => void)[] = []
  let readiness: () => boolean = () => true
  let announce: () => void = () => undefined
  let questions = 0
  const queue = createCallQueue<Item>({
    maxItems,
    maxWaitMs: longestWaitMs,
    isReady: () => {
      questions += 1
      return readiness()
    },
    whenChanged: () =>
      new Promise((resolve) => {
        announce = resolve
      }),
    send: (items) =>
      new Promise((resolve) => {
        sent.push(items.map(({ key }) => key))
        ends.push(resolve)
      }),
    refuse: (items, error) => void refused.push({ keys: items.map(({ key }) => key), error }),
  })
  return {
    queue,
    sent,
    refused,
    countQuestions: () => questions,
    setReady: (next: () => boolean) => {
      readiness = next
      announce()
    },
    /** Ends the oldest send that is under way. */
    end: async () => {
      ends.shift()?.()
      await drainEventLoop()
    },
  }
}

describe('a queue of payments', () => {
  it('sends at once when nothing is under way, with whoever comes in the same moment', async () => {
    const { queue, sent } = openQueue()
    queue.add(item('a'))
    queue.add(item('b'))
    await drainEventLoop()
    expect(sent).toEqual([['a', 'b']])
    expect(queue.length).toBe(0)
  })

  it('gathers what comes while something is under way, also when that has gone, until it has waited', async () => {
    const { queue, sent, end } = openQueue({ longestWaitMs: 50 })
    queue.add(item('a'))
    await drainEventLoop()
    queue.add(item('b'))
    await drainEventLoop()
    queue.add(item('c'))
    await drainEventLoop()
    expect(sent).toEqual([['a']])
    await end()
    expect(sent).toEqual([['a']])
    expect(await pollUntil(() => sent[1] ?? null, 'the second batch')).toEqual(['b', 'c'])
  })

  it('does not wait for what is under way when enough wait, and sends no more than so many', async () => {
    const { queue, sent } = openQueue({ maxItems: 3 })
    queue.add(item('a'))
    await drainEventLoop()
    for (const key of ['b', 'c', 'd', 'e']) queue.add(item(key))
    await drainEventLoop()
    expect(sent).toEqual([['a'], ['b', 'c', 'd']])
    expect(queue.length).toBe(1)
  })

  it('does not wait longer than it may, however many come meanwhile', async () => {
    const { queue, sent } = openQueue({ maxItems: 1_000, longestWaitMs: 40 })
    queue.add(item('first'))
    await drainEventLoop()
    const since = performance.now()
    const keys: string[] = []
    // Each of them would begin the wait anew if the newest counted.
    while (sent.length === 1 && performance.now() - since < 2_000) {
      keys.push(`${keys.length}`)
      queue.add(item(`${keys.length - 1}`))
      await drainEventLoop()
    }
    expect(performance.now() - since).toBeLessThan(1_000)
    expect(sent[1]?.[0]).toBe('0')
  })

  it('sends what came last once it has waited long enough, though nothing else comes', async () => {
    const { queue, sent } = openQueue({ longestWaitMs: 20 })
    queue.add(item('a'))
    await drainEventLoop()
    queue.add(item('b'))
    await new Promise((resolve) => setTimeout(resolve, 200))
    expect(sent).toEqual([['a'], ['b']])
  })

  it('never sends one authorization twice in a batch', async () => {
    const { queue, sent } = openQueue({ longestWaitMs: 20 })
    queue.add(item('same'))
    queue.add(item('same'))
    queue.add(item('other'))
    await drainEventLoop()
    expect(sent).toEqual([['same', 'other']])
    expect(await pollUntil(() => sent[1] ?? null, 'the second batch')).toEqual(['same'])
  })

  it('sends those first whose authorization ends first', async () => {
    const { queue, sent } = openQueue({ maxItems: 2 })
    queue.add(item('late', 300n))
    queue.add(item('early', 100n))
    queue.add(item('middle', 200n))
    await drainEventLoop()
    expect(sent[0]).toEqual(['early', 'middle'])
  })

  it('sends nothing while nothing can be sent, and everything together afterwards', async () => {
    const { queue, sent, setReady } = openQueue({ longestWaitMs: 1 })
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

  it('refuses all who wait when nothing can be sent at all, and takes the next one', async () => {
    const { queue, sent, refused, setReady } = openQueue()
    const error = new Error('no account can pay')
    setReady(() => {
      throw error
    })
    queue.add(item('a'))
    queue.add(item('b'))
    await drainEventLoop()
    expect(refused).toEqual([{ keys: ['a', 'b'], error }])
    setReady(() => true)
    queue.add(item('c'))
    await drainEventLoop()
    expect(sent).toEqual([['c']])
  })

  it('forgets who gives up, and asks no more when nobody waits', async () => {
    const { queue, sent, setReady, countQuestions } = openQueue()
    setReady(() => false)
    const leaving = item('leaving')
    queue.add(leaving)
    await drainEventLoop()
    expect(queue.remove(leaving)).toBe(true)
    expect(queue.remove(leaving)).toBe(false)
    setReady(() => false)
    await drainEventLoop()
    const before = countQuestions()
    setReady(() => true)
    await drainEventLoop()
    expect(countQuestions()).toBe(before)
    expect(sent).toEqual([])
    queue.add(item('next'))
    await drainEventLoop()
    expect(sent).toEqual([['next']])
  })

  it('cannot take back what is being sent', async () => {
    const { queue } = openQueue()
    const going = item('going')
    queue.add(going)
    await drainEventLoop()
    expect(queue.remove(going)).toBe(false)
  })
})
