import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { createGathering, type Member } from '../../src/concurrency/gathering.js'

beforeEach(() => void vi.useFakeTimers())
afterEach(() => void vi.useRealTimers())

const maxWaitMs = 1_000

/** Notes the members that may go on. */
const openGathering = (...names: readonly string[]) => {
  const gathering = createGathering(maxWaitMs)
  const wentOn: string[] = []
  const begin = (name: string) => {
    const member = gathering.begin()
    return { ...member, arrive: () => void member.arrive().then(() => wentOn.push(name)) }
  }
  return { begin, wentOn, members: new Map(names.map((name) => [name, begin(name)])) }
}

describe('members of a gathering', () => {
  it('go on when the last one has arrived', async () => {
    const { members, wentOn } = openGathering('a', 'b', 'c')
    members.get('b')?.arrive()
    members.get('c')?.arrive()
    await vi.advanceTimersByTimeAsync(maxWaitMs - 1)
    expect(wentOn).toEqual([])
    members.get('a')?.arrive()
    await vi.advanceTimersByTimeAsync(0)
    expect(wentOn.toSorted()).toEqual(['a', 'b', 'c'])
  })

  it('do not wait for one that leaves', async () => {
    const { members, wentOn } = openGathering('a', 'b')
    members.get('b')?.arrive()
    members.get('a')?.leave()
    await vi.advanceTimersByTimeAsync(0)
    expect(wentOn).toEqual(['b'])
  })

  it('do not wait for one that begins when they have arrived', async () => {
    const { begin, members, wentOn } = openGathering('a', 'b')
    members.get('b')?.arrive()
    begin('late')
    members.get('a')?.arrive()
    await vi.advanceTimersByTimeAsync(0)
    expect(wentOn).toContain('b')
    expect(wentOn).not.toContain('a')
  })

  it('wait for one that is slow up to its limit, which later ones do not wait for again', async () => {
    const { begin, members, wentOn } = openGathering('slow', 'b')
    members.get('b')?.arrive()
    await vi.advanceTimersByTimeAsync(maxWaitMs - 1)
    expect(wentOn).toEqual([])
    // The second millisecond is the turn of the event loop before a deadline decides.
    await vi.advanceTimersByTimeAsync(2)
    expect(wentOn).toEqual(['b'])
    begin('later').arrive()
    await vi.advanceTimersByTimeAsync(0)
    expect(wentOn).toEqual(['b', 'later'])
    members.get('slow')?.arrive()
    await vi.advanceTimersByTimeAsync(0)
    expect(wentOn).toEqual(['b', 'later', 'slow'])
  })

  it('that have left keep no timer', () => {
    const member: Member = createGathering(maxWaitMs).begin()
    member.leave()
    expect(vi.getTimerCount()).toBe(0)
  })
})
