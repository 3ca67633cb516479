import { describe, expect, it } from 'vitest'
import { createChainClock, findCommonLagMs } from '../../../src/chains/common/chainClock.js'
import { createManualClock } from '../../support/manualClock.js'

const start = new Date('2026-01-01T00:00:00Z')
const at = (seconds: number) => BigInt(start.getTime() / 1_000 + seconds)

const setup = (...heads: readonly number[]) => {
  const clock = createManualClock(start)
  const chainClock = createChainClock(clock)
  chainClock.observe(heads.map(at))
  return { clock, chainClock }
}

const secondsAhead = (now: Date) => (now.getTime() - start.getTime()) / 1_000

describe('the time that deadlines follow', () => {
  it.each([
    ['no block is known', [], 0],
    ['the newest block is older', [-12], 0],
    ['the newest block is later', [70], 70],
    ['one of two nodes is wrong', [0, 500], 0],
    ['one of three nodes is wrong', [70, 500, 70], 70],
    ['all nodes are far ahead', [9_000], 600],
  ])('where %s is the later of both, within bounds', (_case, heads, expected) => {
    expect(secondsAhead(setup(...heads).chainClock.now())).toBe(expected)
  })

  it('is not known before the first block, and a minute after the last', async () => {
    expect(setup().chainClock.getLagMs()).toBeNull()
    const { clock, chainClock } = setup(-12)
    expect(chainClock.getLagMs()).toBe(0)
    await clock.advance(60_000)
    expect(chainClock.getLagMs()).toBeNull()
  })

  it('is not known from a chain that stands still', () => {
    expect(setup(-601).chainClock.getLagMs()).toBeNull()
  })

  it.each([
    ['no network is known', [null, null], 0],
    ['one network is wrong', [500_000, 0], 0],
    ['the process is behind all', [70_000, 64_000, null], 64_000],
    ['the only network is far ahead', [9_000_000], 600_000],
  ])('where %s is behind all networks by the least lag', (_case, lags, expected) => {
    expect(findCommonLagMs(lags)).toBe(expected)
  })

  it('goes on with the clock of the process', async () => {
    const { clock, chainClock } = setup(70)
    await clock.advance(5_000)
    expect(secondsAhead(chainClock.now())).toBe(75)
    chainClock.observe([at(70)])
    expect(secondsAhead(chainClock.now())).toBe(75)
  })

  it('is that of the process again a minute after it was synchronized', async () => {
    const { clock, chainClock } = setup(50)
    await clock.advance(70_000)
    chainClock.observe([at(69)])
    expect(secondsAhead(chainClock.now())).toBe(70)
  })
})
