import { describe, expect, it } from 'vitest'
import { createSlots } from '../../src/concurrency/slots.js'
import { drainEventLoop } from '../support/manualClock.js'

const never = new AbortController().signal

/** Work that ends on demand. */
const startWorks = (slots: ReturnType<typeof createSlots>) => {
  const started: string[] = []
  const ends = new Map<string, () => void>()
  const run = (name: string, signal: AbortSignal = never): Promise<string> =>
    slots.run(signal, () => {
      started.push(name)
      return new Promise((resolve) => ends.set(name, () => resolve(name)))
    })
  const end = async (name: string) => {
    ends.get(name)?.()
    await drainEventLoop()
  }
  return { started, run, end }
}

describe('slots', () => {
  it('run as many works at once as there are slots, the others in order', async () => {
    const { started, run, end } = startWorks(createSlots(2))
    const all = Promise.all(['a', 'b', 'c', 'd'].map((name) => run(name)))
    await drainEventLoop()
    expect(started).toEqual(['a', 'b'])
    await end('b')
    expect(started).toEqual(['a', 'b', 'c'])
    for (const name of ['a', 'c', 'd']) await end(name)
    expect(await all).toEqual(['a', 'b', 'c', 'd'])
  })

  it('are freed by work that fails', async () => {
    const slots = createSlots(1)
    await expect(slots.run(never, () => Promise.reject(new Error('No')))).rejects.toThrow('No')
    expect(await slots.run(never, async () => 'next')).toBe('next')
  })

  it('are kept by work that does not end in time, until it ends', async () => {
    const { started, run, end } = startWorks(createSlots(1))
    const deadline = new AbortController()
    const hanging = run('hanging', deadline.signal)
    const next = run('next')
    deadline.abort(new Error('Too late'))
    await expect(hanging).rejects.toThrow('Too late')
    await drainEventLoop()
    expect(started).toEqual(['hanging'])
    await end('hanging')
    await end('next')
    expect(await next).toBe('next')
  })

  it('start no work whose time is over', async () => {
    const { started, run } = startWorks(createSlots(1))
    const deadline = new AbortController()
    deadline.abort(new Error('Too late'))
    await expect(run('late', deadline.signal)).rejects.toThrow('Too late')
    expect(started).toEqual([])
  })

  it('are not taken by work that waited too long', async () => {
    const { started, run, end } = startWorks(createSlots(1))
    const first = run('first')
    const deadline = new AbortController()
    const late = run('late', deadline.signal)
    const last = run('last')
    deadline.abort(new Error('Too late'))
    await expect(late).rejects.toThrow('Too late')
    await end('first')
    await end('last')
    expect(await Promise.all([first, last])).toEqual(['first', 'last'])
    expect(started).toEqual(['first', 'last'])
  })

  it('are passed on by work whose time is over at the moment it gets one', async () => {
    const slots = createSlots(1)
    const { run, end } = startWorks(slots)
    const first = run('first')
    const deadline = new AbortController()
    const late = run('late', deadline.signal).catch(() => 'too late')
    await drainEventLoop()
    const ending = end('first')
    deadline.abort()
    await ending
    await first
    await late
    expect(await slots.run(never, async () => 'next')).toBe('next')
  })
})
