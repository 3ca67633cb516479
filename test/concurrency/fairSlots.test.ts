import { describe, expect, it } from 'vitest'
import { createFairSlots, type FairSlotsOptions, SlotsFullError } from '../../src/concurrency/slots.js'
import { drainEventLoop } from '../support/manualClock.js'

const never = new AbortController().signal

/** Turns that end on demand. */
const openSlots = (options: Partial<FairSlotsOptions> = {}) => {
  const slots = createFairSlots({
    slots: 3,
    urgentSlots: 0,
    slotsPerOwner: 2,
    waitingPerOwner: 10,
    maxWaiting: 20,
    ...options,
  })
  const started: string[] = []
  const ends = new Map<string, () => void>()
  const take = async (name: string, { isUrgent = false, signal = never } = {}) => {
    const release = await slots.acquire({ owner: name.slice(0, 1), isUrgent, signal })
    started.push(name)
    ends.set(name, release)
  }
  const takeAll = async (...names: readonly string[]) => {
    for (const name of names) void take(name)
    await drainEventLoop()
  }
  const end = async (name: string) => {
    ends.get(name)?.()
    await drainEventLoop()
  }
  return { started, take, takeAll, end }
}

describe('fair slots', () => {
  it('give one owner no more than its own, and the next owner a turn at once', async () => {
    const { started, takeAll } = openSlots()
    await takeAll('a1', 'a2', 'a3', 'a4')
    expect(started).toEqual(['a1', 'a2'])
    await takeAll('b1')
    expect(started).toEqual(['a1', 'a2', 'b1'])
  })

  it('rotate among owners, each in order', async () => {
    const { started, takeAll, end } = openSlots({ slots: 1 })
    await takeAll('a1', 'a2', 'a3', 'b1', 'b2', 'c1')
    const turns = ['a1', 'b1', 'c1', 'a2', 'b2', 'a3']
    for (const name of turns) await end(name)
    expect(started).toEqual(turns)
  })

  it('keep slots for urgent turns, which are never refused', async () => {
    const { started, take, takeAll, end } = openSlots({ urgentSlots: 1, waitingPerOwner: 0, maxWaiting: 0 })
    await takeAll('a1', 'b1')
    await expect(take('c1')).rejects.toThrow(SlotsFullError)
    void take('a2', { isUrgent: true })
    void take('a3', { isUrgent: true })
    await drainEventLoop()
    expect(started).toEqual(['a1', 'b1', 'a2'])
    await end('b1')
    expect(started).toEqual(['a1', 'b1', 'a2', 'a3'])
  })

  it('refuse an owner that waits too often, and everyone when too many wait', async () => {
    const { take, takeAll } = openSlots({ slots: 1, waitingPerOwner: 1, maxWaiting: 2 })
    await takeAll('a1', 'a2')
    await expect(take('a3')).rejects.toThrow(SlotsFullError)
    await takeAll('b1')
    await expect(take('c1')).rejects.toThrow(SlotsFullError)
  })

  it('forget a turn whose wait ended, and pass its slot on', async () => {
    const { started, take, takeAll, end } = openSlots({ slots: 1 })
    await takeAll('a1')
    const ended = new AbortController()
    const late = take('b1', { signal: ended.signal })
    ended.abort(new Error('Too late'))
    await expect(late).rejects.toThrow('Too late')
    // Its slot is given at the moment at which its wait ends.
    const raced = new AbortController()
    const racing = take('b2', { signal: raced.signal })
    await drainEventLoop()
    const passed = end('a1')
    raced.abort(new Error('Too late'))
    await Promise.allSettled([racing, passed])
    await takeAll('c1')
    if (started.includes('b2')) await end('b2')
    expect(started).toContain('c1')
  })

  it('take no turn whose time is over', async () => {
    const { started, take } = openSlots()
    await expect(take('a1', { signal: AbortSignal.abort(new Error('Too late')) })).rejects.toThrow('Too late')
    expect(started).toEqual([])
  })
})
